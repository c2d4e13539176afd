// A header with options of variable length: kept, dropped, or copied behind.
#include <core.p4>
#include <v1model.p4>

header base_t {
    bit<4> words;
    bit<4> act;
    bit<8> next;
}

header options_t {
    bit<8>      first;
    varbit<88>  body;
    bit<8>      final;
}

header after_t {
    bit<8> value;
}

struct headers_t {
    base_t    base;
    options_t options;
    options_t copy;
    after_t   after;
}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.base);
        verify(hdr.base.words != 15, error.HeaderTooShort);
        transition select(hdr.base.words) {
            0: after;
            default: options;
        }
    }

    state options {
        packet.extract(hdr.options, (bit<32>) (((bit<9>) hdr.base.words << 5) - 16));
        transition after;
    }

    state after {
        packet.extract(hdr.after);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (std.parser_error != error.NoError) {
            hdr.base.next = (std.parser_error == error.HeaderTooShort) ? 8w0xe1 :
                ((std.parser_error == error.PacketTooShort) ? 8w0xe2 : 8w0xe3);
        } else if (hdr.base.act == 1) {
            hdr.options.setInvalid();
            hdr.base.words = 0;
        } else if (hdr.base.act == 2) {
            hdr.copy = hdr.options;
        }
        if (hdr.options.isValid()) {
            hdr.options.first = hdr.options.first + 1;
            hdr.options.final = hdr.options.final + 2;
        }
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.after.value = (bit<8>) std.packet_length;
    }
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
