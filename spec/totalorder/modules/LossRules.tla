------------------------------ MODULE LossRules ------------------------------
(***************************************************************************)
(* The rules of environment D: what each .cfg substitutes for the operator  *)
(* constants of LossOrder; first the corrected ones, then readings of the   *)
(* source document, then others.                                            *)
(***************************************************************************)
EXTENDS Integers

LOCAL Least(S) == CHOOSE x \in S : \A y \in S : x <= y
LOCAL Greatest(S) == CHOOSE x \in S : \A y \in S : y <= x
-----------------------------------------------------------------------------
(* AckInit: strictly below all that is outstanding, and all that can follow. *)
BelowOutstanding(outstanding, acknowledged, next) ==
  IF outstanding = {} THEN next - 1 ELSE Least(outstanding) - 1

(* AckNumber: the number up to which all is held. *)
UpToGap(numbers) == Greatest({0} \cup {n \in numbers : 1 .. n \subseteq numbers})

(* NoticedRecord: no message that was put on the losing link is above it. *)
GreatestTold(least, largest, greatest) == greatest

(* PassedRecord: what is lost further up is at or below the record that came. *)
AsCarried(carried, least, largest, greatest) == carried

(* ResentBarrier: a resent message tells the time as any packet does. *)
CurrentBarrier(timestamp, clock) == clock

(* Register: barriers rise on a link. *)
GreatestEver(held, arrived) == IF held >= arrived THEN held ELSE arrived

(* MayDeliver: what is at or below the ack barrier, and outside the loss state what is below the barrier. *)
ByEitherBarrier(timestamp, barrier, ack, lossy, flagged) ==
  timestamp <= ack \/ (~ lossy /\ timestamp < barrier)
-----------------------------------------------------------------------------
(* AckInit, literally: the largest timestamp acknowledged, by whichever receiver. *)
LargestAcknowledged(outstanding, acknowledged, next) == Greatest({0} \cup acknowledged)

(* AckInit that is right while something is outstanding, and keeps the last value when idle. *)
IdleKeepsLast(outstanding, acknowledged, next) ==
  IF outstanding = {} THEN Greatest({0} \cup acknowledged) ELSE Least(outstanding) - 1

(* NoticedRecord, literally the minimum; and the largest barrier seen on the losing link. *)
LeastBarrier(least, largest, greatest) == least
LargestOfLink(least, largest, greatest) == largest
LargestOfLinkOrOne(least, largest, greatest) == IF largest < 1 THEN 1 ELSE largest

(* PassedRecord, literally: a node that sees a flag records its own minimum.  Others: the barrier *)
(* of the link that the flag came on; the greatest timestamp that it was told.                   *)
OwnMinimum(carried, least, largest, greatest) == least
LinkBarrier(carried, least, largest, greatest) == largest
OwnGreatest(carried, least, largest, greatest) == greatest

(* ResentBarrier, literally: the barrier of a data message is its timestamp. *)
OldTimestamp(timestamp, clock) == timestamp

(* Register, as without loss. *)
LastArrived(held, arrived) == arrived

(* MayDeliver: literally; with the ack barrier alone as "at or below"; by each message's own flag. *)
ByOneBarrier(timestamp, barrier, ack, lossy, flagged) ==
  IF lossy THEN timestamp < ack ELSE timestamp < barrier
AckInLossOnly(timestamp, barrier, ack, lossy, flagged) ==
  IF lossy THEN timestamp <= ack ELSE timestamp < barrier
BelowEitherBarrier(timestamp, barrier, ack, lossy, flagged) ==
  timestamp < ack \/ (~ lossy /\ timestamp < barrier)
ByOwnFlag(timestamp, barrier, ack, lossy, flagged) ==
  IF flagged THEN timestamp <= ack ELSE timestamp < barrier
-----------------------------------------------------------------------------
(* Mutants. *)
BelowNext(outstanding, acknowledged, next) == next - 1
AtOutstanding(outstanding, acknowledged, next) ==
  IF outstanding = {} THEN next - 1 ELSE Least(outstanding)
AtNext(outstanding, acknowledged, next) ==
  IF outstanding = {} THEN next ELSE Least(outstanding) - 1
FromTwo(sender, receiver, number) == number + 1
GreatestHeld(numbers) == Greatest({0} \cup numbers)
OneBelowGreatest(least, largest, greatest) == greatest - 1
NoRecord(least, largest, greatest) == 0
NotPassed(carried, least, largest, greatest) == 0
ByBarrierAlone(timestamp, barrier, ack, lossy, flagged) == timestamp < barrier
ByAckAlone(timestamp, barrier, ack, lossy, flagged) == timestamp <= ack

(* AckPacket, without the loss record. *)
Unflagged(p, sender, receiver, number) ==
  [kind |-> "ack", barrier |-> p.barrier, ack |-> p.ack, record |-> 0, greatest |-> p.greatest,
   sender |-> sender, receiver |-> receiver, number |-> number]

(* An action that has nothing to choose from is never taken. *)
NothingOf(x) == {}
=============================================================================
