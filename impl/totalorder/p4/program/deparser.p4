// Headers in their order, and checksums. The checksum of IPv4 is checked where a packet comes, and computed again
// where the switch has written into the header; that of UDP is 0 where a switch has written
// (spec/totalorder/wire.toml).

#define IPV4_FIELDS { hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.service, hdr.ipv4.total_length, \
    hdr.ipv4.identification, hdr.ipv4.fragment, hdr.ipv4.time_to_live, hdr.ipv4.protocol, hdr.ipv4.source, \
    hdr.ipv4.destination }

control VerifyIpv4(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(), IPV4_FIELDS, hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control ComputeIpv4(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(), IPV4_FIELDS, hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control PacketDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.message);
        packet.emit(hdr.inner);
        packet.emit(hdr.duration);
    }
}
