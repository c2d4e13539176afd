--------------------------- MODULE MCLeasedQueue ---------------------------
(* Instances of LeasedQueue: what is sent. *)
EXTENDS LeasedQueue, LeaseRules

Send1(group, id) == [group |-> group, id |-> id]
TwoOfOne == <<Send1(1, 1), Send1(1, 2)>>
TwoAndOne == <<Send1(1, 1), Send1(1, 2), Send1(2, 3)>>
ThreeOfOne == <<Send1(1, 1), Send1(1, 2), Send1(1, 3)>>
Copies == <<Send1(1, 1), Send1(2, 1), Send1(1, 1)>>

(* A mutant: in the place of Rest, a store that loses a message. *)
Loses == queue' = <<>> /\ UNCHANGED <<message, sent, window, seen, begun, hand, aside>>
=============================================================================
