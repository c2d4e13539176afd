--------------------------- MODULE MCBeaconFilter ---------------------------
(* The network of MCOneSwitch, with beacons that go on or are swallowed. *)
EXTENDS MCOneSwitch, BeaconFilter, VariantRules

ToFirst == [h \in TwoHosts |-> {{1}}]
OneToFour == 1 .. 4
ByTwo == {2}
FirstAtOne == [h \in TwoHosts |-> IF h = 1 THEN 1 ELSE 0]
=============================================================================
