// Actions with loops, early ends and nested choices; a table applied only where none before it returned.
#include <core.p4>
#include <v1model.p4>

header work_t {
    bit<8>  count;
    bit<8>  stop;
    bit<8>  skip;
    bit<16> sum;
    bit<8>  way;
}

struct headers_t {
    work_t work;
}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.work);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action add_up() {
        for (bit<8> i = 0; i < hdr.work.count; i = i + 1) {
            if (i == hdr.work.stop) {
                break;
            }
            if (i == hdr.work.skip) {
                continue;
            }
            hdr.work.sum = hdr.work.sum + (bit<16>) i;
        }
        hdr.work.way = hdr.work.way | 0x80;
    }

    action choose() {
        if (hdr.work.count > 10) {
            hdr.work.way = 1;
            if (hdr.work.stop > 10) {
                hdr.work.way = 2;
                return;
            } else if (hdr.work.skip > 10) {
                hdr.work.way = 3;
            }
            hdr.work.way = hdr.work.way + 0x10;
        } else {
            hdr.work.way = 4;
        }
        hdr.work.way = hdr.work.way + 0x40;
    }

    action leave() {
        if (hdr.work.skip == 77) {
            std.egress_spec = 7;
            exit;
        }
        std.egress_spec = 6;
    }

    apply {
        std.egress_spec = 1;
        choose();
        if (hdr.work.count == 99) {
            return;
        }
        add_up();
        if (hdr.work.count > 100) {
            leave();
            hdr.work.sum = 0xffff;
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
