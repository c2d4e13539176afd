----------------------------- MODULE MCTwoEgress -----------------------------
(***************************************************************************)
(* Host 1 is attached to two switches, so that it promises its barriers on  *)
(* two links; receiver 3 has an ingress link from each of them.             *)
(*                                                                         *)
(*   host 1 --- 11 --- receiver 3                                          *)
(*        \            /                                                   *)
(*         --- 12 ----/                                                    *)
(*            /  \                                                         *)
(*   host 2 -/    \--- receiver 4                                          *)
(***************************************************************************)
EXTENDS BarrierClauses, Rules, Mutants

FourHosts == 1 .. 4
TwoSwitches == {11, 12}
TwoEgressLinks == {<<1, 11>>, <<1, 12>>, <<2, 12>>, <<11, 3>>, <<12, 3>>, <<12, 4>>}
TwoEgressRoutes ==
  [p \in {<<1, 3>>, <<1, 4>>, <<2, 3>>} |->
    LET x == IF p = <<1, 3>> THEN 11 ELSE 12 IN << <<p[1], x>>, <<x, p[2]>> >>]
FirstToBoth == [h \in FourHosts |-> CASE h = 1 -> {{3, 4}} [] h = 2 -> {{3}} [] OTHER -> {}]
FirstToEither == [h \in FourHosts |-> CASE h = 1 -> {{3}, {4}} [] h = 2 -> {{3}} [] OTHER -> {}]
OneEach == [h \in FourHosts |-> 1]
FirstTwice == [h \in FourHosts |-> IF h = 1 THEN 2 ELSE 0]
FirstOnly == [h \in FourHosts |-> IF h = 1 THEN 1 ELSE 0]
Zero == [h \in FourHosts |-> 0]
Up == {1}
UpAndDown == {1, -1}
OneToTwo == 1 .. 2
One == [h \in FourHosts |-> 1]

(* The same without switches: a direct link for each route. *)
NoSwitch == {}
DirectLinks == DOMAIN TwoEgressRoutes
DirectRoutes == [p \in DirectLinks |-> << p >>]

(* Mutants: a host keeps what it promised on one of its links, sends beacons on one of them alone, or  *)
(* looks at each by itself once its clock was set back; a receiver takes the greatest barrier of its   *)
(* ingress links, or that of one.                                                                      *)
FirstEgress == {<<1, 11>>, <<2, 12>>, <<1, 3>>, <<2, 3>>} \cap Link
PromisedOnFirst(h) == MaxOver({promised[l] : l \in {k \in FirstEgress : k[1] = h}})
WaitsByLink(l) == Max(clock[l[1]], Last(l[1])) < promised[l]
GreatestOfLinks(r) == MaxOver({newest[k] : k \in Ingress[r]})
OfOneLink(r) == IF Ingress[r] = {} THEN 0 ELSE newest[CHOOSE k \in Ingress[r] : TRUE]

(* Reachability: TLC must refute it.  The barriers that a host has promised on its links differ, and so *)
(* do those that a receiver holds of its own.                                                           *)
LinksDifferReach ==
  \/ \A k, l \in HostEgress : k[1] = l[1] => promised[k] = promised[l]
  \/ \A k, l \in HostIngress : k[2] = l[2] => newest[k] = newest[l]
=============================================================================
