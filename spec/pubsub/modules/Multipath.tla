------------------------------ MODULE Multipath -------------------------------
(***************************************************************************)
(* Messages of one publisher that take all paths at once, over any graph   *)
(* of appliances, cycles and all: each passes the first copy of a message  *)
(* on to all its neighbours but the one that it came from, and drops the   *)
(* others.  Links are FIFO; one may be cut, and what is on it is lost.     *)
(*                                                                         *)
(* Source: source document 001, end-to-end architecture: multipath routing *)
(* by copies.                                                              *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Nodes,         \* the appliances are 1 .. Nodes, and the publisher is at 1
  Most,          \* how many messages are published
  MostCuts,      \* how many links may be cut
  IsFirst(_, _), \* rules: whether a copy is passed on: of the sequence of numbers that the appliance passed on, and its
  Meets(_)       \* whether an appliance looks for copies: of how many neighbours it has

VARIABLES
  edges,   \* the links that there are, sets of two appliances
  link,    \* link[m][n]: the sequence of the numbers on the way from m to n
  passed,  \* passed[n]: the sequence of the numbers that n passed on, and delivered
  cuts     \* how many links were cut
vars == <<edges, link, passed, cuts>>

Node == 1 .. Nodes
Near(n) == {m \in Node : {m, n} \in edges}
Range(seq) == {seq[i] : i \in DOMAIN seq}

Init ==
  /\ edges \in SUBSET {{m, n} : m \in Node, n \in Node} /\ \A edge \in edges : Cardinality(edge) = 2
  /\ link = [m \in Node |-> [n \in Node |-> <<>>]]
  /\ passed = [n \in Node |-> <<>>]
  /\ cuts = 0

(* An appliance passes a message on to all neighbours but one. *)
PassOn(n, number, but, links) ==
  /\ passed' = [passed EXCEPT ![n] = Append(@, number)]
  /\ link' = [links EXCEPT ![n] = [m \in Node |-> IF m \in Near(n) \ {but} THEN Append(@[m], number) ELSE @[m]]]

Publish ==
  /\ Len(passed[1]) < Most
  /\ PassOn(1, Len(passed[1]) + 1, 1, link)
  /\ UNCHANGED <<edges, cuts>>

Arrive(m, n) ==
  /\ link[m][n] # <<>>
  /\ LET number == Head(link[m][n])
         behind == [link EXCEPT ![m][n] = Tail(@)]
     IN  IF ~ Meets(Cardinality(Near(n))) \/ IsFirst(passed[n], number) THEN PassOn(n, number, m, behind)
         ELSE link' = behind /\ UNCHANGED passed
  /\ UNCHANGED <<edges, cuts>>

Cut(edge) ==
  /\ cuts < MostCuts
  /\ cuts' = cuts + 1
  /\ edges' = edges \ {edge}
  /\ link' = [m \in Node |-> [n \in Node |-> IF {m, n} = edge THEN <<>> ELSE link[m][n]]]
  /\ UNCHANGED passed

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next == Idle \/ Publish \/ (\E m, n \in Node : Arrive(m, n)) \/ \E edge \in edges : Cut(edge)
Spec == Init /\ [][Next]_vars
-----------------------------------------------------------------------------
RECURSIVE From(_)
From(nodes) == LET more == nodes \cup UNION {Near(n) : n \in nodes} IN IF more = nodes THEN nodes ELSE From(more)
Reached == From({1})
IsQuiet == \A m, n \in Node : link[m][n] = <<>>

(* PS-MULTIPATH: no appliance passes a message on twice, and where there is a way at the end, all come:    *)
(* whatever was cut.                                                                                       *)
FirstOfPathsWins ==
  /\ \A n \in Node : \A i, j \in DOMAIN passed[n] : i < j => passed[n][i] # passed[n][j]
  /\ IsQuiet => \A n \in Reached : Range(passed[n]) = Range(passed[1])

(* PS-ORDER *)
DeliveredInSequence == \A n \in Node : \A i, j \in DOMAIN passed[n] : i < j => passed[n][i] < passed[n][j]

(* Reachability: TLC must find these false. *)
NoCycleReach == \A n \in Node : \A m \in Near(n) : link[m][n] # <<>> => Head(link[m][n]) \notin Range(passed[n])
-----------------------------------------------------------------------------
NotBefore(numbers, number) == number \notin Range(numbers)
Always(near) == TRUE
-----------------------------------------------------------------------------
(* Literal: appliances at which paths meet drop what comes again, and others do not look. *)
WherePathsMeet(near) == near > 2
-----------------------------------------------------------------------------
(* Damage *)
HigherAlone(numbers, number) == \A other \in Range(numbers) : other < number
NotTheLast(numbers, number) == numbers = <<>> \/ numbers[Len(numbers)] # number
Never(numbers, number) == FALSE
=============================================================================
