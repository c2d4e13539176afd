---------------------------- MODULE MajorityRules ----------------------------
(***************************************************************************)
(* The rules of uniform reliable broadcast in their corrected form, and    *)
(* below them literal readings of the source document, and damaged rules.  *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

(* Own: a process that has a message is one of those that have it. *)
Oneself(p) == {p}

(* Enough: any two majorities share a process, and one of each is correct. *)
MoreThanHalf(k, n) == 2 * k > n

(* First: neither waiting nor delivered. *)
NeitherPendingNorDelivered(pending, delivered) == ~ pending /\ ~ delivered

(* Kept: the links go on with what was handed to them. *)
Everything(sends) == sends

(* MayForward, MayBegin *)
AtAnyTime(undelivered) == TRUE
-----------------------------------------------------------------------------
(* "Count from which senders the message was received": not oneself. *)
SendersOnly(p) == {}

(* "At least half of the processes are correct": so that half of them suffices. *)
AtLeastHalf(k, n) == 2 * k >= n

(* Pending and what was sent for it are dropped at delivery. *)
Nothing(sends) == {}

(* One thread sends and forwards, and stops at the threshold, here 1. *)
BelowThreshold(undelivered) == undelivered < 1

(* Damage *)
AtOnce(k, n) == k >= 1
OneBelowHalf(k, n) == 2 * k + 2 > n
AllOfThem(k, n) == k = n
NotPending(pending, delivered) == ~ pending
=============================================================================
