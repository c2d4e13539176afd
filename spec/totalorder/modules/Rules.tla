-------------------------------- MODULE Rules --------------------------------
(***************************************************************************)
(* The rules of barrier ordering in their corrected form: what each .cfg   *)
(* substitutes for the operator constants of BarrierOrder.  Other readings *)
(* of the source document, and damaged rules, are in Mutants.              *)
(***************************************************************************)
EXTENDS Naturals

LOCAL Max(a, b) == IF a >= b THEN a ELSE b

(* Stamp: the clock, above the last timestamp, and never below a promise. *)
AboveAll(clock, last, promised) == Max(clock, Max(last + 1, promised))

(* DataBarrier: the message is itself the oldest that can still follow. *)
ItsTimestamp(timestamp) == timestamp

(* BeaconBarrier: the clock, unless it lags behind the last timestamp. *)
ClockOrLast(clock, last) == Max(clock, last)

(* Register: barriers rise on a link, so that the last to arrive is the greatest. *)
Newest(held, arrived) == arrived

(* Aggregate: the minimum over the links of a function from link to barrier.  *)
(* A link that has not spoken is in it with 0 and holds the minimum down.      *)
MinOf(barriers) ==
  LET least == CHOOSE l \in DOMAIN barriers :
                 \A k \in DOMAIN barriers : barriers[l] <= barriers[k]
  IN  barriers[least]

(* Counted: only links from which data can reach the egress link. *)
ReachingOnly(reaching, ingress) == reaching

(* Deliverable: a message at the barrier waits, as its equal may still come. *)
StrictlyBelow(timestamp, barrier) == timestamp < barrier

(* Precedence: a sort key; the sender breaks ties of timestamps. *)
TimestampThenSender(timestamp, sender) == <<timestamp, sender>>
=============================================================================
