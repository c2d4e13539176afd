----------------------------- MODULE CausalRules -----------------------------
(***************************************************************************)
(* The rules of localized causal broadcast in their corrected form, and    *)
(* below them literal readings of the source document, and damaged rules.  *)
(***************************************************************************)
EXTENDS Naturals

(* Attached, two clocks: the dependency clock, before the message is counted in it. *)
DependencyClock(p, vector, dependency, begun, on) == dependency

(* Attached, one clock: the vector clock at dependencies, and how many own messages were begun. *)
VectorAtDependencies(p, vector, dependency, begun, on) ==
  [q \in DOMAIN vector |-> IF q = p THEN begun ELSE IF q \in on THEN vector[q] ELSE 0]

(* CountsDelivery: own messages were counted when they began. *)
OfDependencies(p, c, on) == c \in on \ {p}

(* OwnEntry: the vector clock counts deliveries, of own messages, too. *)
OwnDelivered(begun, delivered) == delivered

(* MayDeliver *)
ClockIsReached(clock, vector) == \A q \in DOMAIN clock : clock[q] <= vector[q]

(* LooksAfterReception, LooksAfterDelivery: each delivery can be what another creator's message waits for. *)
ThatCreator(creator, behind, all) == {creator}
Everyone(creator, all) == all
-----------------------------------------------------------------------------
(* "After each reception look at its creator", resolving what it lacks depth first. *)
BackwardsFromIt(creator, behind, all) == behind
NobodyElse(creator, all) == {}

(* "One vector clock would do": attached as it is. *)
WholeVector(p, vector, dependency, begun, on) == [vector EXCEPT ![p] = begun]

(* The same, with own deliveries for own broadcasts. *)
OwnDeliveries(p, vector, dependency, begun, on) ==
  [q \in DOMAIN vector |-> IF q = p \/ q \in on THEN vector[q] ELSE 0]

(* The one clock counts own broadcasts at once, and is what deliveries are compared with, too. *)
OwnBegun(begun, delivered) == begun

(* The clock is attached after the message was counted. *)
CountedFirst(p, vector, dependency, begun, on) == [dependency EXCEPT ![p] = @ + 1]

(* Every delivery of a dependency counts, also where a process names itself. *)
OfAllNamed(p, c, on) == c \in on

(* Damage *)
OfAll(p, c, on) == c # p
OfNobody(p, c, on) == FALSE
OneShort(clock, vector) == \A q \in DOMAIN clock : clock[q] <= vector[q] + 1
OneTooMany(clock, vector) == \A q \in DOMAIN clock : clock[q] = 0 \/ clock[q] < vector[q]
AnyEntry(clock, vector) == \E q \in DOMAIN clock : clock[q] <= vector[q]
Newcomers(creator, behind, all) == all
=============================================================================
