------------------------------ MODULE LossRules ------------------------------
(***************************************************************************)
(* The rules of environment D: what each .cfg substitutes for the operator  *)
(* constants of LossOrder; first the corrected ones, then readings of the   *)
(* source document.                                                         *)
(***************************************************************************)
EXTENDS Integers

LOCAL Least(S) == CHOOSE x \in S : \A y \in S : x <= y
LOCAL Greatest(S) == CHOOSE x \in S : \A y \in S : y <= x
-----------------------------------------------------------------------------
(* AckInit: strictly below all that is outstanding, and all that can follow. *)
BelowOutstanding(outstanding, acknowledged, clock) ==
  IF outstanding = {} THEN clock - 1 ELSE Least(outstanding) - 1

(* LossRecord: no data message on the losing link had a timestamp above it. *)
GreatestOfSource(least, largest, greatest) == greatest

(* ResentBarrier: a resent message tells the time as any packet does. *)
CurrentBarrier(timestamp, clock) == clock

(* Register: barriers rise on a link. *)
GreatestEver(held, arrived) == IF held >= arrived THEN held ELSE arrived

(* AckReached: the ack barrier means at or below. *)
AtOrBelowAck(timestamp, ack) == timestamp <= ack
-----------------------------------------------------------------------------
(* AckInit, literally: the largest timestamp acknowledged, by whichever receiver. *)
LargestAcknowledged(outstanding, acknowledged, clock) == Greatest({0} \cup acknowledged)

(* LossRecord, literally the minimum; and the largest barrier seen on the losing link. *)
LeastBarrier(least, largest, greatest) == least
LargestOfLink(least, largest, greatest) == largest
LargestOfLinkOrOne(least, largest, greatest) == IF largest = 0 THEN 1 ELSE largest

(* ResentBarrier, literally: the barrier of a data message is its timestamp. *)
OldTimestamp(timestamp, clock) == timestamp

(* Register, as without loss. *)
LastArrived(held, arrived) == arrived

(* AckReached, literally: below the ack barrier. *)
BelowAck(timestamp, ack) == timestamp < ack
=============================================================================
