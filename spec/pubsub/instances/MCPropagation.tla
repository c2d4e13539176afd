---------------------------- MODULE MCPropagation ----------------------------
(* Instances of Propagation: appliances a, b and c in a row; clients x and y at a, z at c. *)
EXTENDS Propagation, RouteRules

AtOf(d) == IF d \in {"x", "y"} THEN "a" ELSE "c"
Row(n) == {m \in Node : <<n, m>> \in {<<"a", "b">>, <<"b", "a">>, <<"b", "c">>, <<"c", "b">>}}

Wide == {1, 2}
Narrow == {1}
Other == {2}
TwoFilters == {Wide, Narrow}
ThreeFilters == {Wide, Narrow, Other}
ToAll == [c \in Client |-> Filter]
Nobody == {}
AnyOfX == {"x"} \X Filter
NarrowToX == [c \in Client |-> IF c = "x" THEN {Narrow} ELSE Filter]

(* PS-COVER lit-part: T1.T2 is a part of T1.T2.T3, which is another topic: of two filters that match nothing in     *)
(* common the one is taken for a part of the other.                                                                  *)
Apart == {{1}, {2}}
PartOf(f, g) == f = {2} /\ g = {1}
NoPart(wanted, before, fresh) == {f \in wanted : ~ \E g \in wanted : g # f /\ PartOf(g, f)}

(* In the place of Idle: a filter that there is not. *)
MakesUp ==
  /\ subs' = [c \in Client |-> {{9}}]
  /\ UNCHANGED <<doing, entitled, sent, unheard, table, waits, link, topics, owed, got, calls, strange>>
=============================================================================
