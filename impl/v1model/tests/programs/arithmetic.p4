// Arithmetic of every kind: wrapping, saturating, signed, shifted, sliced, joined, chosen.
#include <core.p4>
#include <v1model.p4>

header numbers_t {
    bit<8>  a;
    bit<8>  b;
    int<8>  c;
    int<8>  d;
    bit<16> wide;
    bit<4>  low;
    bit<4>  high;
}

header results_t {
    bit<8>  sum;
    bit<8>  difference;
    bit<8>  product;
    bit<8>  saturated_sum;
    bit<8>  saturated_difference;
    int<8>  signed_sum;
    int<8>  signed_saturated_sum;
    int<8>  signed_saturated_difference;
    bit<8>  is_less;
    bit<8>  is_signed_less;
    bit<16> joined;
    bit<8>  sliced;
    bit<16> extended;
    bit<16> shifted_left;
    bit<16> shifted_right;
    int<8>  signed_shifted;
    bit<8>  inverted;
    bit<8>  negated;
    bit<8>  mixed;
    bit<8>  chosen;
}

struct headers_t {
    numbers_t numbers;
    results_t results;
}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.numbers);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        bit<8> a = hdr.numbers.a;
        bit<8> b = hdr.numbers.b;
        int<8> c = hdr.numbers.c;
        int<8> d = hdr.numbers.d;
        hdr.results.setValid();
        hdr.results.sum = a + b;
        hdr.results.difference = a - b;
        hdr.results.product = a * b;
        hdr.results.saturated_sum = a |+| b;
        hdr.results.saturated_difference = a |-| b;
        hdr.results.signed_sum = c + d;
        hdr.results.signed_saturated_sum = c |+| d;
        hdr.results.signed_saturated_difference = c |-| d;
        hdr.results.is_less = a < b ? 8w1 : 0;
        hdr.results.is_signed_less = c < d ? 8w1 : 0;
        hdr.results.joined = a ++ b;
        hdr.results.sliced = hdr.numbers.wide[11:4];
        hdr.results.extended = (bit<16>) (int<16>) c;
        hdr.results.shifted_left = hdr.numbers.wide << a;
        hdr.results.shifted_right = hdr.numbers.wide >> hdr.numbers.low;
        hdr.results.signed_shifted = c >> hdr.numbers.low;
        hdr.results.inverted = ~a;
        hdr.results.negated = -a;
        hdr.results.mixed = (a & b) | (a ^ 0x0f);
        hdr.results.chosen = hdr.numbers.low == hdr.numbers.high ? a : (a > b ? b : 8w7);
        hdr.numbers.wide[7:0] = a;
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
