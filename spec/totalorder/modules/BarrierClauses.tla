--------------------------- MODULE BarrierClauses ---------------------------
(***************************************************************************)
(* What BarrierOrder must keep, a clause an operator under the clause's    *)
(* name; that it refines TotalOrder; and what TLC must refute, so that no  *)
(* instance is empty.                                                      *)
(***************************************************************************)
EXTENDS BarrierOrder
-----------------------------------------------------------------------------
Abstract == INSTANCE TotalOrder
RefinesTotalOrder == Abstract!Spec

TypeOK ==
  /\ Abstract!TypeOK
  /\ clock \in [Host -> Time \cup {0}]
  /\ DOMAIN channel = Link
  /\ promised \in [Link -> Nat]
  /\ newest \in [Link -> Nat]
  /\ \A h \in Host : \A i \in DOMAIN buffer[h] : buffer[h][i] \in Abstract!Delivery

InFlight(l) == {channel[l][i] : i \in DOMAIN channel[l]}

(* TO-SCATTER: every copy of a scattering bears the scattering's timestamp. *)
OneTimestampPerScattering ==
  LET AsScattered(m) == m.timestamp = sent[m.sender][m.number].timestamp IN
  /\ \A l \in Link : \A m \in InFlight(l) : IsData(m) => AsScattered(m)
  /\ \A h \in Host : \A i \in DOMAIN buffer[h] : AsScattered(buffer[h][i])
  /\ \A h \in Host : \A i \in DOMAIN delivered[h] : AsScattered(delivered[h][i])

TimestampsRise == Abstract!TimestampsRise                 \* TO-MONO
DeliveredInTotalOrder == Abstract!DeliveredInTotalOrder   \* TO-ORDER
ReceiversAgree == Abstract!ReceiversAgree                 \* follows from TO-ORDER
DeliveredOnceAsSent == Abstract!DeliveredOnceAsSent       \* TO-ONCE

(* TO-BAR-LINK: after a barrier no data message strictly below it follows on the link. *)
BarrierPromiseHolds ==
  \A l \in Link : \A j \in DOMAIN channel[l] :
    IsData(channel[l][j]) =>
      /\ newest[l] <= channel[l][j].timestamp
      /\ \A i \in 1 .. j - 1 : channel[l][i].barrier <= channel[l][j].timestamp

(* TO-BAR-RISE: barriers never fall on a link. *)
BarriersNeverFall ==
  \A l \in Link : \A j \in DOMAIN channel[l] :
    channel[l][j].barrier # Absent =>
      /\ newest[l] <= channel[l][j].barrier
      /\ \A i \in 1 .. j - 1 : channel[l][i].barrier <= channel[l][j].barrier

(* TO-DELIVER: what is delivered is strictly below the newest barrier of every ingress link. *)
DeliverBelowBarrier ==
  \A r \in Host : \A i \in DOMAIN delivered[r] : \A l \in Ingress[r] :
    delivered[r][i].timestamp < newest[l]

(* The places of what a step has put on link l. *)
Added(l) == Len(channel[l]) + 1 .. Len(channel'[l])

(* TO-BAR-HOST: a host's barrier is the timestamp on data, and on beacons the  *)
(* greater of its clock and its last timestamp, or what it promised, where its *)
(* clock has fallen.  No timestamp given later is strictly below a promise.    *)
HostBarrierIsItsPromise ==
  [][\A l \in HostEgress : \A i \in Added(l) :
       LET m == channel'[l][i]  h == l[1] IN
       IF IsData(m) THEN m.barrier \in {Absent, m.timestamp} /\ m.timestamp >= Promised(h)
       ELSE m.barrier = MaxOver({clock[h], Last(h), Promised(h)})]_vars

(* TO-BAR-MIN: a switch's barrier is at or below the newest barrier of every  *)
(* link that reaches the egress link, and is the newest barrier of some link. *)
SwitchBarrierIsMinimum ==
  [][\A l \in SwitchEgress : \A i \in Added(l) :
       LET b == channel'[l][i].barrier IN
       b # Absent => /\ \A k \in Reaching[l] : b <= newest'[k]
                     /\ \E k \in Ingress[l[1]] : b = newest'[k]]_vars

(* TO-BAR-PART: no link from which no data can reach the egress link holds the barrier down. *)
OnlyReachingLinksCount ==
  [][\A l \in SwitchEgress : \A i \in Added(l) :
       LET b == channel'[l][i].barrier IN
       b # Absent => \E k \in Reaching[l] : newest'[k] <= b]_vars

(* TO-ENV-A: barriers travel in data messages only, and in all of them. *)
BarriersOnDataOnly ==
  Environment = "A" => \A l \in Link : \A m \in InFlight(l) : IsData(m) /\ m.barrier # Absent

(* TO-ENV-B: barriers travel in beacons only. *)
BarriersOnBeaconsOnly ==
  Environment = "B" => \A l \in Link : \A m \in InFlight(l) : IsData(m) => m.barrier = Absent

(* TO-COMPLETE: what has arrived is delivered in the end.  In a bounded time   *)
(* no barrier passes the last timestamp, so that it is left out.               *)
Holds(queue, h, t) == \E i \in DOMAIN queue : queue[i].sender = h /\ queue[i].timestamp = t
ArrivedIsDelivered ==
  \A r \in Host, h \in Host, t \in Time \ {MaxOver(Time)} :
    Holds(buffer[r], h, t) ~> Holds(delivered[r], h, t)
-----------------------------------------------------------------------------
(* Reachability: TLC must refute each of these. *)

(* Some message arrives after another and is placed in front of it. *)
ArrivalOrderReach ==
  [][\A r \in Host : Len(buffer'[r]) > Len(buffer[r]) =>
       SubSeq(buffer'[r], 1, Len(buffer[r])) = buffer[r]]_vars

(* Some receiver delivers two messages with one timestamp. *)
TieReach ==
  \A r \in Host : \A i, j \in DOMAIN delivered[r] :
    i # j => delivered[r][i].timestamp # delivered[r][j].timestamp

(* Some message waits although every link has spoken. *)
HeldReach ==
  \A r \in Host : buffer[r] = <<>> \/ ReceiverBarrier(r) = 0
                  \/ Deliverable(Head(buffer[r]).timestamp, ReceiverBarrier(r))

(* Some message waits exactly at the barrier. *)
AtBarrierReach ==
  \A r \in Host : buffer[r] = <<>> \/ Head(buffer[r]).timestamp # ReceiverBarrier(r)

(* Every receiver delivers two messages of different senders. *)
AllDeliverReach ==
  \E r \in Host : /\ Ingress[r] # {}
                  /\ \A i, j \in DOMAIN delivered[r] :
                       delivered[r][i].sender = delivered[r][j].sender

(* A barrier above 0 goes from one switch to another. *)
SecondHopReach == \A l \in Link : l[1] \in Switch /\ l[2] \in Switch => newest[l] = 0

(* Nothing is ever delivered.  It holds where a rule stops everyone. *)
NothingDelivered == \A r \in Host : delivered[r] = <<>>
=============================================================================
