----------------------------- MODULE RouteRules ------------------------------
(***************************************************************************)
(* The rules of spreading subscriptions in their corrected form, and below *)
(* them literal readings of the source document, and damaged rules.        *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

(* Covers *)
Contains(f, g) == g \subseteq f

(* Kept: what no other one covers. *)
Widest(wanted, before, fresh) == {f \in wanted : ~ \E g \in wanted : g # f /\ f \subseteq g}

(* InOrder: what is still wanted comes ahead of what takes its cover away. *)
WantsFirst(wants, drops) == wants \o drops

(* Copies *)
OneIfAny(filters, t) == IF \E f \in filters : t \in f THEN 1 ELSE 0

(* Permits, Ends *)
IsListed(allowed, f) == f \in allowed
TheSame(filters, f) == filters \cap {f}

(* Answers *)
WhenAllHave(missing) == missing = {}
-----------------------------------------------------------------------------
(* Literal. *)

(* A subset need not be propagated, as the superset is known; nothing is said of when that goes. *)
Forgotten(wanted, before, fresh) ==
  {f \in wanted : f \in before \/ (f \in fresh /\ ~ \E g \in before \cap wanted : f \subseteq g)}

(* A subscription is checked before its route is added; nothing is said of one that is there. *)
Nothing(filters, f) == {}
-----------------------------------------------------------------------------
(* Damage *)
All(wanted, before, fresh) == wanted
Smallest(wanted, before, fresh) == {f \in wanted : ~ \E g \in wanted : g # f /\ g \subseteq f}
DropsFirst(wants, drops) == drops \o wants
OneForEach(filters, t) == Cardinality({f \in filters : t \in f})
OneForAll(filters, t) == IF filters # {} THEN 1 ELSE 0
Anything(allowed, f) == TRUE
AtOnce(missing) == TRUE
=============================================================================
