------------------------------ MODULE FifoRules ------------------------------
(***************************************************************************)
(* The rules of FIFO broadcast in their corrected form, and below them     *)
(* literal readings of the source document, and damaged rules.             *)
(***************************************************************************)
EXTENDS Naturals

(* MayDeliver *)
TheNext(number, last) == number = last + 1

(* LooksAt: the reception of a message makes only messages of its creator deliverable. *)
ThatCreator(creator, all) == {creator}

(* Pauses: at the threshold, which is at least 1. *)
AtThreshold(undelivered, threshold, paused) == undelivered >= threshold
-----------------------------------------------------------------------------
(* "When the number is above the threshold, stop": one more goes, and below it goes on. *)
AboveUntilBelow(undelivered, threshold, paused) ==
  undelivered > threshold \/ (paused /\ ~ undelivered < threshold)

(* Damage *)
AnyLater(number, last) == number > last
NobodysElse(creator, all) == {}
WithoutThreshold(undelivered, threshold, paused) == FALSE
ForEver(undelivered, threshold, paused) == paused \/ undelivered >= threshold
=============================================================================
