// What the ingress links of one egress link say together, as Combined in impl/totalorder/link_state.py: the least
// barriers, the greatest record, and the greatest timestamp. Computed from the snapshot that came with the packet,
// for the links that can reach the egress link (TO-BAR-PART), whichever egress link it is.

// What an egress link could tell when links were last taken out of minimums, or let in (TO-FAIL).
register<value_t>(PORTS) floors;
register<value_t>(PORTS) ack_floors;

#define COMBINE_BARRIER(i) \
    if (meta.others[i:i] == 1 && AGGREGATE(meta.out_barrier, meta.barrier_##i)) { \
        meta.out_barrier = meta.barrier_##i; \
    }
#define COMBINE_ACK(i) \
    if (meta.others[i:i] == 1 && AGGREGATE_ACK(meta.out_ack, meta.ack_##i)) { \
        meta.out_ack = meta.ack_##i; \
    }
#define COMBINE_LOSS(i) \
    if (meta.others[i:i] == 1 && AGGREGATE_RECORD(meta.out_record, meta.record_##i)) { \
        meta.out_record = meta.record_##i; \
    } \
    if (meta.told[i:i] == 1 && meta.greatest_##i > meta.out_greatest) { \
        meta.out_greatest = meta.greatest_##i; \
    }

control Combined(inout metadata_t meta) {
    action among_others() {
        meta.counted = COUNTED(meta.counted, meta.all_links);
        meta.others = meta.counted & ~meta.arrived;
        meta.takes_part = (meta.counted & meta.arrived) != 0 ? (bit<1>) 1 : 0;
        meta.out_barrier = MOST_VALUE;
        meta.out_ack = MOST_VALUE;
        meta.out_record = 0;
        meta.out_greatest = 0;
        meta.moved = 0;
    }
    // Then with the link that the packet came from, before it came and after: whether that made a difference.
    action combine_barriers() {
        FOR_EACH_PORT(COMBINE_BARRIER)
        if (meta.takes_part == 1) {
            meta.before = meta.out_barrier;
            if (AGGREGATE(meta.before, meta.was_barrier)) {
                meta.before = meta.was_barrier;
            }
            if (AGGREGATE(meta.out_barrier, meta.barrier)) {
                meta.out_barrier = meta.barrier;
            }
            if (meta.before != meta.out_barrier) {
                meta.moved = 1;
            }
        }
    }
    action combine_acks() {
        FOR_EACH_PORT(COMBINE_ACK)
        if (meta.takes_part == 1) {
            meta.before = meta.out_ack;
            if (AGGREGATE_ACK(meta.before, meta.was_ack)) {
                meta.before = meta.was_ack;
            }
            if (AGGREGATE_ACK(meta.out_ack, meta.ack)) {
                meta.out_ack = meta.ack;
            }
            if (meta.before != meta.out_ack) {
                meta.moved = 1;
            }
        }
    }
    action combine_loss() {
        FOR_EACH_PORT(COMBINE_LOSS)
        if (meta.takes_part == 1) {
            meta.before = meta.out_record;
            if (AGGREGATE_RECORD(meta.before, meta.was_record)) {
                meta.before = meta.was_record;
            }
            if (AGGREGATE_RECORD(meta.out_record, meta.record)) {
                meta.out_record = meta.record;
            }
            if (meta.before != meta.out_record) {
                meta.moved = 1;
            }
        }
    }
    // Nobody vouches for a link that no ingress link is counted for: it promises nothing but what it could before.
    action with_floor() {
        floors.read(meta.floor, meta.out_place);
        ack_floors.read(meta.floor_ack, meta.out_place);
        meta.out_barrier = meta.out_barrier == MOST_VALUE ? meta.floor : NEVER_BELOW(meta.floor, meta.out_barrier);
        meta.out_ack = meta.out_ack == MOST_VALUE ? meta.floor_ack : NEVER_BELOW(meta.floor_ack, meta.out_ack);
    }
    apply {
        among_others();
        if (meta.out_loses == 1) {
            combine_loss();
        }
        // What a packet does not carry is not asked for; without a loss record there is no loss state.
        if (meta.role != FORWARDED || meta.data_barrier == 1) {
            combine_barriers();
        }
        if (meta.out_loses == 1 && (meta.role != FORWARDED || meta.data_ack == 1 || meta.out_record != 0)) {
            combine_acks();
        }
        with_floor();
    }
}

// The controller is about to take links out of minimums, or to let some in: what could be told stays told. Where no
// link is left to be counted, nothing comes that could be promised wrongly, and the clock is told (TO-FAIL).
control Settle(inout metadata_t meta) {
    apply {
        if (meta.counted == 0 && meta.clock > 0) {
            meta.floor = meta.clock > meta.out_barrier ? meta.clock : meta.out_barrier;
            meta.floor_ack = meta.clock - 1 > meta.out_ack ? meta.clock - 1 : meta.out_ack;
        } else {
            meta.floor = meta.out_barrier;
            meta.floor_ack = meta.out_ack;
        }
        floors.write(meta.out_place, meta.floor);
        ack_floors.write(meta.out_place, meta.floor_ack);
    }
}
