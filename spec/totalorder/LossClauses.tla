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
  /\ \A h \in Host : buffer[h] \subseteq Abstract!Delivery
  /\ \A h \in Host : held[h] \in [barrier : Nat, ack : Nat, gap : BOOLEAN, record : Nat]
  /\ \A s \in Sender, r \in Receiver : acked[s][r] \in To(s, r) \cup {0}
  /\ lost \in 0 .. MostLost

DeliveredInTotalOrder == Abstract!DeliveredInTotalOrder   \* TO-ORDER
DeliveredOnceAsSent == Abstract!DeliveredOnceAsSent       \* TO-ONCE

(* TO-LOSS-SAFE: whatever is lost, what is delivered is delivered once and in order. *)
OrderSurvivesLoss == DeliveredInTotalOrder /\ DeliveredOnceAsSent

(* TO-ACK-MEAN: what is at or below the ack barrier of a link, and can take   *)
(* the link, has been received by its receiver.                               *)
AckBarrierPromiseHolds ==
  \A s \in Sender : \A n \in DOMAIN sent[s] : \A r \in sent[s][n].receivers :
    \A l \in {s, r} : sent[s][n].timestamp <= held[l].ack => Message(s, n) \in Received(r)

(* TO-BAR-RISE: barriers never fall on a link. *)
BarriersNeverFall == [][\A h \in Host : held'[h].barrier >= held[h].barrier]_vars

(* TO-LOSS-SAFE, the part on TO-COMPLETE: what is scattered is delivered in the  *)
(* end.  In a bounded time no barrier passes the last timestamp: it is left out.  *)
ScatteredIsDelivered ==
  \A s \in Sender, r \in Receiver, t \in Time \ {Greatest(Time)} :
    (\E n \in To(s, r) : sent[s][n].timestamp = t)
      ~> (\E i \in DOMAIN delivered[r] : delivered[r][i].sender = s /\ delivered[r][i].timestamp = t)
-----------------------------------------------------------------------------
(* Reachability: TLC must refute each of these. *)

(* A message that was lost is delivered after all, after another of its time. *)
LossMadeGoodReach ==
  \A r \in Receiver : lost = 0 \/ Len(delivered[r]) < 2

(* A receiver delivers by the ack barrier what the barrier would not let pass yet, *)
(* or holds back in the loss state what the barrier would let pass.                *)
HeldBackReach ==
  \A r \in Receiver : held[r].record = 0 \/ buffer[r] = {}
                      \/ First(r).timestamp >= held[r].barrier

(* A loss state ends. *)
LossStateEndsReach == [][\A h \in Host : held[h].record # 0 => held'[h].record # 0]_vars
=============================================================================
