----------------------------- MODULE MCOneSwitch -----------------------------
(* One switch, 11, and two hosts, 1 and 2, that send to themselves and to each other. *)
EXTENDS BarrierClauses, Rules, Mutants

TwoHosts == {1, 2}
OneSwitch == {11}
OneSwitchLinks == {<<1, 11>>, <<2, 11>>, <<11, 1>>, <<11, 2>>}
OneSwitchRoutes == [p \in TwoHosts \X TwoHosts |-> << <<p[1], 11>>, <<11, p[2]>> >>]
ToBoth == [h \in TwoHosts |-> {{1, 2}}]
ToOne == [h \in TwoHosts |-> {{1}, {2}}]
OneEach == [h \in TwoHosts |-> 1]
FirstOnly == [h \in TwoHosts |-> IF h = 1 THEN 1 ELSE 0]
FirstTwice == [h \in TwoHosts |-> IF h = 1 THEN 2 ELSE 0]
TwoEach == [h \in TwoHosts |-> 2]
Zero == [h \in TwoHosts |-> 0]
UpAndDown == {1, -1}
FirstAhead == [h \in TwoHosts |-> IF h = 1 THEN 2 ELSE 1]
ThreeEach == [h \in TwoHosts |-> 3]
OneToThree == 1 .. 3
OneToTwo == 1 .. 2

(* Mutant: where an action is never taken, nothing moves earlier than at the end of time. *)
AnyRest == UNCHANGED vars
=============================================================================
