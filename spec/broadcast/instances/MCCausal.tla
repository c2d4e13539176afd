------------------------------ MODULE MCCausal ------------------------------
(* Instances of CausalOverUniform: who depends on whom. *)
EXTENDS CausalOverUniform, CausalRules

Two == {1, 2}
Three == {1, 2, 3}
OneEach == [p \in Process |-> 1]
TwoAndOne == [p \in Process |-> IF p = 1 THEN 2 ELSE 1]
TwoOfOne == [p \in Process |-> IF p = 1 THEN 2 ELSE 0]
TwoEach == [p \in Process |-> 2]
Chain == [p \in Process |-> IF p = 1 THEN {} ELSE {p - 1}]
Cycle == [p \in Process |-> IF p = 1 THEN Process \ {1} ELSE {1}]
None == [p \in Process |-> {}]
Themselves == [p \in Process |-> {p}]

(* Mutants.  Actions that are never taken; a process that comes back, in the place of Rest. *)
NeverAt(p) == FALSE
NeverOf(p, m) == FALSE
Revived == crashed' = {} /\ UNCHANGED <<begun, received, past, clock, dependency, waiting, delivered, looking>>
=============================================================================
