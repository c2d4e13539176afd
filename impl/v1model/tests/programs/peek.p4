// The parser alone: lookahead, advance, masks and several keys in a select, a value set, verify, and errors of its own.
#include <core.p4>
#include <v1model.p4>

error {
    BadMagic
}

header magic_t {
    bit<8> magic;
    bit<4> version;
    bit<4> skip;
}

header short_t {
    bit<8> kind;
    bit<8> value;
}

header long_t {
    bit<8>  kind;
    bit<24> value;
}

header report_t {
    bit<8> fault;
    bit<8> way;
    bit<8> peeked;
}

struct headers_t {
    report_t report;
    magic_t  magic;
    short_t  small;
    long_t   large;
}

struct metadata_t {
    bit<8> way;
    bit<8> peeked;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    value_set<bit<8>>(4) kinds;

    state start {
        packet.extract(hdr.magic);
        verify(hdr.magic.magic == 0x5a, error.BadMagic);
        transition select(hdr.magic.version, hdr.magic.skip) {
            (1, 0): one;
            (2, 4w0x8 &&& 4w0x8): two;
            (2 &&& 2, _): three;
            default: other;
        }
    }

    state one {
        meta.way = 1;
        transition body;
    }

    state two {
        meta.way = 2;
        packet.advance(16);
        transition body;
    }

    state three {
        meta.way = 3;
        packet.advance((bit<32>) hdr.magic.skip << 3);
        transition body;
    }

    state other {
        meta.way = 9;
        transition accept;
    }

    state body {
        meta.peeked = packet.lookahead<bit<8>>();
        transition select(meta.peeked) {
            0 .. 3: small;
            kinds: large;
            0x80 &&& 0xc0: large;
            default: accept;
        }
    }

    state small {
        packet.extract(hdr.small);
        transition accept;
    }

    state large {
        packet.extract(hdr.large);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.report.setValid();
        hdr.report.way = meta.way;
        hdr.report.peeked = meta.peeked;
        if (std.parser_error == error.BadMagic) {
            hdr.report.fault = 1;
        } else if (std.parser_error == error.PacketTooShort) {
            hdr.report.fault = 2;
        }
        if (hdr.large.isValid()) {
            hdr.large.value = hdr.large.value + 1;
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
