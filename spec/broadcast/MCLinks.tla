------------------------------ MODULE MCLinks ------------------------------
(* Instances of ResendingLinks: who sends to whom. *)
EXTENDS ResendingLinks, LinkRules

Two == {1, 2}
Three == {1, 2, 3}
TwoToOne == [p \in Process |-> IF p = 1 THEN <<2, 2>> ELSE <<>>]
OneToOne == [p \in Process |-> IF p = 1 THEN <<2>> ELSE <<>>]
OneToEach == [p \in Process |-> IF p = 1 THEN <<2, 3>> ELSE <<>>]
FromEach == [p \in Process |-> IF p = 3 THEN <<>> ELSE <<3>>]
BothWays == [p \in Process |-> IF p = 1 THEN <<2, 2>> ELSE <<1>>]
Mixed == [p \in Process |-> IF p = 1 THEN <<2, 3, 2>> ELSE <<>>]
=============================================================================
