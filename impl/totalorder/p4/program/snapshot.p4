// The registers of all ingress links, as they are in this moment, taken along to egress: a packet says what was true
// when it was taken, however long it waits in a queue, and a beacon is never ahead of data that came before it
// (TO-SW-PATH).

#define SNAPSHOT_BARRIER(i) barriers.read(meta.barrier_##i, i);
#define SNAPSHOT_LOSS(i) acks.read(meta.ack_##i, i); records.read(meta.record_##i, i); \
    greatests.read(meta.greatest_##i, i);

control Snapshot(inout metadata_t meta) {
    action of_barriers() {
        FOR_EACH_PORT(SNAPSHOT_BARRIER)
    }
    action of_loss() {
        FOR_EACH_PORT(SNAPSHOT_LOSS)
    }
    apply {
        of_barriers();
        if (meta.loses == 1) {
            of_loss();
        }
    }
}
