------------------------------- MODULE Numbers -------------------------------
(***************************************************************************)
(* Sets of numbers from 1 on: those up to one of them, and those beyond    *)
(* it.  They stay small where numbers come nearly in order.                *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

NoNumber == [upto |-> 0, beyond |-> {}]
Has(numbers, k) == k <= numbers.upto \/ k \in numbers.beyond
Includes(numbers, others) == others.upto <= numbers.upto /\ \A k \in others.beyond : Has(numbers, k)

With(numbers, more) ==
  LET from == numbers.upto
      beyond == {k \in numbers.beyond \cup more : k > from}
      upto == CHOOSE u \in from .. from + Cardinality(beyond) :
                u + 1 \notin beyond /\ \A k \in from + 1 .. u : k \in beyond
  IN  [upto |-> upto, beyond |-> {k \in beyond : k > upto}]
=============================================================================
