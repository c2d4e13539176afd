------------------------------ MODULE MCCausal ------------------------------
(* Host 2 scatters to 1 and 3, host 1 replies to 3 alone, so that nothing that it says itself holds host 1 *)
(* back.  The clock of host 2 is ahead.                                                                   *)
EXTENDS MCOneSwitch, Causal

ThreeHosts == 1 .. 3
NoSwitch == {}
ReplyLinks == {<<2, 1>>, <<2, 3>>, <<1, 3>>}
ReplyRoutes == [p \in ReplyLinks |-> << p >>]
ToThoseAhead == [h \in ThreeHosts |-> CASE h = 1 -> {{3}} [] h = 2 -> {{1, 3}} [] OTHER -> {}]
OneOfTwo == [h \in ThreeHosts |-> IF h <= 2 THEN 1 ELSE 0]
SecondAtOne == [h \in ThreeHosts |-> IF h = 2 THEN 1 ELSE 0]
=============================================================================
