---------------------------- MODULE MCTotalOrder ----------------------------
(* The abstract order with two hosts and two timestamps. *)
EXTENDS TotalOrder

TwoHosts == {1, 2}
ToAny == [h \in TwoHosts |-> {{1}, {2}, {1, 2}}]
OneToTwo == 1 .. 2
=============================================================================
