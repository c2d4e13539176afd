------------------------------ MODULE MCPartial ------------------------------
(***************************************************************************)
(* The second example topology of environment A (figure 2 of source        *)
(* document 000): senders a, b reach receiver a alone; c, d reach both.    *)
(*                                                                         *)
(*   a 1 --\                                                               *)
(*   b 2 --- 11 --- 13 --- 5 receiver a                                    *)
(*                /                                                        *)
(*   c 3 --- 12 --+                                                        *)
(*   d 4 --/      \--- 14 --- 6 receiver b                                 *)
(*                                                                         *)
(* The clocks stand at 1, 4, 2 and 3, so that the least timestamps at the  *)
(* receivers are the document's: 1 at a and 2 at b.                        *)
(***************************************************************************)
EXTENDS BarrierClauses, Rules, Mutants

SixHosts == 1 .. 6
FourSwitches == 11 .. 14
PartialLinks ==
  {<<1, 11>>, <<2, 11>>, <<3, 12>>, <<4, 12>>, <<11, 13>>, <<12, 13>>, <<12, 14>>, <<13, 5>>, <<14, 6>>}
PartialRoutes ==
  [p \in ((1 .. 4) \X {5}) \cup ((3 .. 4) \X {6}) |->
    LET first == IF p[1] <= 2 THEN 11 ELSE 12
        second == IF p[2] = 5 THEN 13 ELSE 14
    IN  << <<p[1], first>>, <<first, second>>, <<second, p[2]>> >>]
ToWhomTheyReach ==
  [h \in SixHosts |-> IF h <= 2 THEN {{5}} ELSE IF h <= 4 THEN {{5, 6}} ELSE {}]
OneEach == [h \in SixHosts |-> 1]
DocumentClocks == [h \in SixHosts |-> CASE h = 1 -> 1 [] h = 2 -> 4 [] h = 3 -> 2 [] h = 4 -> 3 [] OTHER -> 0]
OneToFour == 1 .. 4

(* Reachability: TLC must refute it.  The document's values: 1 at receiver a while 2 at b. *)
DocumentBarriersReach == ~ (ReceiverBarrier(5) = 1 /\ ReceiverBarrier(6) = 2)
=============================================================================
