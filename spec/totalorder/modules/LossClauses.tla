----------------------------- MODULE LossClauses -----------------------------
(***************************************************************************)
(* What LossOrder must keep, a clause an operator under the clause's name;  *)
(* that it refines TotalOrder; and what TLC must refute, so that no         *)
(* instance is empty.                                                       *)
(***************************************************************************)
EXTENDS LossOrder
-----------------------------------------------------------------------------
Abstract == INSTANCE TotalOrder
RefinesTotalOrder == Abstract!Spec

TypeOK ==
  /\ Abstract!TypeOK
  /\ clock \in [Sender -> Time]
  /\ \A h \in Host : buffer[h] \subseteq Abstract!Delivery /\ flagged[h] \subseteq buffer[h]
  /\ \A l \in Link :
       held[l] \in [barrier : Nat, ack : Nat, record : Nat, carried : Nat, greatest : Nat, gap : BOOLEAN]
  /\ \A l \in Link \ Slow : channel[l] = <<>>
  /\ lost \in 0 .. MostLost /\ restarts \in 0 .. MostRestarts

DeliveredInTotalOrder == Abstract!DeliveredInTotalOrder   \* TO-ORDER
DeliveredOnceAsSent == Abstract!DeliveredOnceAsSent       \* TO-ONCE

(* TO-LOSS-SAFE: whatever is lost, what is delivered is delivered once and in order. *)
OrderSurvivesLoss == DeliveredInTotalOrder /\ DeliveredOnceAsSent

(* TO-BAR-RISE: what is held of a link never falls, but for the restart of who holds it. *)
BarriersNeverFall ==
  [][\A l \in Link : restarts' = restarts =>
       held'[l].barrier >= held[l].barrier /\ held'[l].ack >= held[l].ack]_vars
-----------------------------------------------------------------------------
BarrierAt(r) == Barrier(held, Ingress[r])
AckAt(r) == Ack(held, Ingress[r])
RecordAt(r) == Record(held, Ingress[r])

(* The messages that have left for r, as triples <<s, r, n>>. *)
Left(s, r) == {n \in To(s, r) : ~ (n = Len(sent[s]) /\ \E i \in DOMAIN pending[s] : pending[s][i] = r)}
Unreceived == {<<s, r, n>> \in Sender \X Receiver \X (1 .. Greatest({MostSent[s] : s \in Sender})) :
                 n \in Left(s, r) /\ Message(s, n) \notin Received(r)}
TimestampOf(c) == sent[c[1]][c[3]].timestamp
Takes(c, l) == <<c[1], c[2]>> \in Over[l]

(* The links of a message's route from link l on. *)
From(c, l) ==
  LET route == Route[<<c[1], c[2]>>]
      here == CHOOSE i \in DOMAIN route : route[i] = l
  IN  {route[i] : i \in here .. Len(route)}

(* TO-ACK-MEAN: what is at or below the ack barrier of a link, and can take   *)
(* the link, has been received by its receiver.                               *)
AckBarrierPromiseHolds ==
  \A c \in Unreceived : \A l \in Link : Takes(c, l) => TimestampOf(c) > held[l].ack

(* TO-SEQ: the messages of a pair are numbered one by one. *)
MessageNumbersConsecutive ==
  \A p \in DOMAIN Route :
    {PairNumber(p[1], p[2], n) : n \in To(p[1], p[2])} = 1 .. Cardinality(To(p[1], p[2]))

(* TO-DUPACK: a sender that knows a number knows of every one up to it.       *)
AcknowledgementsCumulative ==
  \A c \in Unreceived : c[3] > acked[<<c[1], c[2]>>]

(* TO-ACK-INIT: the ack barrier of a sender is strictly below what is outstanding. *)
AckBarrierBelowOutstanding ==
  \A p \in DOMAIN Route : \A n \in Outstanding(p[1], p[2]) :
    n \in Left(p[1], p[2]) => held[Route[p][1]].ack < sent[p[1]][n].timestamp

(* TO-ACK-MIN: no more than the least of the links that count is told. *)
SwitchAckBarrierIsMinimum ==
  restarts = 0 => \A l \in SwitchEgress : \A k \in Reaching[l] : held[l].ack <= held[k].ack

(* TO-RETX-BAR: what a resent message says is not below what its link has heard. *)
ResentCarriesCurrentBarrier ==
  \A p \in DOMAIN Route : \A n \in Outstanding(p[1], p[2]) :
    pending[p[1]] = <<>> => ResentBarrier(sent[p[1]][n].timestamp, clock[p[1]]) >= held[Route[p][1]].barrier

(* TO-LASTHOP, and the heart of it all: what is missing at a receiver below   *)
(* its barrier is at or below its record.                                     *)
ReceiverNoticesLoss ==
  \A c \in Unreceived :
    TimestampOf(c) < BarrierAt(c[2]) => TimestampOf(c) <= RecordAt(c[2])

(* TO-FLAG-SW: what is missing below the barrier of an egress link of a       *)
(* switch is at or below its record, or was lost further on.                  *)
SwitchSetsLossFlag ==
  \A c \in Unreceived : \A l \in {k \in SwitchEgress : Takes(c, k)} :
    \/ TimestampOf(c) >= Barrier(held, Reaching[l])
    \/ TimestampOf(c) <= Record(held, Reaching[l])
    \/ \E k \in From(c, l) : held[k].gap \/ channel[k] # <<>> \/ TimestampOf(c) <= Record(held, {k})

(* TO-SWLOSS: when a gap of a sender's link is noticed, what is lost there is at or below the record. *)
SwitchNoticesLoss ==
  [][\A l \in HostEgress : held[l].gap /\ ~ held'[l].gap =>
       \A c \in Unreceived : Takes(c, l) => TimestampOf(c) <= Max(held'[l].record, held'[l].ack)]_vars

(* TO-LOSSCTR: a link with a gap that was not noticed tells nothing. *)
LossCounterSpansLink ==
  [][\A l \in Link : held[l].gap /\ held'[l].gap /\ restarts' = restarts =>
       held'[l].barrier = held[l].barrier /\ held'[l].ack = held[l].ack]_vars

(* TO-FLAG-BEACON: whatever raises the barrier of a link brings the record of its source. *)
BeaconsCarryLossFlag ==
  [][\A l \in SwitchEgress \ Slow : held'[l].barrier > held[l].barrier =>
       Record(held', Reaching[l]) <=
         Greatest({Record(held', {l}), Ack(held', Reaching[l]), Ack(held', Ingress[l[2]])})]_vars

(* TO-FLAG-RX: in the loss state the ack barrier alone is what is delivered by. *)
FlaggedDeliverAtAckBarrier ==
  [][\A r \in Receiver : delivered'[r] # delivered[r] =>
       LET t == Last(delivered'[r]) IN
       t <= AckAt(r) \/ (RecordAt(r) <= AckAt(r) /\ t < BarrierAt(r))]_vars

(* TO-BEACON-MIN: a packet that is withheld would have said nothing new. *)
BeaconsWithNewMinimumOnly ==
  [][\A l \in SwitchEgress : told'[l] # told[l] /\ restarts' = restarts =>
       IsNews(told[l], told'[l])]_vars
-----------------------------------------------------------------------------
(* Environment E, as far as registers show what packets carried. *)
ByData == sent' # sent \/ pending' # pending
SameAcks == \A l \in Link : held'[l].ack = held[l].ack
SameBarriers == \A l \in Link : held'[l].barrier = held[l].barrier
NothingNew == UNCHANGED <<sent, pending, buffer, delivered, lost, restarts>>

(* The first and the last are about the instance, of every state as TLC wants it. *)
StructureAllOnData ==                                                                \* TO-FMT-5
  lost <= MostLost => BeaconKinds = {} /\ BarrierOn = {"data"} /\ AckOn = {"data"}
StructureAckBarrierOnBeacon ==                                                       \* TO-FMT-6
  [][(ByData => SameAcks) /\ (~ SameAcks => restarts' # restarts \/ SameBarriers)]_vars
StructureTwoBeacons ==                                                               \* TO-FMT-7
  [][(ByData => SameAcks /\ SameBarriers) /\ (SameAcks \/ SameBarriers \/ restarts' # restarts)]_vars
StructureOneBeacon == [][ByData => SameAcks /\ SameBarriers]_vars                    \* TO-FMT-8
StructureAllOnDataAndIdleBeacons ==                                                  \* TO-FMT-9
  lost <= MostLost => BeaconKinds = {"beacon"} /\ BarrierOn = {"data", "beacon"} /\ AckOn = BarrierOn
-----------------------------------------------------------------------------
(***************************************************************************)
(* Clocks go on, links carry, what is not acknowledged is sent again,       *)
(* answers come, beacons are sent, receivers deliver: weak fairness of all  *)
(* of it together, which asks for less than fairness of each.  It is        *)
(* spelled out, as TLC evaluates ENABLED slowly here; that Resting is where *)
(* Progress is not enabled is checked: StuckIsResting, as there is no       *)
(* deadlock, and RestingIsStuck.  Losses end, as they are bounded.          *)
(*                                                                         *)
(* With bounded time, losses and restarts a fair behaviour comes to rest,   *)
(* done or not, so that what must happen in the end is an invariant of the  *)
(* states of rest, of which TLC finds shortest counterexamples.             *)
(***************************************************************************)
FairSpec == Spec /\ ([]<>Resting \/ []<><<Progress>>_vars)
StuckIsResting == Resting /\ UNCHANGED vars   \* for Rest
RestingIsStuck == [][Resting => sent' # sent \/ restarts' # restarts]_vars

(* TO-RETX: what is sent is received in the end, and TO-LOSS-SAFE, the part on TO-COMPLETE: delivered. *)
LostIsResent ==
  \A p \in DOMAIN Route, t \in Stamps :
    (\E n \in To(p[1], p[2]) : sent[p[1]][n].timestamp = t)
      ~> (\E m \in Received(p[2]) : m.sender = p[1] /\ m.timestamp = t)
ScatteredIsDelivered ==
  \A p \in DOMAIN Route, t \in Stamps :
    (\E n \in To(p[1], p[2]) : sent[p[1]][n].timestamp = t)
      ~> (\E m \in Done(p[2]) : m.sender = p[1] /\ m.timestamp = t)

(* The loss state ends; and TO-ACK-IDLE: the ack barriers of idle senders go up to the end of time. *)
LossStateEnds == <>[](\A r \in Receiver : RecordAt(r) <= AckAt(r))
IdleAckBarrierRises == <>(\A l \in HostEgress : held[l].ack >= Greatest(Time) - 1)

(* The same as invariants of the states of rest, of which TLC finds shortest counterexamples. *)
RestedIsReceived == Resting => Unreceived = {}
RestedIsDelivered ==
  Resting => \A p \in DOMAIN Route : \A n \in To(p[1], p[2]) : Message(p[1], n) \in Done(p[2])
RestedWithoutLoss == Resting => \A r \in Receiver : RecordAt(r) <= AckAt(r)
RestedWithAckBarriers == Resting => \A l \in HostEgress : held[l].ack >= Greatest(Time) - 1
-----------------------------------------------------------------------------
(* Reachability: TLC must refute each of these. *)

(* Two messages are delivered though a packet was lost. *)
LossMadeGoodReach == \A r \in Receiver : lost = 0 \/ Len(delivered[r]) < 2

(* The loss state holds back a message that the barrier would let pass. *)
HeldBackReach ==
  \A r \in Receiver : buffer[r] = {} \/ CanDeliver(r) \/ First(r).timestamp >= BarrierAt(r)

(* A loss state ends. *)
LossStateEndsReach == [][\A l \in Link : held[l].record # 0 => held'[l].record # 0]_vars

(* A message is delivered by the ack barrier that the barrier would not let pass. *)
DeliveredByAckReach ==
  [][\A r \in Receiver : delivered'[r] # delivered[r] => Last(delivered'[r]) < BarrierAt(r)]_vars

(* A loss state begins while another lasts, on another link. *)
SecondLossReach == ~ \E k, l \in Link : k # l /\ held[k].record # 0 /\ held[l].record # 0

(* A switch holds a record that came in a packet, below the greatest timestamp that it was told. *)
RecordBelowGreatestReach ==
  \A k \in SwitchEgress : k[2] \in Switch => held[k].record \in {0, held[k].greatest}

(* Everything that was sent is delivered, after a restart. *)
RestartedReach == restarts = 0 \/ \E p \in DOMAIN Route : To(p[1], p[2]) = {} \/ delivered[p[2]] = <<>>
=============================================================================
