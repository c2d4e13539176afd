// What goes to the controller and comes from it, through the CPU port. v1model has no timer: a beacon that waits is
// told to the controller, which asks for it when its time has come.

// Egress has told that a beacon waits. It comes through ingress on its way to the controller: only ingress, one packet
// at a time, writes what ingress reads. Until a beacon is due, no packet need be replicated for its sake.
control FromEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        waiting.read(meta.waiting_beacons, 0);
        next_due.read(meta.next_due, 0);
        meta.until_due = meta.next_due - hdr.packet_in.until;
        meta.next_due = meta.waiting_beacons != 0 && meta.until_due[47:47] == 1 ? meta.next_due : hdr.packet_in.until;
        meta.waiting_beacons = meta.waiting_beacons | ((timers_t) 1 << (small_t) hdr.packet_in.port);
        waiting.write(0, meta.waiting_beacons);
        next_due.write(0, meta.next_due);
        meta.what = HELD;
        standard.egress_spec = CPU_PORT;
    }
}

control FromController(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        meta.what = hdr.packet_out.what;
        meta.clock = hdr.packet_out.clock;
        if (meta.what == TRIGGER) {
            waiting.write(0, 0);
        } else if (meta.what == SEND || meta.what == MADE) {
            meta.group = 0;
            standard.egress_spec = (port_t) hdr.packet_out.port;
#if !defined(LITERAL_BEACON_OVERTAKES_DATA)
            // Behind all data that came before it.
            meta.waiting = meta.what == MADE ? meta.queues : 0;
#endif
            meta.what = hdr.message.kind == BEACON ? MADE : SEND;
        } else if (meta.what == REPORT) {
            meta.group = 0;
            standard.egress_spec = CPU_PORT;
            meta.what = REPORTED;
            meta.place = (bit<32>) hdr.packet_out.port;
            hdr.packet_in.setValid();
            hdr.packet_in.port = hdr.packet_out.port;
            barriers.read(hdr.packet_in.barrier, meta.place);
            acks.read(hdr.packet_in.ack, meta.place);
            heard.read(hdr.packet_in.heard_at, meta.place);
            first_senders.read(hdr.packet_in.first_sender, meta.place);
        }
        hdr.packet_out.setInvalid();
    }
}

control ToController(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t standard) {
    action copied() {
        meta.what = HELD;
        hdr.packet_in.setValid();
        hdr.packet_in.port = meta.held_timer;
        hdr.packet_in.until = meta.held_tick;
        hdr.ethernet.setInvalid();
        hdr.ipv4.setInvalid();
        hdr.udp.setInvalid();
        hdr.message.setInvalid();
        hdr.inner.setInvalid();
        hdr.duration.setInvalid();
        truncate(PACKET_IN_BYTES);
        recirculate_preserving_field_list(0);
    }
    action asked() {
        hdr.packet_in.setValid();
        hdr.packet_in.port = (wide_port_t) meta.place;
    }
    apply {
        if (standard.instance_type == EGRESS_CLONE) {
            copied();
        } else if (meta.what == HELD) {
            truncate(PACKET_IN_BYTES);
        } else if (meta.what != REPORTED) {
            asked();
        }
        hdr.packet_in.reason = meta.what;
    }
}
