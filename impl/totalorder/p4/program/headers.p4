// What a packet is made of. message_t is spec/totalorder/wire.toml, field by field.

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  header_words;
    bit<8>  service;
    bit<16> total_length;
    bit<16> identification;
    bit<16> fragment;
    bit<8>  time_to_live;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

header udp_t {
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> length;
    bit<16> checksum;
}

header message_t {
    bit<8>        version;
    bit<8>        kind;
    bit<12>       unused_flags;
    bit<1>        resent;
    bit<1>        loss_flag;
    bit<1>        ack_barrier_flag;
    bit<1>        barrier_flag;
    node_t        sender;
    node_t        receiver;
    bit<16>       payload_length;
    incarnation_t incarnation;
    number_t      number;
    number_t      link_seq;
    value_t       timestamp;
    value_t       barrier;
    value_t       ack_barrier;
    value_t       loss_record;
    value_t       greatest;
}

// The payload of an adjusted.
header duration_t {
    bit<64> held;
}

// In front of what the controller gets. until: the tick until which a beacon waits; then port is 2 * port + kind. The
// last four are what is known of an ingress link.
@controller_header("packet_in")
header packet_in_t {
    small_t     reason;
    wide_port_t port;
    tick_t      until;
    value_t     barrier;
    value_t     ack;
    moment_t    heard_at;
    neighbour_t first_sender;
}

// In front of what the controller sends. clock: the controller's, in ns.
@controller_header("packet_out")
header packet_out_t {
    small_t     what;
    wide_port_t port;
    value_t     clock;
}

struct headers_t {
    packet_in_t  packet_in;
    packet_out_t packet_out;
    ethernet_t   ethernet;
    ipv4_t       ipv4;
    udp_t        udp;
    message_t    message;
    message_t    inner;     // the beacon in a handed or a returned
    duration_t   duration;
}

const bit<16> ETHER_TYPE_IPV4 = 0x0800;
const bit<8>  PROTOCOL_UDP    = 17;
const bit<8>  VERSION         = 2;

const bit<8> DATA     = 1;
const bit<8> BEACON   = 2;
const bit<8> ACK      = 3;
const bit<8> ADJUST   = 4;
const bit<8> ADJUSTED = 5;
const bit<8> NOTICE   = 6;
const bit<8> HANDED   = 7;
const bit<8> RETURNED = 8;
