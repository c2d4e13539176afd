------------------------------ MODULE LinkRules ------------------------------
(***************************************************************************)
(* The rules of the links in their corrected form, and below them literal  *)
(* readings of the source document, and damaged rules.                     *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

(* Number: a counter for each destination, so that a receiver sees no gap that stays. *)
ForEachDestination(made, q) == made[q] + 1

(* ResentAs: the same packet again. *)
SameNumber(number, next) == number

(* MayGo: what waits behind the window is kept as runs of messages. *)
InsideWindow(its, all, window) == its < window

(* KeyOf: processes number alike. *)
BySender(p) == p

(* Remember: the end of the contiguous prefix, and what lies beyond it. *)
Collapsing(r, number) ==
  LET all == r.beyond \cup {number}
      end == CHOOSE e \in r.prefix .. r.prefix + Cardinality(all) :
               /\ r.prefix + 1 .. e \subseteq all
               /\ e + 1 \notin all
  IN  [prefix |-> end, beyond |-> {n \in all : n > end}]

(* Answers: a copy is acknowledged as the first one was, since that acknowledgement may be lost. *)
Always(x) == TRUE
Never(x) == FALSE

(* Removes: the packet of that number and that destination. *)
OfThatDestination(number, to, acknowledged, by) == number = acknowledged /\ to = by
-----------------------------------------------------------------------------
RECURSIVE Total(_, _)
Total(f, s) == IF s = {} THEN 0 ELSE LET x == CHOOSE y \in s : TRUE IN f[x] + Total(f, s \ {x})

(* "PerfectLinks has an AtomicInteger": one counter, whoever the packet is for. *)
OneForAll(made, q) == Total(made, DOMAIN made) + 1

(* "It suffices to keep a delivered set." *)
KeepingAll(r, number) == [prefix |-> 0, beyond |-> r.beyond \cup {number}]

(* That set knows messages by their PSEQ alone. *)
OneKey(p) == 1

(* An acknowledgement removes the message of its number from the one pending set. *)
OfThatNumber(number, to, acknowledged, by) == number = acknowledged

(* The resender sends everything again, and there is no window. *)
WithoutWindow(its, all, window) == TRUE

(* One pending set for all destinations, which is bounded. *)
OneWindow(its, all, window) == all < window

(* Damage *)
FreshNumber(number, next) == next
OnlyNew(new) == new
OnlyCrashed(crashed) == crashed
OneBehind(r, number) ==
  LET c == Collapsing(r, number) IN [c EXCEPT !.prefix = IF c.beyond = {} THEN @ + 1 ELSE @]
Forgetting(r, number) == r
PastGaps(r, number) == [prefix |-> IF number > r.prefix THEN number ELSE r.prefix, beyond |-> {}]
=============================================================================
