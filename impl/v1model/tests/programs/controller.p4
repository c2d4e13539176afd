// Packet-in and packet-out over the controller's port, a digest, truncation, time stamps, a random number, assertions.
#include <core.p4>
#include <v1model.p4>

const bit<9> CONTROLLER = 255;

@controller_header("packet_out")
header packet_out_t {
    bit<7> pad;
    bit<9> port;
}

@controller_header("packet_in")
header packet_in_t {
    bit<7> pad;
    bit<9> port;
}

header frame_t {
    bit<8>  kind;
    bit<48> time;
    bit<8>  drawn;
}

struct headers_t {
    packet_out_t to_switch;
    packet_in_t  to_controller;
    frame_t      frame;
}

struct learnt_t {
    bit<8> kind;
    bit<9> port;
}

struct metadata_t {
    bit<8> drawn;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        transition select(std.ingress_port) {
            CONTROLLER: controller;
            default: frame;
        }
    }

    state controller {
        packet.extract(hdr.to_switch);
        transition frame;
    }

    state frame {
        packet.extract(hdr.frame);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (hdr.to_switch.isValid()) {
            std.egress_spec = hdr.to_switch.port;
            hdr.to_switch.setInvalid();
        } else if (hdr.frame.kind == 1) {
            std.egress_spec = CONTROLLER;
            hdr.to_controller.setValid();
            hdr.to_controller.pad = 0;
            hdr.to_controller.port = std.ingress_port;
        } else if (hdr.frame.kind == 2) {
            digest<learnt_t>(1, { hdr.frame.kind, std.ingress_port });
            std.egress_spec = 2;
        } else if (hdr.frame.kind == 3) {
            truncate(32w10);
            std.egress_spec = 3;
        } else if (hdr.frame.kind == 4) {
            hdr.frame.time = std.ingress_global_timestamp;
            std.egress_spec = 4;
        } else if (hdr.frame.kind == 5) {
            random(meta.drawn, 8w10, 8w12);
            hdr.frame.drawn = meta.drawn;
            std.egress_spec = 5;
        } else {
            assert(hdr.frame.kind != 6);
            log_msg("kind {} of nobody", { hdr.frame.kind });
            std.egress_spec = 200;
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
