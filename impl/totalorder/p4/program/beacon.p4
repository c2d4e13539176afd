// Whether a beacon leaves an egress link now, as _offer of ReliableSwitch and news of Carrier in impl/totalorder do:
// when it says something new, and nothing made it needless for the interval. One that must wait is held back, and the
// controller is told until when.

register<moment_t>(2 * PORTS) carried_at;   // when a packet last made a beacon needless, a kind     TO-ENV-C
register<moment_t>(2 * PORTS) held_until;   // when a beacon that waits is looked at, a kind         TO-BEACON-MIN

#define BARRIER_IN(kind) kind[0:0]
#define ACK_IN(kind) kind[1:1]

control Beacon(inout metadata_t meta, inout standard_metadata_t standard) {
    // Whether the beacon says what was not said yet, and whether it may leave. In the loss state every one counts as
    // news: the one that ends it may be lost, too.
    action consider() {
        meta.timer = (meta.out_place << 1) | (meta.role == BEACON_1 ? 32w1 : 0);
        meta.carries_out = meta.role == BEACON_1 ? meta.kind_1 : meta.kind_0;
        carried_at.read(meta.carried_at, meta.timer);
        held_until.read(meta.held_until, meta.timer);
        meta.news = (BARRIER_IN(meta.carries_out) == 1 && RISEN(meta.out_barrier, meta.told_barrier))
            || (ACK_IN(meta.carries_out) == 1 && RISEN(meta.out_ack, meta.told_ack))
            || meta.in_loss_state == 1 || meta.every_beacon == 1 ? (bit<1>) 1 : 0;
#if defined(LITERAL_BEACONS_JUDGED_BY_WHAT_CAME)
        // The document's rule asks what came, not what it comes to.
        meta.news = meta.what != TRIGGER && meta.barrier != meta.out_barrier ? 0 : meta.news;
#endif
        meta.news = (BARRIER_IN(meta.carries_out) == 1 && !MAY_TELL(meta.out_incarnation, meta.out_barrier))
            || (ACK_IN(meta.carries_out) == 1 && !MAY_TELL(meta.out_incarnation, meta.out_ack)) ? 0 : meta.news;
        meta.waited = meta.now - (tick_t) meta.carried_at;
        meta.is_due = meta.carried_at == 0 || BEACON_DUE(meta.waited, meta.interval) ? (bit<1>) 1 : 0;
        // Before that moment there is nothing to look for, and the controller knows of it.
        meta.waited = meta.now - (tick_t) meta.held_until;
        meta.waits = meta.held_until != 0 && meta.waited[47:47] == 1 ? (bit<1>) 1 : 0;
    }
    action leave() {
        meta.leaves = 1;
        meta.held_tick = meta.now + meta.interval;
    }
    action stay() {
        meta.held_tick = (tick_t) meta.carried_at + meta.interval;
        mark_to_drop(standard);
    }
    action carried() {
        carried_at.write(meta.timer, SOME_TIME | (moment_t) meta.now);
    }
    action hold() {
        held_until.write(meta.timer, SOME_TIME | (moment_t) meta.held_tick);
        meta.held_timer = (wide_port_t) meta.timer;
        clone_preserving_field_list(CloneType.E2E, CPU_SESSION, 1);
    }
    action release() {
        held_until.write(meta.timer, 0);
    }
    apply {
        meta.leaves = 0;
        consider();
        if (meta.what != TRIGGER && (meta.moved == 0 || meta.waits == 1)) {
            stay();
        } else {
            if (meta.news == 1 && meta.is_due == 1) {
                leave();
            } else {
                stay();
            }
            if (meta.every_beacon == 0) {
                if (meta.leaves == 1) {
                    carried();
                }
                if (meta.news == 1 && (meta.leaves == 0 || meta.in_loss_state == 1)) {
                    hold();
                } else if (meta.what == TRIGGER) {
                    release();
                }
            }
        }
    }
}
