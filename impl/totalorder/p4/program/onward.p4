// Where packets go.
//
//   ingress_link (port)            what this end of the link is, and how it is set
//   onward (port, receiver)        the egress link towards a host, where packets that come from here can reach it
//   handover (kind, switch, port)  the same, of beacons on their way to a proxy host and back (TO-SW-6)
//
// A packet leaves on one port, or, where the beacons of some links may have something new to say, is replicated by a
// multicast group: itself, and a beacon for each link that its ingress link feeds (TO-BEACON-MIN). The group is that of
// ingress link and egress link; egress leaves out the beacons that are not due.

control IngressLink(inout metadata_t meta, in standard_metadata_t standard) {
    action link(bit<1> strict, bit<1> loses, bit<1> fills, bit<1> beacons, bit<1> queues, bit<1> splits, bit<1> listens,
                bit<1> from_host, links_t arrived, links_t all_links, links_t sharing, small_t spare,
                incarnation_t incarnation, timers_t feeds, group_t beacon_group) {
        meta.feeds = feeds;
        meta.known_link = 1;
        meta.strict = strict;
        meta.loses = loses;
        meta.fills = fills;
        meta.beacons = beacons;
        meta.queues = queues;
        meta.splits = splits;
        meta.listens = listens;
        meta.from_host = from_host;
        meta.arrived = arrived;
        meta.all_links = all_links;
        meta.sharing = sharing;
        meta.spare = spare;
        meta.incarnation = incarnation;
        meta.beacon_group = beacon_group;
    }
    // Nothing more is taken from the link (TO-FAIL).
    action given_up() {
        meta.known_link = 1;
        meta.refusal = GIVEN_UP;
    }
    action unknown() {
        meta.refusal = UNKNOWN_LINK;
    }
    // What of the settings concerns packets of the controller.
    action controller(bit<1> loses, bit<1> queues, links_t all_links, group_t trigger_group) {
        meta.loses = loses;
        meta.queues = queues;
        meta.all_links = all_links;
        meta.group = trigger_group;
    }
    table ingress_link {
        key = { standard.ingress_port: exact; }
        actions = { link; given_up; unknown; controller; }
        default_action = unknown();
        size = 32;
    }
    apply {
        ingress_link.apply();
    }
}

control Onward(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action towards(port_t port, group_t group) {
#if defined(MUTANT_SENT_BACK)
        standard.egress_spec = standard.ingress_port;
        meta.group = 0;
#else
        standard.egress_spec = port;
        meta.group = group;
#endif
    }
    // The host has failed, and hears nothing any more; what came for it is taken as far as it speaks of its link.
    action intercept() {
        standard.egress_spec = CPU_PORT;
        meta.what = INTERCEPTED;
    }
    action nowhere() {
        meta.refusal = NO_ROUTE;
    }
    table onward {
        key = {
            standard.ingress_port: exact;
            hdr.message.receiver: exact;
        }
        actions = { towards; intercept; nowhere; }
        default_action = nowhere();
        size = 4096;
    }
    apply {
        onward.apply();
    }
}

register<timers_t>(1) waiting;     // kinds of beacons on links that wait                TO-BEACON-MIN
register<tick_t>(1)   next_due;    // when the first of them is due

#define COUNT_BELOW(i) \
    if (meta.sharing[i:i] == 1 && meta.barrier_##i < meta.was_barrier) { \
        meta.below = meta.below + 1; \
    } \
    if (meta.sharing[i:i] == 1 && meta.ack_##i < meta.was_ack) { \
        meta.below_ack = meta.below_ack + 1; \
    }

// Whether beacons may have something new to say: the multicast group is for these packets alone. A link that rises
// changes a minimum only if it was the least of those counted for some egress link. Seen over all links that share
// one with it, it has at most `spare` below it then, those that are not counted for that egress link; `spare` comes
// from the controller.
control Replicate(inout metadata_t meta, inout standard_metadata_t standard) {
    action count_below() {
        meta.below = 0;
        meta.below_ack = 0;
        FOR_EACH_PORT(COUNT_BELOW)
    }
    action look_for_waiting() {
        waiting.read(meta.waiting_beacons, 0);
        next_due.read(meta.next_due, 0);
        meta.until_due = meta.now - meta.next_due;
    }
    apply {
        if (meta.refusal == TAKEN && meta.group != 0) {
            if (meta.what == TRIGGER || meta.what == SETTLE) {
                standard.mcast_grp = meta.group;
            } else if (meta.beacons == 1 && meta.what == 0) {
                look_for_waiting();
                if ((meta.feeds & ~meta.waiting_beacons) == 0 && meta.until_due[47:47] == 1) {
                    // All of them wait, and none is due.
                } else if (meta.record != meta.was_record) {
                    standard.mcast_grp = meta.group;
                } else if (meta.barrier != meta.was_barrier || meta.ack != meta.was_ack) {
#if defined(ONLY_THE_LEAST_COUNTS)
                    count_below();
                    if ((meta.barrier != meta.was_barrier && meta.below <= meta.spare)
                        || (meta.ack != meta.was_ack && meta.below_ack <= meta.spare)) {
                        standard.mcast_grp = meta.group;
                    }
#else
                    standard.mcast_grp = meta.group;
#endif
                }
            }
        }
    }
}
