// A union of headers: at most one is valid, whoever makes it so.
#include <core.p4>
#include <v1model.p4>

header choice_t {
    bit<8> kind;
    bit<8> act;
}

header small_t {
    bit<8> value;
}

header large_t {
    bit<16> value;
    bit<8>  extra;
}

header_union body_t {
    small_t small;
    large_t large;
}

struct headers_t {
    choice_t choice;
    body_t   body;
}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.choice);
        transition select(hdr.choice.kind) {
            1: small;
            2: large;
            default: accept;
        }
    }

    state small {
        packet.extract(hdr.body.small);
        transition accept;
    }

    state large {
        packet.extract(hdr.body.large);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    direct_counter(CounterType.packets_and_bytes) looked;

    action seen(bit<9> port) {
        looked.count();
        std.egress_spec = port;
    }

    // simple_switch looks up 0 for a field of an invalid header.
    table values {
        key = { hdr.body.small.value: exact; }
        actions = { seen; NoAction; }
        counters = looked;
        default_action = NoAction();
    }

    apply {
        std.egress_spec = 1;
        if (!hdr.body.isValid()) {
            std.egress_spec = 2;
        }
        if (hdr.choice.act == 1) {
            hdr.body.large.setValid();
            hdr.body.large.value = 0x1234;
            hdr.body.large.extra = 0x56;
        } else if (hdr.choice.act == 2) {
            hdr.body.small.setValid();
            hdr.body.small.value = 0x99;
        } else if (hdr.choice.act == 3 && hdr.body.small.isValid()) {
            hdr.body.small.setInvalid();
        } else if (hdr.choice.act == 4) {
            hdr.body.large.setValid();
        }
        if (hdr.choice.act > 2) {
            values.apply();
        }
        hdr.choice.kind = hdr.body.small.isValid() ? 8w1 : (hdr.body.large.isValid() ? 8w2 : 0);
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (std.packet_length > 1000) {
            mark_to_drop(std);
        }
    }
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.choice);
        packet.emit(hdr.body);
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;
