// Access lists: ternary with priorities, ranges, an optional key, and entries written in the program.
#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8>  kind;
    bit<32> source;
    bit<16> low;
    bit<16> high;
    bit<8>  verdict;
}

struct headers_t {
    request_t request;
}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.request);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action mark(bit<8> verdict) {
        hdr.request.verdict = verdict;
    }

    action drop() {
        mark_to_drop(std);
    }

    table rules {
        key = { hdr.request.source: ternary; hdr.request.kind: exact; }
        actions = { mark; drop; NoAction; }
        size = 8;
        default_action = NoAction();
    }

    table ports {
        key = { hdr.request.low: range; hdr.request.high: range; hdr.request.kind: ternary; }
        actions = { mark; NoAction; }
        default_action = mark(0x77);
    }

    table owners {
        key = { hdr.request.source: optional; hdr.request.low: optional; }
        actions = { mark; NoAction; }
        default_action = NoAction();
    }

    table fixed {
        key = { hdr.request.low: ternary; }
        actions = { mark; NoAction; }
        const default_action = NoAction();
        const entries = {
            0x1200 &&& 0xff00: mark(0x12);
            0x0034 &&& 0x00ff: mark(0x34);
            0x1256: mark(0x56);
            _: mark(0xff);
        }
    }

    apply {
        std.egress_spec = 1;
        if (hdr.request.kind < 10) {
            rules.apply();
        } else if (hdr.request.kind < 20) {
            ports.apply();
        } else if (hdr.request.kind < 30) {
            owners.apply();
        } else {
            fixed.apply();
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
