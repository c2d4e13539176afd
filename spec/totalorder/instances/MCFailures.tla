----------------------------- MODULE MCFailures -----------------------------
(* Hosts 1 to 4, of which 1 and 2 scatter; switches 11, the root, and 12. *)
EXTENDS FailureClauses, FailureRules

LOCAL BothWays(S) == S \cup {<<l[2], l[1]>> : l \in S}

(* One switch. *)
OneUp == {<<1, 11>>, <<2, 11>>, <<3, 11>>}
OneHosts == 1 .. 3
OneSwitch == {11}
OneLinks == BothWays(OneUp)

(* Two switches: hosts 1 and 3 at the root, 2 at the other one. *)
TreeUp == {<<1, 11>>, <<3, 11>>, <<2, 12>>, <<12, 11>>}
TreeSwitches == {11, 12}
TreeLinks == BothWays(TreeUp)

(* The same, with two hosts at the second switch. *)
WideHosts == 1 .. 4
WideUp == {<<1, 11>>, <<3, 11>>, <<2, 12>>, <<4, 12>>, <<12, 11>>}
WideLinks == BothWays(WideUp)

(* Two switches: host 1 alone at the root. *)
LoneUp == {<<1, 11>>, <<2, 12>>, <<3, 12>>, <<12, 11>>}
LoneLinks == BothWays(LoneUp)
BothToThird == [h \in 1 .. 3 |-> IF h < 3 THEN {{3}} ELSE {}]

FirstToBoth == [h \in 1 .. 3 |-> CASE h = 1 -> {{2, 3}} [] h = 2 -> {{3}} [] OTHER -> {}]
SecondToBoth == [h \in 1 .. 3 |-> CASE h = 2 -> {{1, 3}} [] h = 1 -> {{3}} [] OTHER -> {}]
WideBothUp == WideUp \cup {<<11, 12>>}
WideFirst == [h \in 1 .. 4 |-> CASE h = 1 -> {{3, 4}} [] OTHER -> {}]
WideToAll == [h \in 1 .. 4 |-> CASE h = 2 -> {{1, 3, 4}} [] OTHER -> {}]

FirstToThird == [h \in 1 .. 3 |-> IF h = 1 THEN {{3}} ELSE {}]
SecondToThird == [h \in 1 .. 3 |-> IF h = 2 THEN {{3}} ELSE {}]
SecondToOthers == [h \in 1 .. 3 |-> IF h = 2 THEN {{1, 3}} ELSE {}]

(* One switch and a fourth host, that only receives. *)
StarHosts == 1 .. 4
StarUp == OneUp \cup {<<4, 11>>}
StarLinks == BothWays(StarUp)
StarFirst == [h \in 1 .. 4 |-> IF h = 1 THEN {{2, 3, 4}} ELSE {}]

Yes == TRUE
No == FALSE
One == 1
Two == 2

(* Structure 7: beacons of the barrier, and beacons of the ack barrier. *)
Together == {{"ack", "barrier"}}
Apart == {{"ack"}, {"barrier"}}

OneEach == [h \in 1 .. 4 |-> 1]
FirstTwo == [h \in 1 .. 4 |-> IF h = 1 THEN 2 ELSE 0]
SecondOne == [h \in 1 .. 4 |-> IF h = 2 THEN 1 ELSE 0]
FirstOne == [h \in 1 .. 4 |-> IF h = 1 THEN 1 ELSE 0]
OneToTwo == 1 .. 2
OneToThree == 1 .. 3
OnlyOne == {1}
=============================================================================
