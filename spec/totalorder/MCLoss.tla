------------------------------- MODULE MCLoss -------------------------------
(* Senders 1 and 2, receiver 3, or receivers 3 and 4. *)
EXTENDS LossClauses, LossRules

TwoSenders == {1, 2}
OneReceiver == {3}
TwoReceivers == {3, 4}
ToThree == [h \in 1 .. 3 |-> IF h \in TwoSenders THEN {{3}} ELSE {}]
FirstToBoth == [h \in 1 .. 4 |-> CASE h = 1 -> {{3, 4}} [] h = 2 -> {{3}} [] OTHER -> {}]
FirstOnly == [s \in TwoSenders |-> IF s = 1 THEN 1 ELSE 0]
OneEach == [s \in TwoSenders |-> 1]
OneAndTwo == [s \in TwoSenders |-> s]
TwoEach == [s \in TwoSenders |-> 2]
OneToTwo == 1 .. 2
OneToThree == 1 .. 3
=============================================================================
