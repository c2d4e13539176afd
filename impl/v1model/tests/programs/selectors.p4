// An action profile that entries share, and a selector that chooses a member by a flow's hash.
#include <core.p4>
#include <v1model.p4>

header flow_t {
    bit<8>  kind;
    bit<16> source;
    bit<16> destination;
    bit<8>  mark;
}

struct headers_t {
    flow_t flow;
}

struct metadata_t {}

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
    action_profile(4) shared;
    action_selector(HashAlgorithm.crc16, 8, 16) paths;

    action mark(bit<8> value) {
        hdr.flow.mark = value;
    }

    action to(bit<9> port, bit<8> value) {
        std.egress_spec = port;
        hdr.flow.mark = hdr.flow.mark + value;
    }

    action drop() {
        mark_to_drop(std);
    }

    table marks {
        key = { hdr.flow.kind: exact; }
        actions = { mark; drop; }
        implementation = shared;
    }

    table routes {
        key = {
            hdr.flow.destination: lpm;
            hdr.flow.source: selector;
            hdr.flow.destination: selector;
        }
        actions = { to; drop; }
        implementation = paths;
    }

    apply {
        std.egress_spec = 7;
        marks.apply();
        if (!routes.apply().hit) {
            hdr.flow.kind = 0xff;
        }
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
