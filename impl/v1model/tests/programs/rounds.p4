// Resubmits a packet once, then recirculates it as often as it says; metadata counts the rounds.
#include <core.p4>
#include <v1model.p4>

header count_t {
    bit<8> resubmit;
    bit<8> rounds;
    bit<8> done;
    bit<8> instance;
    bit<8> seen;
}

header extra_t {
    bit<8> mark;
}

struct headers_t {
    count_t count;
    extra_t extra;
}

struct metadata_t {
    @field_list(1, 2)
    bit<8> seen;
    @field_list(2)
    bit<8> rounds;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.count);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 4;
        hdr.count.instance = (bit<8>) std.instance_type;
        if (hdr.count.resubmit == 1 && std.instance_type == 0) {
            meta.seen = 0x40;
            meta.rounds = 0x50;
            // Whatever is done to the headers is lost: the packet is parsed again as it came.
            hdr.count.done = 0xee;
            resubmit_preserving_field_list(1);
        } else if (std.instance_type == 6) {
            meta.seen = meta.seen + meta.rounds + 1;
        }
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (meta.rounds < hdr.count.rounds) {
            meta.rounds = meta.rounds + 1;
            hdr.count.done = hdr.count.done + 1;
            hdr.extra.setValid();
            hdr.extra.mark = 0xe0 + meta.rounds;
            recirculate_preserving_field_list(2);
        } else {
            hdr.count.seen = meta.seen;
        }
    }
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.count);
        packet.emit(hdr.extra);
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;
