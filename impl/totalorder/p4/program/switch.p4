// A switch of the total-order service, for v1model: it forwards data and aggregates the barriers of its ingress links.
//
//   links ─> PacketParser ─> WellFormed ─> CheckLink ─> Onward, Handover ─> TakeLink ─┐    refused: counted, dropped
//                                                                                     ├─> Snapshot ─> queues: of one
//   controller ───────────────────────────────────────────────────> FromController ───┘        │      port, or of a
//                                                                                              │      multicast group
//   ┌──────────────────────────────────────────────────────────────────────────────────────────┘
//   ├──> EgressLink ─> Combined ─> Carrier ─> ComputeIpv4 ─> PacketDeparser ─> links
//   └──> ToController ────────────────────────────────────> PacketDeparser ─> controller
//
// Ingress holds what is known of ingress links, egress what was told on egress links; between them goes a snapshot.
// So a packet is taken in one step, by one thread, and no beacon overtakes data (TO-SW-PATH).
//
// -DPORTS=16 for 16 ports. -DLITERAL_..., -DMUTANT_...: rules.p4. -DCLOCK_IN_FRAME: below.

#include <core.p4>
#include <v1model.p4>

#include "ports.p4"
#include "metadata.p4"
#include "headers.p4"
#include "rules.p4"
#include "parser.p4"
#include "well_formed.p4"
#include "link_states.p4"
#include "snapshot.p4"
#include "onward.p4"
#include "handover.p4"
#include "controller.p4"
#include "combined.p4"
#include "beacon.p4"
#include "carrier.p4"
#include "deparser.p4"

// In simulated runs time is the harness's own: it comes with the frame, so that runs on any target can be compared.
#if defined(CLOCK_IN_FRAME)
#define NOW (hdr.packet_out.isValid() ? (tick_t) hdr.packet_out.clock : hdr.ethernet.source)
#else
#define NOW standard.ingress_global_timestamp
#endif

counter(16, CounterType.packets) refusals;   // by reason, see metadata.p4

control SwitchIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    IngressLink()    ingress_link;
    FromEgress()     from_egress;
    FromController() from_controller;
    WellFormed()     well_formed;
    CheckLink()      check_link;
    Handover()       handover;
    Onward()         onward;
    TakeLink()       take_link;
    Unwrap()         unwrap;
    HandOver()       hand_over;
    Snapshot()       snapshot;
    Replicate()      replicate;

    action refuse() {
        refusals.count((bit<32>) meta.refusal);
        mark_to_drop(standard);
    }
    action tell_of_new_host() {
        standard.egress_spec = CPU_PORT;
        meta.what = BEGAN_ANEW;
    }
    action nowhere() {
        mark_to_drop(standard);
    }
    // Where the sending port's queue is with the controller, a message waits there: how long is not for a program to
    // say.
    action queue() {
        meta.place = (bit<32>) standard.egress_spec;
        meta.what = QUEUED;
        standard.egress_spec = CPU_PORT;
    }

    apply {
        if (hdr.packet_in.isValid()) {
            from_egress.apply(hdr, meta, standard);
            exit;
        }
        meta.now = NOW;
        ingress_link.apply(meta, standard);
#if defined(MUTANT_STALE_SNAPSHOT)
        snapshot.apply(meta);
#endif
        if (hdr.packet_out.isValid()) {
            from_controller.apply(hdr, meta, standard);
        } else {
            meta.place = (bit<32>) standard.ingress_port;
            if (meta.refusal == TAKEN) {
                well_formed.apply(hdr, meta, standard);
                if (meta.refusal == TAKEN && meta.from_host == 1 && hdr.message.incarnation != 0) {
                    meta.refusal = HOST_ANEW;
                }
            }
            if (meta.refusal == TAKEN) {
                check_link.apply(hdr, meta);
            }
            if (meta.refusal == TAKEN) {
                if (hdr.message.kind == HANDED || hdr.message.kind == RETURNED) {
                    handover.apply(hdr, meta, standard);
                } else if (hdr.message.kind != BEACON) {
                    onward.apply(hdr, meta, standard);
                }
            }
            if (meta.refusal == TAKEN) {
                take_link.apply(hdr, meta);
                if (hdr.message.kind == BEACON) {
                    if (meta.splits == 1) {
                        hand_over.apply(hdr, meta, standard);
                    } else {
                        meta.group = meta.beacon_group;
                        nowhere();
                    }
                } else if (meta.what == MADE) {
                    unwrap.apply(hdr, meta, standard);
                }
                meta.waiting = standard.egress_spec < PORTS ? meta.queues : 0;
#if defined(LITERAL_BEACON_OVERTAKES_DATA)
                meta.waiting = hdr.message.kind == BEACON ? 0 : meta.waiting;
#endif
            } else {
                refuse();
                if (meta.refusal == HOST_ANEW) {
                    tell_of_new_host();
                }
            }
        }
        if (meta.waiting == 1) {
            queue();
        }
#if !defined(MUTANT_STALE_SNAPSHOT)
        snapshot.apply(meta);
#endif
        replicate.apply(meta, standard);
    }
}

control SwitchEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    EgressLink()   egress_link;
    Combined()     combined;
    Settle()       settle;
    Carrier()      carrier;
    ToController() to_controller;

    action nothing() {
        mark_to_drop(standard);
    }

    apply {
        if (standard.egress_port == CPU_PORT) {
            to_controller.apply(hdr, meta, standard);
        } else {
            meta.out_place = (bit<32>) standard.egress_port;
            meta.role = meta.what == MADE ? BEACON_0 : (bit<2>) standard.egress_rid;
            egress_link.apply(meta, standard);
            if (meta.known_egress == 1) {
                combined.apply(meta);
                if (meta.what == SETTLE) {
                    settle.apply(meta);
                    nothing();
                } else {
                    carrier.apply(hdr, meta, standard);
                }
            } else {
                nothing();
            }
        }
    }
}

V1Switch(PacketParser(), VerifyIpv4(), SwitchIngress(), SwitchEgress(), ComputeIpv4(), PacketDeparser()) main;
