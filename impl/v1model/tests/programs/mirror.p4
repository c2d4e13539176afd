// Clones from ingress and from egress, each keeping one field of the metadata and losing the other.
#include <core.p4>
#include <v1model.p4>

header order_t {
    bit<8> which;
    bit<8> value;
}

header trail_t {
    bit<8>  instance;
    bit<8>  kept;
    bit<8>  lost;
    bit<16> length;
    bit<16> rid;
}

struct headers_t {
    trail_t trail;
    order_t order;
}

struct metadata_t {
    @field_list(1)
    bit<8> kept;
    bit<8> lost;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.order);
        meta.kept = 0x11;
        meta.lost = 0x22;
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 2;
        meta.kept = hdr.order.value + 1;
        meta.lost = 0x33;
        if (hdr.order.which & 1 != 0) {
            clone_preserving_field_list(CloneType.I2E, 5, 1);
        }
        // Done after the clone was asked for: an ingress clone has the headers as they came, yet keeps this value.
        meta.kept = meta.kept + 1;
        hdr.order.value = 0xaa;
        if (hdr.order.which & 4 != 0) {
            mark_to_drop(std);
        }
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (std.instance_type == 0 && hdr.order.which & 2 != 0) {
            clone_preserving_field_list(CloneType.E2E, 6, 1);
        }
        if (std.instance_type == 0 && hdr.order.which & 8 != 0) {
            clone(CloneType.E2E, 6);
        }
        hdr.trail.setValid();
        hdr.trail.instance = (bit<8>) std.instance_type;
        hdr.trail.kept = meta.kept;
        hdr.trail.lost = meta.lost;
        hdr.trail.length = (bit<16>) std.packet_length;
        hdr.trail.rid = std.egress_rid;
    }
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.trail);
        packet.emit(hdr.order);
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;
