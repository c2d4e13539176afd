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

(* Timers go on when clocks have come to the end of time: no host is busy for ever. *)
TicksOn(h) ==
  \/ Tick(h) /\ AfterTick(h)
  \/ /\ clock[h] = MaxOver(Time) /\ \E l \in HostEgress : l[1] = h /\ idle[l] < Interval
     /\ AfterTick(h) /\ UNCHANGED vars
=============================================================================
