---------------------------- MODULE BeaconFilter ----------------------------
(***************************************************************************)
(* BarrierOrder where a switch makes a beacon only of a beacon that comes  *)
(* in, at once, on every egress link that it can reach, and forwards some  *)
(* of them alone.                                                          *)
(*                                                                         *)
(* Source: source document 000 (patent text), environment B, paragraph 6,  *)
(* environment C, paragraph 5.  Refines TotalOrder.                        *)
(***************************************************************************)
EXTENDS Embodiments

CONSTANT Forwards(_, _, _)  \* whether a beacon goes on, from the barrier that came in,
                            \* the minimum, and the barrier last told on the egress link

Onto(l) == {k \in SwitchEgress : l \in Reaching[k]}

(* A switch registers a beacon's barrier and forwards the beacon, with the minimum in it. *)
FiltersBeacon(l) ==
  LET m == Head(channel[l])
      held == Registered(l, m)
      onward == {k \in Onto(l) : Forwards(m.barrier, SwitchBarrier(k, held), promised[k])} \* TO-BEACON-MIN
  IN
  /\ channel[l] # <<>> /\ ~ IsData(m)
  /\ newest' = held
  /\ channel' = [k \in Link |->
                  IF k = l THEN Tail(channel[k])
                  ELSE IF k \in onward THEN Append(channel[k], Beacon(SwitchBarrier(k, held)))
                  ELSE channel[k]]
  /\ promised' = [k \in Link |-> IF k \in onward THEN SwitchBarrier(k, held) ELSE promised[k]]
  /\ UNCHANGED <<clock, sent, buffer, delivered>>

FilterProgress ==
  \/ \E h \in Host : Tick(h) \/ Deliver(h)
  \/ \E l \in HostEgress : HostBeacon(l)
  \/ \E l \in SwitchIngress : ForwardData(l) \/ FiltersBeacon(l)
  \/ \E l \in HostIngress : Arrive(l)
FilterNext ==
  \/ FilterProgress
  \/ \E h \in Host : \E receivers \in Destinations[h] : Scatter(h, receivers)
  \/ Rest
FilterSpec == Init /\ [][FilterNext]_vars /\ WF_vars(FilterProgress)
-----------------------------------------------------------------------------
(* TO-BEACON-MIN: a beacon that goes on tells more than the last one. *)
BeaconsWithNewMinimumOnly ==
  [][\A l \in SwitchEgress : \A i \in Added(l) :
       ~ IsData(channel'[l][i]) => channel'[l][i].barrier > promised[l]]_vars

(* No barrier ever comes out of a switch.  It holds where a rule swallows them all. *)
NothingForwarded == \A l \in SwitchEgress : promised[l] = 0

(* An action constraint: the hosts tell 1, 2, 3, ... in turn, each once the last has been taken. *)
InTurn ==
  LET greatest == MaxOver({promised[l] : l \in HostEgress}) IN
  \A l \in HostEgress :
    promised'[l] # promised[l] =>
      /\ promised'[l] = greatest + 1
      /\ greatest = 0 \/ promised[l] # greatest
      /\ \A k \in HostEgress : channel[k] = <<>>
=============================================================================
