---------------------------- MODULE MCAdjustment ----------------------------
(* The network of MCOneSwitch, with adjusted timestamps. *)
EXTENDS MCOneSwitch, Adjustment, AdjustmentRules

(* Host 1 alone is adjusted: host 2 is among its behaviours. *)
OfFirst(adjustments) == [h \in TwoHosts |-> IF h = 1 THEN adjustments ELSE {0}]
NoneOrOne == OfFirst({0, 1})
LessOrNone == OfFirst({-1, 0})
LessOrMore == OfFirst({-1, 0, 1})
LessOrMoreEach == [h \in TwoHosts |-> {-1, 0, 1}]

TwoOfFirst == [h \in TwoHosts |-> IF h = 1 THEN 2 ELSE 0]

(* The numbers of the finding: adjustment 5, a beacon of 25 at clock 20, adjustment 0, data of 21. *)
NoneOrFive == OfFirst({0, 5})
Twenty == [h \in TwoHosts |-> 20]
FromTwentyOne == 21 .. 26

(* TO-BAR-LINK of the beacon of 25 alone: no data strictly below 25 is behind it. *)
PromiseOf25Holds ==
  \A l \in Link : \A i, j \in DOMAIN channel[l] :
    i < j /\ channel[l][i].barrier = 25 /\ IsData(channel[l][j]) => channel[l][j].timestamp >= 25
BeaconOf25Stays ==
  \A l \in Link : \A i, j \in DOMAIN channel[l] :
    i < j /\ channel[l][i].barrier = 25 => channel[l][j].barrier >= 25

(* Mutant, in the place of Rests: a local clock is set back. *)
SetBack == \E h \in Host : local' = [local EXCEPT ![h] = 0] /\ UNCHANGED vars
=============================================================================
