// Hashes over a flow's fields: each algorithm's value, and one that chooses a path.
#include <core.p4>
#include <v1model.p4>

header flow_t {
    bit<32> source;
    bit<32> destination;
    bit<8>  protocol;
    bit<7>  pad;
    bit<1>  odd;
}

header hashes_t {
    bit<16> crc16;
    bit<32> crc32;
    bit<16> csum16;
    bit<16> xor16;
    bit<64> identity;
    bit<16> bounded;
    bit<16> bits;
}

struct headers_t {
    flow_t   flow;
    hashes_t hashes;
}

struct metadata_t {
    bit<4> path;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.flow);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action to(bit<9> port) {
        std.egress_spec = port;
    }

    table paths {
        key = { meta.path: exact; }
        actions = { to; NoAction; }
        size = 4;
        default_action = NoAction();
    }

    apply {
        hdr.hashes.setValid();
        hash(hdr.hashes.crc16, HashAlgorithm.crc16, 16w0,
             { hdr.flow.source, hdr.flow.destination, hdr.flow.protocol }, 32w0x10000);
        hash(hdr.hashes.crc32, HashAlgorithm.crc32, 32w0,
             { hdr.flow.source, hdr.flow.destination, hdr.flow.protocol }, 64w0x100000000);
        hash(hdr.hashes.csum16, HashAlgorithm.csum16, 16w0,
             { hdr.flow.source, hdr.flow.destination, hdr.flow.protocol }, 32w0x10000);
        hash(hdr.hashes.xor16, HashAlgorithm.xor16, 16w0,
             { hdr.flow.source, hdr.flow.destination, hdr.flow.protocol }, 32w0x10000);
        hash(hdr.hashes.identity, HashAlgorithm.identity, 64w0,
             { hdr.flow.source, hdr.flow.destination, hdr.flow.protocol }, 64w0xffffffffffffffff);
        hash(hdr.hashes.bounded, HashAlgorithm.crc32, 16w100, { hdr.flow.source }, 32w7);
        // Ten bits: filled with zeros at the end before they are hashed.
        hash(hdr.hashes.bits, HashAlgorithm.crc16, 16w0, { hdr.flow.odd, 1w1, hdr.flow.protocol }, 32w0x10000);
        hash(meta.path, HashAlgorithm.crc16, 4w0, { hdr.flow.source, hdr.flow.destination }, 8w4);
        paths.apply();
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {}
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;
