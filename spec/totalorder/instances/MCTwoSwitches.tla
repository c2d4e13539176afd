---------------------------- MODULE MCTwoSwitches ----------------------------
(* Two switches in a row with traffic both ways:  host 1 - switch 11 - switch 12 - host 2.  *)
(* Both hosts send and receive, to themselves too.                                          *)
EXTENDS BarrierClauses, Rules, Mutants

TwoHosts == {1, 2}
TwoSwitches == {11, 12}
TwoSwitchLinks == {<<1, 11>>, <<11, 1>>, <<11, 12>>, <<12, 11>>, <<2, 12>>, <<12, 2>>}
TwoSwitchRoutes ==
  [p \in TwoHosts \X TwoHosts |->
    CASE p = <<1, 1>> -> << <<1, 11>>, <<11, 1>> >>
      [] p = <<1, 2>> -> << <<1, 11>>, <<11, 12>>, <<12, 2>> >>
      [] p = <<2, 1>> -> << <<2, 12>>, <<12, 11>>, <<11, 1>> >>
      [] p = <<2, 2>> -> << <<2, 12>>, <<12, 2>> >>]
ToBoth == [h \in TwoHosts |-> {{1, 2}}]
ToOther == [h \in TwoHosts |-> {{3 - h}}]
OneEach == [h \in TwoHosts |-> 1]
FirstOnly == [h \in TwoHosts |-> IF h = 1 THEN 1 ELSE 0]
Zero == [h \in TwoHosts |-> 0]
OneToTwo == 1 .. 2
=============================================================================
