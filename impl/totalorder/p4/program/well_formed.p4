// Whether what came is a packet of the wire format: as decode in impl/totalorder/codec.py, which also says why not.

#define OUT_OF_RANGE(m) \
    ((m.number | m.link_seq | m.timestamp | m.barrier | m.ack_barrier | m.loss_record | m.greatest) >= (1 << 63))
#define WITHOUT_FLAG(m) ((m.barrier_flag == 0 && m.barrier != 0) || (m.ack_barrier_flag == 0 && m.ack_barrier != 0) \
    || (m.loss_flag == 0 && m.loss_record != 0) || (m.loss_flag == 1 && m.loss_record == 0))
#define NO_BARRIER(m) (m.barrier_flag == 0 && m.ack_barrier_flag == 0)
#define NO_BEACON(m) (m.resent == 1 || m.payload_length != 0 || m.receiver != 0 || m.number != 0 || m.timestamp != 0 \
    || NO_BARRIER(m))

control WellFormed(in headers_t hdr, inout metadata_t meta, in standard_metadata_t standard) {
    apply {
        if (!hdr.message.isValid()
            || standard.parser_error != error.NoError
            || standard.checksum_error == 1
            || hdr.message.version != VERSION
            || hdr.message.unused_flags != 0
            || hdr.udp.length < 80
            || hdr.message.payload_length != hdr.udp.length - 80
            || hdr.ipv4.total_length < 100
            || hdr.udp.length != hdr.ipv4.total_length - 20
            || standard.packet_length < 14 + (bit<32>) hdr.ipv4.total_length
            || OUT_OF_RANGE(hdr.message)
            || WITHOUT_FLAG(hdr.message)) {
            meta.refusal = MALFORMED;
        } else if (hdr.message.kind == DATA) {
            if (hdr.message.number == 0 || hdr.message.timestamp == 0) {
                meta.refusal = MALFORMED;
            }
        } else if (hdr.message.kind == BEACON) {
            if (NO_BEACON(hdr.message)) {
                meta.refusal = MALFORMED;
            }
        } else if (hdr.message.resent == 1 || !NO_BARRIER(hdr.message)) {
            meta.refusal = MALFORMED;
        } else if (hdr.message.kind == ACK || hdr.message.kind == ADJUST || hdr.message.kind == NOTICE) {
            if (hdr.message.payload_length != 0 || (hdr.message.kind == ACK && hdr.message.timestamp != 0)) {
                meta.refusal = MALFORMED;
            }
        } else if (hdr.message.kind == ADJUSTED) {
            if (!hdr.duration.isValid() || hdr.duration.held >= (1 << 63)) {
                meta.refusal = MALFORMED;
            }
        } else if (hdr.message.kind == HANDED || hdr.message.kind == RETURNED) {
            if (!hdr.inner.isValid()
                || hdr.message.timestamp != 0
                || hdr.inner.version != VERSION
                || hdr.inner.kind != BEACON
                || hdr.inner.unused_flags != 0
                || OUT_OF_RANGE(hdr.inner)
                || WITHOUT_FLAG(hdr.inner)
                || NO_BEACON(hdr.inner)) {
                meta.refusal = MALFORMED;
            }
        } else {
            meta.refusal = MALFORMED;
        }
    }
}
