----------------------------- MODULE BeaconPath -----------------------------
(***************************************************************************)
(* BarrierOrder with switches whose beacons go another way than data: a    *)
(* first processor forwards data to the queue of the egress link at once,  *)
(* and a second one aggregates the barriers of beacons; or a proxy host    *)
(* does, to which the switch hands its beacons, and which returns them.    *)
(*                                                                         *)
(* Source: source document 000 (patent text), switch examples 2 and 6,     *)
(* environment B, where nothing orders the two.  What the way to a proxy   *)
(* and back is made of is left out: it takes any time, and is FIFO.        *)
(* Refines TotalOrder.                                                     *)
(***************************************************************************)
EXTENDS Embodiments

CONSTANTS
  Proxied,         \* the switches that hand their beacons to a proxy host
  OnTheWay,        \* OnTheWay[n] is the set of links between switches that lead from n to its proxy
  Enter(_, _),     \* an egress queue after a beacon has come to it
  ComesBack(_),    \* which of the beacons that return from the proxy, by their place, may be next
  Passed(_, _)     \* what a switch on the way holds of a link, from that and a passing barrier

ASSUME BeaconsAlone == Environment = "B"
ASSUME ProxiedAreSwitches == Proxied \subseteq Switch /\ \A n \in Proxied : OnTheWay[n] \subseteq Link

VARIABLES
  queue,     \* queue[l] is what waits in the switch for its egress link l, oldest first
  handed,    \* handed[n] is the sequence of <<link, barrier>> on their way from switch n to its proxy
  returning  \* returning[l] is the sequence of barriers for l on their way back
paths == <<queue, handed, returning>>
pathVars == <<vars, paths>>

ProxiedEgress == {l \in SwitchEgress : l[1] \in Proxied}

PathInit ==
  /\ Init
  /\ queue = [l \in SwitchEgress |-> <<>>]
  /\ handed = [n \in Proxied |-> <<>>]
  /\ returning = [l \in ProxiedEgress |-> <<>>]
-----------------------------------------------------------------------------
Without(s, i) == SubSeq(s, 1, i - 1) \o SubSeq(s, i + 1, Len(s))

(* The greatest barrier told for an egress link, wherever it is. *)
GreatestMade(l) ==
  MaxOver({promised[l]}
            \cup {queue[l][i].barrier : i \in DOMAIN queue[l]}
            \cup (IF l[1] \in Proxied THEN {returning[l][i] : i \in DOMAIN returning[l]} ELSE {}))

(* The first processor takes data, and puts it into the queue of its egress link. *)
TakesData(l) ==
  /\ channel[l] # <<>> /\ IsData(Head(channel[l]))
  /\ LET m == Head(channel[l]) IN
     queue' = [queue EXCEPT ![Onward[<<m.sender, m.receiver>>][l]] = Append(@, m)]
  /\ channel' = [channel EXCEPT ![l] = Tail(@)]
  /\ UNCHANGED <<clock, sent, promised, newest, buffer, delivered, handed, returning>>

(* What has waited longest leaves. *)
Leaves(l) ==
  /\ queue[l] # <<>>
  /\ channel' = [channel EXCEPT ![l] = Append(@, Head(queue[l]))]
  /\ promised' = [promised EXCEPT ![l] = PromisedAfter(@, <<Head(queue[l])>>)]
  /\ queue' = [queue EXCEPT ![l] = Tail(@)]
  /\ UNCHANGED <<clock, sent, newest, buffer, delivered, handed, returning>>

(* Where the link is clear a beacon that is handed over passes the next switch at once.  Behind data it *)
(* would pass later, which is left out: no switch is to take notice of it.                              *)
Clear(l) == queue[l] = <<>> /\ channel[l] = <<>>

(* A beacon is registered by the second processor, or handed over. *)
TakesBeacon(l) ==
  IF l[2] \in Proxied
  THEN /\ channel[l] # <<>> /\ ~ IsData(Head(channel[l]))
       /\ channel' = [channel EXCEPT ![l] = Tail(@)]
       /\ handed' = [handed EXCEPT ![l[2]] = Append(@, <<l, Head(channel[l]).barrier>>)]
       /\ newest' = [k \in Link |->
                      IF k \in OnTheWay[l[2]] /\ Clear(k) THEN Passed(newest[k], Head(channel[l]).barrier)
                      ELSE newest[k]]                                  \* TO-SW-PATH
       /\ UNCHANGED <<clock, sent, promised, buffer, delivered, queue, returning>>
  ELSE TakeBeacon(l) /\ UNCHANGED paths

(* The proxy of switch n registers a beacon. *)
ProxyTakes(n) ==
  /\ handed[n] # <<>>
  /\ newest' = [newest EXCEPT ![Head(handed[n])[1]] = Register(@, Head(handed[n])[2])]
  /\ handed' = [handed EXCEPT ![n] = Tail(@)]
  /\ UNCHANGED <<clock, sent, channel, promised, buffer, delivered, queue, returning>>

(* A beacon with a greater barrier than any is made for l, and goes to the queue, or comes there later. *)
MakesBeacon(l) ==
  LET barrier == SwitchBarrier(l, newest) IN                           \* TO-BAR-MIN
  /\ Reaching[l] # {} /\ barrier > GreatestMade(l)
  /\ IF l[1] \in Proxied
     THEN returning' = [returning EXCEPT ![l] = Append(@, barrier)] /\ UNCHANGED queue
     ELSE queue' = [queue EXCEPT ![l] = Enter(@, Beacon(barrier))] /\ UNCHANGED returning
  /\ UNCHANGED <<vars, handed>>

Returns(l) ==
  /\ \E i \in ComesBack(returning[l]) :                                \* TO-SW-PATH
       /\ queue' = [queue EXCEPT ![l] = Enter(@, Beacon(returning[l][i]))]
       /\ returning' = [returning EXCEPT ![l] = Without(@, i)]
  /\ UNCHANGED <<vars, handed>>

(* All else is as it was. *)
Ticks(h) == Tick(h) /\ UNCHANGED paths
Scatters(h, receivers) == Scatter(h, receivers) /\ UNCHANGED paths
PutsBeacon(l) == HostBeacon(l) /\ UNCHANGED paths
Arrives(l) == Arrive(l) /\ UNCHANGED paths
Delivers(r) == Deliver(r) /\ UNCHANGED paths
Rests == Rest /\ UNCHANGED pathVars

PathProgress ==
  \/ \E h \in Host : Ticks(h) \/ Delivers(h)
  \/ \E l \in HostEgress : PutsBeacon(l)
  \/ \E l \in SwitchIngress : TakesData(l) \/ TakesBeacon(l)
  \/ \E l \in SwitchEgress : MakesBeacon(l) \/ Leaves(l)
  \/ \E n \in Proxied : ProxyTakes(n)
  \/ \E l \in ProxiedEgress : Returns(l)
  \/ \E l \in HostIngress : Arrives(l)
PathNext ==
  \/ PathProgress
  \/ \E h \in Host : \E receivers \in Destinations[h] : Scatters(h, receivers)
  \/ Rests
PathSpec == PathInit /\ [][PathNext]_pathVars
FairPathSpec == PathSpec /\ WF_pathVars(PathProgress)
-----------------------------------------------------------------------------
(* TO-SW-PATH: nothing that comes to a queue passes what waits there, beacons come back in   *)
(* order, and no switch on the way to a proxy takes a barrier that was handed over for its   *)
(* link's own: what it holds of a link changes with what it takes from that link alone.      *)
GoesOn(old, new) ==
  IF Len(new) < Len(old) THEN new = Tail(old) ELSE SubSeq(new, 1, Len(old)) = old
BeaconsNeverOvertakeData ==
  [][/\ \A l \in SwitchEgress : GoesOn(queue[l], queue'[l])
     /\ \A l \in ProxiedEgress : GoesOn(returning[l], returning'[l])
     /\ \A l \in SwitchIngress : l[2] \notin Proxied /\ newest'[l] # newest[l] => channel'[l] # channel[l]
    ]_pathVars

(* TO-SW-2, TO-SW-6 *)
TwoProcessorsBeaconBarriers == Proxied = {} => NothingPassedOver
ProxyHostAggregates == Proxied # {} => NothingPassedOver
-----------------------------------------------------------------------------
(* Reachability: TLC must refute each of these. *)

(* A beacon waits behind data that it covers. *)
BehindDataReach ==
  \A l \in SwitchEgress : \A i, j \in DOMAIN queue[l] :
    i < j /\ IsData(queue[l][i]) /\ ~ IsData(queue[l][j]) => queue[l][j].barrier <= queue[l][i].timestamp

(* Two beacons are on their way back. *)
TwoReturnReach == \A l \in ProxiedEgress : Len(returning[l]) < 2
SomeDeliveryReach == \A r \in Host : Len(delivered[r]) < 1
=============================================================================
