// What the switch knows of its ingress links, as LinkStates in impl/totalorder/link_state.py: a packet is checked
// first, which changes nothing, and then taken, in one step.
//
// Only ingress reads and writes these registers. On BMv2 ingress is one thread, so a packet is taken whole before the
// next one is looked at (a target that runs packets side by side would need @atomic around it). Egress, which runs in
// several threads there, never reads them: what it needs of them travels with the packet (snapshot.p4).

register<value_t>(PORTS)       barriers;        // newest barrier of each ingress link           TO-BAR-MIN, TO-RETX-BAR
register<value_t>(PORTS)       acks;            // newest ack barrier                            TO-ACK-MIN
register<value_t>(PORTS)       records;         // loss record; the link's, in the loss state    TO-SWLOSS, TO-FLAG-SW
register<value_t>(PORTS)       greatests;       // greatest timestamp that was put on the link   TO-FLAG-SW
register<number_t>(PORTS)      next_seqs;       // the link number that is expected next         TO-LOSSCTR
register<bit<2>>(PORTS)        gaps;            // 0 fresh, 1 no gap, 2 a gap that no counted packet has shown
register<incarnation_t>(PORTS) incarnations;    // how often the other end had begun anew        TO-RESTART
register<neighbour_t>(PORTS)   neighbours;      // who makes the link's beacons                  TO-SW-PATH
register<moment_t>(PORTS)      heard;           // when a packet was last taken                  TO-FAIL
register<neighbour_t>(PORTS)   first_senders;   // the sender of the first packet that was taken TO-FAIL

#if defined(MUTANT_WRONG_REGISTER_INDEX)
#define BARRIER_PLACE(place) ((place) ^ 1)
#else
#define BARRIER_PLACE(place) (place)
#endif
#if defined(MUTANT_AT_FOR_BELOW)
#define PASSED(value, held) ((value) <= (held))
#else
#define PASSED(value, held) ((value) < (held))
#endif

#if defined(MUTANT_FILL_FORGOTTEN)
#define FILLS(asked) 1w0
#else
#define FILLS(asked) (asked)
#endif

control CheckLink(in headers_t hdr, inout metadata_t meta) {
    action read() {
        next_seqs.read(meta.next_seq, meta.place);
        incarnations.read(meta.began, meta.place);
        neighbours.read(meta.neighbour, meta.place);
        barriers.read(meta.was_barrier, BARRIER_PLACE(meta.place));
        acks.read(meta.was_ack, meta.place);
        records.read(meta.was_record, meta.place);
        greatests.read(meta.greatest, meta.place);
        gaps.read(meta.gap, meta.place);
        // The numbers of a link begin anew with whoever sends on it.
        meta.due = meta.strict == 1 && hdr.message.incarnation > meta.began ? 0 : meta.next_seq;
        // That of a first transmission may be left to this node (TO-BAR-FILL).
        meta.carries = hdr.message.barrier_flag | (hdr.message.kind == DATA ? FILLS(meta.fills) : 0);
        meta.carried = hdr.message.barrier_flag == 1 ? hdr.message.barrier : hdr.message.timestamp;
    }
    action allowed() {}
    action refused() {
        meta.refusal = STRUCTURE;
    }
    // What packets of each kind carry (TO-FMT-5 to TO-FMT-9); kinds that do not exist are left out.
    table structure {
        key = {
            hdr.message.kind: exact;
            hdr.message.barrier_flag: exact;
            hdr.message.ack_barrier_flag: exact;
            hdr.message.resent: exact;
            hdr.message.incarnation != 0: exact @name("begun_anew");
        }
        actions = { allowed; refused; }
        default_action = refused();
        size = 128;
    }
    apply {
        read();
        structure.apply();
        if (meta.refusal == 0) {
#if !defined(MUTANT_LATE_IS_TAKEN)
            if (hdr.message.link_seq < meta.due || (meta.strict == 1 && hdr.message.incarnation < meta.began)) {
                meta.refusal = LINK_NUMBER;
            } else
#endif
            if (meta.strict == 1 && meta.loses == 0 && (hdr.message.loss_record != 0 || hdr.message.greatest != 0)) {
                meta.refusal = STRUCTURE;
            } else if (meta.strict == 1 && meta.neighbour != 0 && (node_t) meta.neighbour != hdr.message.sender
                       && (hdr.message.kind == BEACON || (meta.neighbour & A_HOST) != 0)) {
                meta.refusal = SENDER;
            } else if (hdr.message.kind == DATA && (hdr.message.resent == 0 || meta.strict == 0)
                       && (PASSED(hdr.message.timestamp, meta.was_barrier)
                           || (meta.loses == 1 && hdr.message.timestamp <= meta.was_ack)
                           || (meta.loses == 1 && hdr.message.ack_barrier_flag == 1
                               && hdr.message.timestamp <= hdr.message.ack_barrier))) {
                meta.refusal = PROMISE;
            } else if (meta.carries == 1 && (hdr.message.resent == 0 || meta.strict == 0)
                       && meta.carried < meta.was_barrier) {
                meta.refusal = PROMISE;
            } else if (meta.loses == 1 && ((hdr.message.ack_barrier_flag == 1 && hdr.message.ack_barrier < meta.was_ack)
                                           || hdr.message.loss_record > hdr.message.greatest)) {
                meta.refusal = PROMISE;
            }
        }
    }
}

#define LEAST_OF(i) \
    if (meta.all_links[i:i] == 1 && AGGREGATE(meta.least, meta.barrier_##i)) { \
        meta.least = meta.barrier_##i; \
    }
#define READ_BARRIER(i) barriers.read(meta.barrier_##i, i);

control TakeLink(in headers_t hdr, inout metadata_t meta) {
    action number() {
        next_seqs.write(meta.place, hdr.message.link_seq + 1);
    }
    action incarnation() {
        incarnations.write(meta.place, hdr.message.incarnation);
    }
    action of_host() {
        meta.neighbour = KNOWN | A_HOST | (neighbour_t) hdr.message.sender;
    }
    action of_switch() {
        meta.neighbour = KNOWN | (neighbour_t) hdr.message.sender;
    }
    // A host's link brings its own packets alone; the maker of a link's first beacon is the node at its other end.
    table hosts {
        key = { hdr.message.sender: exact; }
        actions = { of_host; of_switch; }
        default_action = of_switch();
        size = 1024;
    }
    action barrier() {
        meta.barrier = meta.loses == 1 ? REGISTER_UNDER_LOSS(meta.was_barrier, meta.carried)
                                       : REGISTER(meta.was_barrier, meta.carried);
        barriers.write(BARRIER_PLACE(meta.place), meta.barrier);
    }
    action notice_gap() {
        meta.missing = meta.gap == 2 || (meta.gap == 0 && meta.incarnation != 0)
            || hdr.message.link_seq > meta.next_seq || hdr.message.incarnation > meta.began ? (bit<1>) 1 : 0;
        meta.noticed = COUNTS(hdr.message.kind) ? meta.missing : 0;
        gaps.write(meta.place, meta.missing == 1 && meta.noticed == 0 ? (bit<2>) 2 : 1);
#if !defined(MUTANT_GREATEST_NOT_RAISED)
        meta.greatest = hdr.message.greatest > meta.greatest ? hdr.message.greatest : meta.greatest;
#endif
        greatests.write(meta.place, meta.greatest);
    }
    // Raise the record first: it covers what the packet's other values do not hold for.
    action record_loss() {
#if defined(LITERAL_RECORD_OF_THE_MINIMUM) || defined(LITERAL_FLAG_WITHOUT_RECORD)
        FOR_EACH_PORT(READ_BARRIER)
        meta.least = MOST_VALUE;
        FOR_EACH_PORT(LEAST_OF)
#endif
        if (meta.noticed == 1
            && AGGREGATE_RECORD(meta.record, NOTICED_RECORD(meta.least, meta.barrier, meta.greatest))) {
            meta.record = NOTICED_RECORD(meta.least, meta.barrier, meta.greatest);
        }
        if (hdr.message.loss_flag == 1
            && AGGREGATE_RECORD(meta.record, PASSED_RECORD(hdr.message.loss_record, meta.least))) {
            meta.record = PASSED_RECORD(hdr.message.loss_record, meta.least);
        }
#if !defined(MUTANT_RECORD_NOT_KEPT)
        records.write(meta.place, meta.record);
#endif
    }
    action ack() {
#if defined(MUTANT_ACK_FROM_DATA_BARRIER)
        meta.ack = REGISTER_ACK(meta.was_ack, meta.barrier);
#else
        meta.ack = REGISTER_ACK(meta.was_ack, hdr.message.ack_barrier);
#endif
        acks.write(meta.place, meta.ack);
    }
    action listen() {
        heard.write(meta.place, SOME_TIME | (moment_t) meta.now);
        first_senders.read(meta.neighbour, meta.place);
        meta.neighbour = meta.neighbour == 0 ? KNOWN | (neighbour_t) hdr.message.sender : meta.neighbour;
        first_senders.write(meta.place, meta.neighbour);
    }
    apply {
        meta.barrier = meta.was_barrier;
        meta.ack = meta.was_ack;
        meta.record = meta.was_record;
        number();
        if (meta.strict == 1) {
#if !defined(MUTANT_INCARNATION_NOT_KEPT)
            if (hdr.message.incarnation > meta.began) {
                incarnation();
            }
#endif
            if (hdr.message.kind == BEACON && meta.neighbour == 0) {
                hosts.apply();
                neighbours.write(meta.place, meta.neighbour);
            }
        }
        if (meta.carries == 1) {
            barrier();
        }
        if (meta.loses == 1) {
            notice_gap();
            if (meta.noticed == 1 || hdr.message.loss_flag == 1) {
                record_loss();
            }
            if (hdr.message.ack_barrier_flag == 1) {
                ack();
            }
        }
        if (meta.listens == 1) {
            listen();
        }
    }
}
