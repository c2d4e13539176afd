---------------------------- MODULE MCBeaconPath ----------------------------
(* The networks of MCOneSwitch and MCTwoSwitches with split switches.  In the second, switch 11's *)
(* proxy is host 2, so that its beacons pass switch 12 on their way.                               *)
EXTENDS MCTwoSwitches, BeaconPath, BeaconPathRules

OneSwitch == {11}
OneSwitchLinks == {<<1, 11>>, <<2, 11>>, <<11, 1>>, <<11, 2>>}
OneSwitchRoutes == [p \in TwoHosts \X TwoHosts |-> << <<p[1], 11>>, <<11, p[2]>> >>]
ToFirst == [h \in TwoHosts |-> {{1}}]

NoSwitch == {}
Eleven == {11}
NoWay == [n \in {11} |-> {}]
PastTwelve == [n \in {11} |-> {<<11, 12>>}]
=============================================================================
