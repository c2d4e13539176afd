// Puts packets on one egress link, as Carrier in impl/totalorder/carrier.py: each with what its kind carries.
//
// Only egress reads and writes these registers, and each entry only packets for one port: BMv2 gives a port's queue
// to one thread, so that numbers, and what was told, follow the order in which packets leave.

register<number_t>(PORTS) out_seqs;           // number of the next packet on the link             TO-LOSSCTR
register<value_t>(PORTS)  told_barriers;      // the barrier last told                             TO-BAR-RISE
register<value_t>(PORTS)  told_acks;          // the ack barrier last told                         TO-ACK-MIN

control EgressLink(inout metadata_t meta, in standard_metadata_t standard) {
    action link(node_t node, incarnation_t incarnation, bit<1> loses, bit<1> every_beacon, bit<1> first_only,
                bit<1> data_barrier, bit<1> data_ack, bit<1> idle, bit<2> kind_0, bit<2> kind_1, tick_t interval,
                links_t counted, links_t told, mac_t mac, bit<32> address) {
        meta.known_egress = 1;
        meta.node = node;
        meta.out_incarnation = incarnation;
        meta.out_loses = loses;
        meta.every_beacon = every_beacon;
        meta.first_only = first_only;
        meta.data_barrier = data_barrier;
        meta.data_ack = data_ack;
        meta.idle = idle;
        meta.kind_0 = kind_0;
        meta.kind_1 = kind_1;
        meta.interval = interval;
        meta.counted = counted;
        meta.told = told;
        meta.mac = mac;
        meta.address = address;
    }
    action unknown() {}
    table egress_link {
        key = { standard.egress_port: exact; }
        actions = { link; unknown; }
        default_action = unknown();
        size = 32;
    }
    apply {
        egress_link.apply();
    }
}

control Carrier(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    Beacon() beacon;

    action read() {
        told_barriers.read(meta.told_barrier, meta.out_place);
        told_acks.read(meta.told_ack, meta.out_place);
    }
    // What the link has been told counts: the second processor may know of acknowledgements that the link does not.
    action by_second_processor() {
        meta.out_barrier = meta.role != FORWARDED && hdr.message.barrier_flag == 1
            ? hdr.message.barrier : meta.told_barrier;
        meta.out_ack = meta.role != FORWARDED && hdr.message.ack_barrier_flag == 1
            ? hdr.message.ack_barrier : meta.told_ack;
        meta.carries_out = hdr.message.ack_barrier_flag ++ hdr.message.barrier_flag;
    }
    // What a packet from host to host carries, besides what it came with.
    action forward() {
        meta.carries_out = hdr.message.kind == DATA && meta.data_barrier == 1
            && MAY_TELL(meta.out_incarnation, meta.out_barrier) ? (bit<2>) 1 : 0;
        meta.carries_out = hdr.message.kind == DATA && meta.data_ack == 1
            && MAY_TELL(meta.out_incarnation, meta.out_ack) ? meta.carries_out | 2 : meta.carries_out;
    }
    action busy() {
        carried_at.write(meta.out_place << 1, SOME_TIME | (moment_t) meta.now);
    }
    // A packet of its own, which this switch makes: each hop makes its own beacons.
    action become_beacon() {
        hdr.ethernet.setValid();
        hdr.ethernet.destination = 0x01005E0000FE;
        hdr.ethernet.source = meta.mac;
        hdr.ethernet.ether_type = ETHER_TYPE_IPV4;
        hdr.ipv4.setValid();
        hdr.ipv4.version = 4;
        hdr.ipv4.header_words = 5;
        hdr.ipv4.service = 0;
        hdr.ipv4.total_length = 100;
        hdr.ipv4.identification = 0;
        hdr.ipv4.fragment = 0;
        hdr.ipv4.time_to_live = 1;
        hdr.ipv4.protocol = PROTOCOL_UDP;
        hdr.ipv4.source = meta.address;
        hdr.ipv4.destination = 0xE00000FE;
        hdr.udp.setValid();
        hdr.udp.source_port = UDP_PORT;
        hdr.udp.destination_port = UDP_PORT;
        hdr.udp.length = 80;
        hdr.message.setValid();
        hdr.message.version = VERSION;
        hdr.message.kind = BEACON;
        hdr.message.unused_flags = 0;
        hdr.message.resent = 0;
        hdr.message.sender = meta.node;
        hdr.message.receiver = 0;
        hdr.message.payload_length = 0;
        hdr.message.number = 0;
        hdr.message.timestamp = 0;
        hdr.inner.setInvalid();
        hdr.duration.setInvalid();
#if !defined(MUTANT_PAYLOAD_ON_BEACONS)
        truncate(FRAME_BYTES);
#endif
    }
    // A beacon that was made earlier knows nothing of the data that have left since: whatever it says of them is
    // written anew.
    action loss() {
        // All that was lost at or below the ack barrier is made good.
        hdr.message.loss_record = meta.in_loss_state == 1 && FLAG_ON(hdr.message.kind) ? meta.out_record : 0;
        hdr.message.loss_flag = hdr.message.loss_record != 0 ? (bit<1>) 1 : 0;
        hdr.message.greatest = meta.out_greatest < hdr.message.loss_record
            ? hdr.message.loss_record : meta.out_greatest;
    }
    // The fields that each hop writes anew. TO-BAR-RISE: whatever the controller lets back in, no link is told less.
    action write() {
        meta.out_barrier = NEVER_BELOW(meta.told_barrier, meta.out_barrier);
        meta.out_ack = NEVER_BELOW(meta.told_ack, meta.out_ack);
#if !defined(MUTANT_BARRIER_KEPT_ON_DATA)
        hdr.message.barrier = BARRIER_IN(meta.carries_out) == 1 ? meta.out_barrier : 0;
#else
        hdr.message.barrier = hdr.message.kind == BEACON && BARRIER_IN(meta.carries_out) == 1
            ? meta.out_barrier : hdr.message.barrier;
#endif
        hdr.message.barrier_flag = BARRIER_IN(meta.carries_out);
        hdr.message.ack_barrier = ACK_IN(meta.carries_out) == 1 ? meta.out_ack : 0;
        hdr.message.ack_barrier_flag = ACK_IN(meta.carries_out);
        meta.told_barrier = BARRIER_IN(meta.carries_out) == 1 ? meta.out_barrier : meta.told_barrier;
        meta.told_ack = ACK_IN(meta.carries_out) == 1 ? meta.out_ack : meta.told_ack;
        told_barriers.write(meta.out_place, meta.told_barrier);
        told_acks.write(meta.out_place, meta.told_ack);
        hdr.message.incarnation = meta.out_incarnation;
#if !defined(MUTANT_CHECKSUM_KEPT)
        hdr.udp.checksum = 0;
#endif
    }
    action number() {
#if !defined(MUTANT_NUMBER_NOT_REWRITTEN)
        out_seqs.read(hdr.message.link_seq, meta.out_place);
        out_seqs.write(meta.out_place, hdr.message.link_seq + 1);
#endif
    }
    apply {
        read();
        if (meta.first_only == 1) {
            by_second_processor();
        }
        meta.in_loss_state = meta.out_loses == 1 && meta.out_record > meta.out_ack ? (bit<1>) 1 : 0;
        meta.leaves = 1;
        if (meta.role == FORWARDED) {
            forward();
#if !defined(MUTANT_NEVER_BUSY)
            if (meta.idle == 1 && hdr.message.kind == DATA) {
                busy();
            }
#endif
        } else {
            if (meta.what != MADE) {
                beacon.apply(meta, standard);
            }
            if (meta.leaves == 1) {
                become_beacon();
            }
        }
        if (meta.leaves == 1) {
            write();
#if defined(LITERAL_BEACONS_LEAVE_AS_MADE)
            if (meta.what != MADE) {
                loss();
            }
#else
            loss();
#endif
            number();
        }
    }
}
