---------------------------- MODULE FailureRules ----------------------------
(***************************************************************************)
(* The rules about failures: what each .cfg substitutes for the operator    *)
(* constants of Failures; first the corrected ones, then others.            *)
(***************************************************************************)
EXTENDS Integers

(* CutOff: all that is at or below the ack barrier was received by all; nothing above it was delivered. *)
AckOfLink(ack, barrier) == ack

(* MayDeliver: what every receiver has, and nothing else. *)
ByAckAlone(timestamp, ack, barrier) == timestamp <= ack

(* Speaks: what it told is known once its ack barrier is. *)
WithAckBarrier(carried) == "ack" \in carried
-----------------------------------------------------------------------------
(* Speaks, with any packet. *)
WithAny(carried) == TRUE

(* CutOff by the barrier, as without ack barriers; and one below and above the ack barrier. *)
BelowBarrierOfLink(ack, barrier) == barrier - 1
OneLess(ack, barrier) == IF ack = 0 THEN 0 ELSE ack - 1
OneMore(ack, barrier) == ack + 1

(* MayDeliver as environment D does. *)
ByEitherBarrier(timestamp, ack, barrier) == timestamp <= ack \/ timestamp < barrier
-----------------------------------------------------------------------------
(* Actions that are never taken. *)
NeverAt(node) == FALSE
NeverOf(s, n, r) == FALSE
=============================================================================
