------------------------------- MODULE MCLoss -------------------------------
(* Senders 1 and 2; receivers 3 and 4; switches 11 to 14. *)
EXTENDS LossClauses, LossRules

LOCAL LinksOf(route) == UNION {{route[p][i] : i \in DOMAIN route[p]} : p \in DOMAIN route}

(* One switch. *)
OneHosts == 1 .. 3
OneSwitch == {11}
OneRoute == [p \in {1, 2} \X {3} |-> <<<<p[1], 11>>, <<11, 3>>>>]
OneLinks == LinksOf(OneRoute)

(* One switch, two receivers. *)
TwoHosts == 1 .. 4
TwoRoute == [p \in ({1, 2} \X {3, 4}) \ {<<2, 4>>} |-> <<<<p[1], 11>>, <<11, p[2]>>>>]
TwoLinks == LinksOf(TwoRoute)

(* One sender and two receivers. *)
AloneHosts == {1, 3, 4}
AloneRoute == [p \in {1} \X {3, 4} |-> <<<<1, 11>>, <<11, p[2]>>>>]
AloneLinks == LinksOf(AloneRoute)
AloneToBoth == [h \in AloneHosts |-> IF h = 1 THEN {{3, 4}} ELSE {}]
One == <<1>>

(* One sender with an egress link to each of two switches, with a receiver behind each. *)
TwoEgressSwitches == {11, 12}
TwoEgressRoute == [p \in {1} \X {3, 4} |-> LET x == 8 + p[2] IN <<<<1, x>>, <<x, p[2]>>>>]
TwoEgressLinks == LinksOf(TwoEgressRoute)
AloneToEach == [h \in AloneHosts |-> IF h = 1 THEN {{3, 4}, {3}, {4}} ELSE {}]
Two == <<2>>

(* Two switches in a row, a sender at each. *)
RowSwitches == {11, 12}
RowRoute ==
  [p \in {1, 2} \X {3} |-> IF p[1] = 1 THEN <<<<1, 11>>, <<11, 12>>, <<12, 3>>>>
                           ELSE <<<<2, 12>>, <<12, 3>>>>]
RowLinks == LinksOf(RowRoute)

(* Two switches in a row, both senders at the first. *)
LineRoute == [p \in {1, 2} \X {3} |-> <<<<p[1], 11>>, <<11, 12>>, <<12, 3>>>>]
LineLinks == LinksOf(LineRoute)

(* A receiver with two ingress links. *)
ForkRoute ==
  [p \in {1, 2} \X {3} |-> LET x == 10 + p[1] IN <<<<p[1], x>>, <<x, 3>>>>]
ForkLinks == LinksOf(ForkRoute)

(* A diamond: from 11 over 12 or 13 to 14. *)
DiamondSwitches == 11 .. 14
DiamondRoute ==
  [p \in {1, 2} \X {3} |->
    LET x == 11 + p[1] IN <<<<p[1], 11>>, <<11, x>>, <<x, 14>>, <<14, 3>>>>]
DiamondLinks == LinksOf(DiamondRoute)

(* Acknowledgements that travel: two hosts that scatter to each other; or senders 1 and 2, and a receiver that only *)
(* acknowledges.                                                                                                  *)
Yes == TRUE
No == FALSE
TwoWayHosts == 1 .. 2
TwoWayRoute == [p \in {<<1, 2>>, <<2, 1>>} |-> <<<<p[1], 11>>, <<11, p[2]>>>>]
TwoWayLinks == LinksOf(TwoWayRoute)
ToEachOther == [h \in 1 .. 2 |-> {{3 - h}}]
BackRoute == [p \in ({1, 2} \X {3}) \cup ({3} \X {1, 2}) |-> <<<<p[1], 11>>, <<11, p[2]>>>>]
BackLinks == LinksOf(BackRoute)
LastHopBack == {<<11, 1>>}

(* Acknowledgements before a message is buffered: of what stands in the queue of a slow last link; and of *)
(* what is then dropped, which `flagged` keeps here.                                                      *)
QueuedToo(r) ==
  Received(r) \cup
  UNION {{channel[l][i].message : i \in {j \in DOMAIN channel[l] : channel[l][j].kind = "data"}} : l \in Ingress[r]}
DroppedToo(r) == Received(r) \cup flagged[r]
DroppedAnswered(w, l, p) ==
  [w EXCEPT !.held[l].gap = TRUE,
            !.flagged = IF p.kind = "data" /\ l[2] \in Host THEN [@ EXCEPT ![l[2]] = @ \cup {p.message}] ELSE @]

None == {}
InTheRow == {<<11, 12>>}
LastHop == {<<11, 3>>}
LastHops == {<<11, 3>>, <<12, 3>>}

ToThree == [h \in 1 .. 3 |-> IF h < 3 THEN {{3}} ELSE {}]
FirstToBoth == [h \in 1 .. 4 |-> CASE h = 1 -> {{3, 4}} [] h = 2 -> {{3}} [] OTHER -> {}]

FirstOnly == <<1, 0>>
FirstTwoOnly == <<2, 0>>
OneEach == <<1, 1>>
OneAndTwo == <<1, 2>>
TwoAndOne == <<2, 1>>
TwoEach == <<2, 2>>
OnlyOne == {1}
OneToTwo == 1 .. 2
OneToThree == 1 .. 3

OnBoth == {"data", "beacon"}
OnData == {"data"}
OnBeacon == {"beacon"}
OnSecond == {"second"}
=============================================================================
