------------------------------- MODULE MCFifo -------------------------------
(* Instances of FifoOverUniform. *)
EXTENDS FifoOverUniform, FifoRules

Two == {1, 2}
Three == {1, 2, 3}
ThreeOfOne == [p \in Process |-> IF p = 1 THEN 3 ELSE 0]
TwoOfOne == [p \in Process |-> IF p = 1 THEN 2 ELSE 0]
TwoAndOne == [p \in Process |-> IF p = 1 THEN 2 ELSE 1]
TwoEach == [p \in Process |-> 2]

(* Mutants.  Actions that are never taken; a process that comes back, in the place of Rest. *)
NeverAt(p) == FALSE
NeverOf(p, m) == FALSE
Revived == crashed' = {} /\ UNCHANGED <<begun, received, waiting, delivered, looking, paused>>
=============================================================================
