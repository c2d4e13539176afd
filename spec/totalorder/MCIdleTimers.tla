---------------------------- MODULE MCIdleTimers ----------------------------
(* Host 1 has a link to receiver 2 and one to receiver 3; and the network of MCOneSwitch. *)
EXTENDS MCOneSwitch, IdleTimers, VariantRules

ThreeHosts == 1 .. 3
NoSwitch == {}
TwoLinks == {<<1, 2>>, <<1, 3>>}
DirectRoutes == [p \in TwoLinks |-> << p >>]
ToEither == [h \in ThreeHosts |-> IF h = 1 THEN {{2}, {3}} ELSE {}]
TwoOfFirst == [h \in ThreeHosts |-> IF h = 1 THEN 2 ELSE 0]
ZeroEach == [h \in ThreeHosts |-> 0]
=============================================================================
