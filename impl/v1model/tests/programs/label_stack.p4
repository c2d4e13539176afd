// A stack of labels: swapped, pushed and popped by table; an overflowing one is told in the trailer.
#include <core.p4>
#include <v1model.p4>

header link_t {
    bit<8> kind;
}

header label_t {
    bit<20> label;
    bit<3>  class;
    bit<1>  bottom;
    bit<8>  ttl;
}

header report_t {
    bit<8> fault;
    bit<8> deepest;
}

struct headers_t {
    link_t     link;
    report_t   report;
    label_t[3] labels;
}

struct metadata_t {
    bit<8> deepest;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.link);
        transition select(hdr.link.kind) {
            0x88: labels;
            default: accept;
        }
    }

    state labels {
        packet.extract(hdr.labels.next);
        meta.deepest = (bit<8>) hdr.labels.lastIndex;
        transition select(hdr.labels.last.bottom) {
            0: labels;
            1: accept;
        }
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action swap(bit<20> label, bit<9> port) {
        hdr.labels[0].label = label;
        hdr.labels[0].ttl = hdr.labels[0].ttl - 1;
        std.egress_spec = port;
    }

    action push(bit<20> label, bit<9> port) {
        hdr.labels.push_front(1);
        hdr.labels[0].setValid();
        hdr.labels[0].label = label;
        hdr.labels[0].class = 0;
        hdr.labels[0].bottom = 0;
        hdr.labels[0].ttl = 64;
        std.egress_spec = port;
    }

    action pop(bit<9> port) {
        hdr.labels.pop_front(1);
        std.egress_spec = port;
    }

    action drop() {
        mark_to_drop(std);
    }

    table labels {
        key = { hdr.labels[0].label: exact; }
        actions = { swap; push; pop; drop; }
        default_action = drop();
    }

    apply {
        if (std.parser_error != error.NoError) {
            hdr.report.setValid();
            hdr.report.deepest = meta.deepest;
            if (std.parser_error == error.StackOutOfBounds) {
                hdr.report.fault = 1;
            } else if (std.parser_error == error.PacketTooShort) {
                hdr.report.fault = 2;
            } else {
                hdr.report.fault = 3;
            }
            std.egress_spec = 7;
        } else if (hdr.labels[0].isValid()) {
            labels.apply();
        } else {
            push(1, 6);
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
        packet.emit(hdr.link);
        packet.emit(hdr.report);
        packet.emit(hdr.labels);
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;
