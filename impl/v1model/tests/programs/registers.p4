// Registers and counters: a count for each port, an exchange, a maximum, and an index that may be outside.
#include <core.p4>
#include <v1model.p4>

header operation_t {
    bit<8>  code;
    bit<8>  index;
    bit<32> value;
}

struct headers_t {
    operation_t operation;
}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.operation);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<16>>(8) seen;
    register<bit<32>>(10) cells;
    counter(4, CounterType.packets_and_bytes) codes;

    apply {
        bit<16> times;
        seen.read(times, (bit<32>) std.ingress_port);
        times = times + 1;
        seen.write((bit<32>) std.ingress_port, times);
        codes.count((bit<32>) hdr.operation.code);

        bit<32> old = 0xdeadbeef;
        if (hdr.operation.code == 0) {
            cells.read(old, (bit<32>) hdr.operation.index);
        } else if (hdr.operation.code == 1) {
            cells.read(old, (bit<32>) hdr.operation.index);
            cells.write((bit<32>) hdr.operation.index, hdr.operation.value);
        } else if (hdr.operation.code == 2) {
            cells.read(old, (bit<32>) hdr.operation.index);
            if (hdr.operation.value > old) {
                old = hdr.operation.value;
            }
            cells.write((bit<32>) hdr.operation.index, old);
        } else {
            old = (bit<32>) times;
        }
        hdr.operation.value = old;
        std.egress_spec = std.ingress_port;
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
