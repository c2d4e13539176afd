// Checksums that cover the payload: verified, told, and made anew.
#include <core.p4>
#include <v1model.p4>

header segment_t {
    bit<16> length;
    bit<16> checksum;
    bit<32> value;
    bit<8>  first;
    bit<8>  second;
}

header told_t {
    bit<8>  wrong;
    bit<16> swapped;
}

struct headers_t {
    told_t    told;
    segment_t segment;
}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.segment);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum_with_payload(hdr.segment.length != 7,
            { hdr.segment.length, hdr.segment.value, hdr.segment.first, hdr.segment.second },
            hdr.segment.checksum, HashAlgorithm.csum16);
    }
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.told.setValid();
        hdr.told.wrong = (bit<8>) std.checksum_error;
        hdr.segment.value = hdr.segment.value + 1;
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {}
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum_with_payload(hdr.segment.isValid(),
            { hdr.segment.length, hdr.segment.value, hdr.segment.first, hdr.segment.second },
            hdr.segment.checksum, HashAlgorithm.csum16);
        update_checksum(true, { hdr.segment.second, hdr.segment.first }, hdr.told.swapped, HashAlgorithm.csum16);
    }
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;
