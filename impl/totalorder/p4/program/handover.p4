// Beacons on their way to the proxy host of a switch and back (TO-SW-6), as Handover and ProxiedSwitch in
// impl/totalorder/proxy.py. Switches in between look at the outer message alone (TO-SW-PATH). Where the proxy is the
// switch's own controller, beacons go to it bare, through the CPU port, as to a second processor.

register<value_t>(PORTS) returned_barriers;   // what came back last, for each egress link         TO-SW-PATH
register<value_t>(PORTS) returned_acks;

control Handover(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    node_t switch_of = hdr.message.kind == HANDED ? hdr.message.sender : hdr.message.receiver;
    value_t held = 0;
    value_t held_ack = 0;
    action pass(port_t port) {
        standard.egress_spec = port;
    }
    // It has come back to this switch, which looks whose beacon it is.
    action returned(node_t host) {
        meta.what = MADE;
        meta.refusal = hdr.message.sender == host ? TAKEN : RETURNED_WRONGLY;
    }
    action nowhere() {
        meta.refusal = NO_ROUTE;
    }
    table handover {
        key = {
            hdr.message.kind: exact;
            switch_of: exact @name("switch");
            standard.ingress_port: exact;
        }
        actions = { pass; returned; nowhere; }
        default_action = nowhere();
        size = 128;
    }
    action leaves_at(port_t port) {
        standard.egress_spec = port;
    }
    action wrong() {
        meta.refusal = RETURNED_WRONGLY;
    }
    // For which egress link it came back, by the link's number in the network.
    table returned_to {
        key = { hdr.message.number: exact; }
        actions = { leaves_at; wrong; }
        default_action = wrong();
        size = 32;
    }
    action is_beacon() {}
    // What a beacon carries in this environment.
    table returned_structure {
        key = {
            hdr.inner.barrier_flag: exact;
            hdr.inner.ack_barrier_flag: exact;
        }
        actions = { is_beacon; wrong; }
        default_action = wrong();
        size = 4;
    }
    apply {
        handover.apply();
        if (meta.refusal == 0 && meta.what == MADE) {
            returned_to.apply();
            returned_structure.apply();
            if (meta.refusal == 0) {
                bit<32> place = (bit<32>) standard.egress_spec;
                returned_barriers.read(held, place);
                returned_acks.read(held_ack, place);
                if (OF_THIS_LIFE(hdr.inner.incarnation, meta.incarnation)
                    && ((hdr.inner.barrier_flag == 1 && hdr.inner.barrier < held)
                        || (hdr.inner.ack_barrier_flag == 1 && hdr.inner.ack_barrier < held_ack))) {
                    meta.refusal = RETURNED_WRONGLY;
                }
            }
        }
    }
}

// Once it is taken, what came back is a beacon of this switch; nothing, where it was made from what the switch knew
// ahead of its restart (TO-RESTART).
control Unwrap(inout headers_t hdr, in metadata_t meta, inout standard_metadata_t standard) {
    action become_beacon() {
        hdr.message = hdr.inner;
        hdr.inner.setInvalid();
        hdr.udp.length = 80;
        hdr.ipv4.total_length = 100;
    }
    action nothing() {
        mark_to_drop(standard);
    }
    apply {
        bit<32> place = (bit<32>) standard.egress_spec;
        if (OF_THIS_LIFE(hdr.inner.incarnation, meta.incarnation)) {
            if (hdr.inner.barrier_flag == 1) {
                returned_barriers.write(place, hdr.inner.barrier);
            }
            if (hdr.inner.ack_barrier_flag == 1) {
                returned_acks.write(place, hdr.inner.ack_barrier);
            }
            become_beacon();
        } else {
            nothing();
        }
    }
}

register<number_t>(PORTS) handed_numbers;   // of beacons handed to the second processor           TO-SW-2

// A beacon that was taken goes to the second processor, behind the CPU port, or to the proxy host, with the loss
// record and the greatest timestamp of its link: they have seen the link's data, which beacons alone would not show.
control HandOver(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    // Beacons alone would have gaps in their numbers; and a neighbour that begins anew begins none here.
    action to_second() {
        number_t number;
        handed_numbers.read(number, meta.place);
        handed_numbers.write(meta.place, number + 1);
        hdr.message.link_seq = number;
        hdr.message.incarnation = 0;
        standard.egress_spec = CPU_PORT;
        meta.what = FOR_SECOND;
    }
    action to_proxy(node_t this_switch, node_t host, number_t link, port_t port, mac_t from_mac, mac_t to_mac,
                    bit<32> source, bit<32> destination) {
        hdr.ethernet.source = from_mac;
        hdr.ethernet.destination = to_mac;
        hdr.inner.setValid();
        hdr.inner = hdr.message;
        hdr.inner.incarnation = meta.incarnation;   // so that what is made of it can be told from what was made earlier
        hdr.message.kind = HANDED;
        hdr.message.sender = this_switch;
        hdr.message.receiver = host;
        hdr.message.payload_length = 72;
        hdr.message.number = link;
        hdr.message.barrier_flag = 0;
        hdr.message.barrier = 0;
        hdr.message.ack_barrier_flag = 0;
        hdr.message.ack_barrier = 0;
        hdr.udp.length = 152;
        hdr.ipv4.total_length = 172;
        hdr.ipv4.time_to_live = 64;
        hdr.ipv4.source = source;
        hdr.ipv4.destination = destination;
        standard.egress_spec = port;
    }
    table proxy {
        key = { standard.ingress_port: exact; }
        actions = { to_second; to_proxy; }
        default_action = to_second();
        size = 32;
    }
    apply {
        hdr.message.loss_record = meta.record;
        hdr.message.loss_flag = meta.record != 0 ? (bit<1>) 1 : 0;
        hdr.message.greatest = meta.greatest;
        proxy.apply();
    }
}
