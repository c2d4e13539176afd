// All widths and types, and what the blocks of the switch tell each other.

typedef bit<9>       port_t;      // of the target; 0 to PORTS - 1 are links, in and out
typedef bit<PORTS>   links_t;     // a set of links: bit p is port p's
typedef bit<(2 * PORTS)> timers_t; // a set of kinds of beacons on links: bits 2p and 2p + 1 are port p's
typedef bit<64>      value_t;     // a timestamp, barrier, ack barrier or loss record in ns; always below 2^63
typedef bit<64>      number_t;    // of a message, or of a packet on its link
typedef bit<48>      tick_t;      // of the target's clock; what is later than what is told by the difference
typedef bit<64>      moment_t;    // 0 for never; otherwise SOME_TIME and a tick_t
typedef bit<32>      node_t;
typedef bit<64>      neighbour_t; // 0 for unknown; otherwise KNOWN, perhaps A_HOST, and a node_t
typedef bit<16>      incarnation_t;
typedef bit<16>      group_t;     // of multicast
typedef bit<16>      wide_port_t; // a port where the controller reads it
typedef bit<48>      mac_t;
typedef bit<8>       small_t;

#ifndef CPU_PORT
#define CPU_PORT 255
#endif
#ifndef UDP_PORT
#define UDP_PORT 21328
#endif

const value_t     MOST_VALUE = 0xFFFFFFFFFFFFFFFF;
const moment_t    SOME_TIME  = 1 << 48;
const neighbour_t KNOWN      = 1 << 32;
const neighbour_t A_HOST     = 1 << 33;
const bit<32>     FRAME_BYTES = 114;          // Ethernet, IPv4, UDP and the 72 bytes of a message
const bit<32>     PACKET_IN_BYTES = 41;

// Why the switch does not take a packet: index of the counter of refusals.
const small_t TAKEN            = 0;
const small_t UNKNOWN_LINK     = 1;
const small_t MALFORMED        = 2;
const small_t LINK_NUMBER      = 3;   // it came again, or late
const small_t STRUCTURE        = 4;   // what it carries is not what packets of its kind carry
const small_t SENDER           = 5;   // it is not from the node at the other end of the link
const small_t PROMISE          = 6;   // it breaks what its link has promised
const small_t NO_ROUTE         = 7;
const small_t RETURNED_WRONGLY = 8;
const small_t GIVEN_UP         = 9;   // the controller has closed the link
const small_t HOST_ANEW        = 10;  // a host that has begun anew

// What the controller asks for, in packet_out.
const small_t TRIGGER = 1;   // look at all links, and send the beacons that are due
const small_t SEND    = 2;   // put the packet that follows on a link
const small_t MADE    = 3;   // the beacon that follows was made by the second processor for a link
const small_t SETTLE  = 4;   // from now on no link tells less than it could tell now
const small_t REPORT  = 5;   // say what is known of an ingress link

// Why the controller gets a packet, in packet_in.
const small_t HELD         = 1;  // a beacon waits for a link, until `until`
const small_t FOR_SECOND   = 2;  // a beacon, for the second processor
const small_t QUEUED       = 3;  // a message that waits at the sending port of a link
const small_t INTERCEPTED  = 4;  // a message for a host that was given up
const small_t BEGAN_ANEW   = 5;  // a host has begun anew
const small_t REPORTED     = 6;

const bit<32> EGRESS_CLONE = 2;   // instance_type of a copy made in egress
const bit<32> RECIRCULATED = 4;   // and of what has come back from egress to ingress
const bit<32> CPU_SESSION  = 1;   // the clone session that leads to the CPU port

// What a replica is, in the two lowest bits of egress_rid.
const bit<2> FORWARDED = 0;
const bit<2> BEACON_0  = 1;
const bit<2> BEACON_1  = 2;

#define REGISTERS_OF(i) value_t barrier_##i; value_t ack_##i; value_t record_##i; value_t greatest_##i;

struct metadata_t {
    // Of the ingress link, from table ingress_link.
    bit<1>        known_link;
    bit<1>        strict;        // whether all of the link's promises are checked, as by ReliableSwitch
    bit<1>        loses;         // environment D
    bit<1>        fills;         // this switch fills barriers in (TO-BAR-FILL)
    bit<1>        beacons;       // whether arrivals cause beacons
    bit<1>        queues;        // messages wait at the sending port, which is with the controller
    bit<1>        waiting;       // this one waits there
    bit<1>        splits;        // beacons go to a second processor, or to the proxy host
    bit<1>        listens;       // the controller asks when the link was last heard of
    bit<1>        from_host;     // the link comes from a host, and hosts may not begin anew
    links_t       all_links;     // every ingress link of this switch
    links_t       sharing;       // ingress links that feed an egress link together with this one
    small_t       spare;         // how many links below this one still let it be the least of some egress link
    incarnation_t incarnation;   // of this switch
    group_t       group;         // where packets go, 0 for one port alone
    timers_t      feeds;         // kinds of beacons that this link may cause
    group_t       beacon_group;  // the same, of beacons
    // Of the packet.
    small_t       refusal;
    tick_t        now;
    bit<32>       place;         // index of the ingress link's registers
    links_t       arrived;       // the ingress link, as a set; empty for what the controller has sent
    bit<1>        carries;       // a barrier, its own or filled in
    value_t       carried;
    number_t      due;           // the least number of the link that is not late
    number_t      out_seq;
    // The ingress link, before the packet was taken and after.
    number_t      next_seq;
    incarnation_t began;
    neighbour_t   neighbour;
    bit<2>        gap;
    bit<1>        missing;
    bit<1>        noticed;
    value_t       was_barrier;
    value_t       was_ack;
    value_t       was_record;
    value_t       barrier;
    value_t       ack;
    value_t       record;
    value_t       greatest;
    value_t       least;
    small_t       below;
    small_t       below_ack;
    timers_t      waiting_beacons;
    tick_t        next_due;
    tick_t        until_due;
    // What the controller asked for, and the clock that it gave.
    small_t       what;
    value_t       clock;
    // The registers of all links at the moment when the packet was taken: what leaves says this, not what is there
    // later.
    FOR_EACH_PORT(REGISTERS_OF)
    // Of the egress link, from table egress_link.
    bit<1>        known_egress;
    bit<1>        every_beacon;
    bit<1>        first_only;    // barriers are those of the second processor
    bit<1>        data_barrier;
    bit<1>        data_ack;
    bit<1>        idle;          // a data message makes a beacon needless
    bit<1>        out_loses;
    bit<2>        kind_0;        // what a beacon of the first kind carries: 1 the barrier, 2 the ack barrier
    bit<2>        kind_1;
    node_t        node;
    incarnation_t out_incarnation;
    tick_t        interval;
    links_t       counted;
    links_t       told;          // links from which data have come, counted now or not
    mac_t         mac;
    bit<32>       address;
    // What the ingress links together say on the egress link.
    links_t       others;
    bit<1>        takes_part;
    bit<1>        moved;
    bit<1>        in_loss_state;
    value_t       before;
    value_t       out_barrier;
    value_t       out_ack;
    value_t       out_record;
    value_t       out_greatest;
    value_t       floor;
    value_t       floor_ack;
    // What was said on it.
    bit<2>        role;
    bit<32>       out_place;
    bit<32>       timer;         // index of the registers of a beacon's kind on a link
    bit<2>        carries_out;
    value_t       told_barrier;
    value_t       told_ack;
    moment_t      carried_at;
    moment_t      held_until;
    tick_t        waited;
    bit<1>        waits;
    bit<1>        news;
    bit<1>        is_due;
    bit<1>        leaves;
    // Kept for the copy that tells the controller of a beacon that waits.
    @field_list(1) wide_port_t held_timer;
    @field_list(1) tick_t      held_tick;
}
