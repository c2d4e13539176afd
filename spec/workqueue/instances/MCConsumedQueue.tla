-------------------------- MODULE MCConsumedQueue --------------------------
(* Instances of ConsumedQueue: what is sent, and who may consume. *)
EXTENDS ConsumedQueue, LeaseRules

Send1(group, id) == [group |-> group, id |-> id]
TwoOfOne == <<Send1(1, 1), Send1(1, 2)>>
ThreeOfOne == <<Send1(1, 1), Send1(1, 2), Send1(1, 3)>>
=============================================================================
