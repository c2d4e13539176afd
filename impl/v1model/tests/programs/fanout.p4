// Multicast: every copy is rewritten by its replication id and port; one id is dropped, one tag is removed.
#include <core.p4>
#include <v1model.p4>

header tag_t {
    bit<16> group;
    bit<8>  port;
    bit<8>  rid;
}

header inner_t {
    bit<8> value;
}

struct headers_t {
    tag_t   tag;
    inner_t inner;
}

struct metadata_t {
    bit<8> sum;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.tag);
        packet.extract(hdr.inner);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.mcast_grp = hdr.tag.group;
        std.egress_spec = 3;
        meta.sum = hdr.inner.value;
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action detag(bit<8> plus) {
        hdr.tag.setInvalid();
        hdr.inner.value = meta.sum + plus;
    }

    action drop() {
        mark_to_drop(std);
    }

    table replicas {
        key = { std.egress_rid: exact; }
        actions = { detag; drop; NoAction; }
        default_action = NoAction();
    }

    apply {
        hdr.tag.port = (bit<8>) std.egress_port;
        hdr.tag.rid = (bit<8>) std.egress_rid;
        meta.sum = meta.sum + 1;
        replicas.apply();
    }
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.tag);
        packet.emit(hdr.inner);
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;
