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

(* Mutants.  An action that is never taken; in the place of Rest a process that comes back, and a channel that makes *)
(* things up.                                                                                                        *)
NeverOf(p, i) == FALSE
Revived == crashed' = {} /\ UNCHANGED <<numbered, pending, channel, record, copies>>
MadeUp ==
  /\ channel' = UNION {{Data(p, i, 1) : i \in DOMAIN Script[p]} : p \in Process}
  /\ UNCHANGED <<numbered, pending, record, copies, crashed>>
=============================================================================
