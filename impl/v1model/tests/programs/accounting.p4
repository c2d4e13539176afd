// Direct counters and meters, an indirect meter, and flow that depends on which action ran, and on hit or miss.
#include <core.p4>
#include <v1model.p4>

header account_t {
    bit<16> customer;
    bit<8>  colour;
    bit<8>  path;
}

struct headers_t {
    account_t account;
}

struct metadata_t {
    bit<2> colour;
    bit<2> other;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.account);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    direct_counter(CounterType.packets_and_bytes) used;
    direct_meter<bit<2>>(MeterType.bytes) rates;
    meter(4, MeterType.packets) shared;

    action gold(bit<8> path) {
        used.count();
        hdr.account.path = path;
    }

    action silver() {
        used.count();
        hdr.account.path = 0x50;
    }

    action refuse() {
        mark_to_drop(std);
        exit;
    }

    table customers {
        key = { hdr.account.customer: exact; }
        actions = { gold; silver; refuse; NoAction; }
        counters = used;
        default_action = NoAction();
    }

    action measure() {
        rates.read(meta.colour);
    }

    table metered {
        key = { hdr.account.customer: exact; }
        actions = { measure; NoAction; }
        meters = rates;
        default_action = NoAction();
    }

    apply {
        std.egress_spec = 1;
        switch (customers.apply().action_run) {
            gold: {
                std.egress_spec = 2;
            }
            silver: {
                hdr.account.path = hdr.account.path + 1;
            }
            NoAction: {
                std.egress_spec = 3;
                return;
            }
        }
        if (metered.apply().miss) {
            shared.execute_meter((bit<32>) hdr.account.customer, meta.other);
            hdr.account.colour = 0x10 + (bit<8>) meta.other;
        } else {
            hdr.account.colour = (bit<8>) meta.colour;
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
