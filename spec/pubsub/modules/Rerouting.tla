------------------------------ MODULE Rerouting -------------------------------
(***************************************************************************)
(* Guaranteed messages from one appliance to another, on one of several    *)
(* paths, which is chosen anew as metrics change.  Paths are FIFO, one may *)
(* be faster than another, and what is on a path may be lost.  The sender  *)
(* keeps what was not acknowledged.                                        *)
(*                                                                         *)
(* Source: source document 001, end-to-end architecture: routing among     *)
(* core appliances changes in real time on latency, loss, jitter and load. *)
(* What is kept, numbered and acknowledged is ours.                        *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  Path,            \* the paths
  Most,            \* how many messages are sent
  MostChanges,     \* how often the path is changed, or loses all that is on it
  Takes(_, _),     \* rules: whether a message is taken: of the last that was, and its number
  SentAgain(_, _)  \* what is sent again on the new path, as a set: of the last acknowledged, and the last sent

VARIABLES
  chosen,   \* the path in use
  sent,     \* the last message that was sent
  heard,    \* the last that is known to have come
  way,      \* way[p]: the sequence of the messages on path p
  got,      \* the sequence of those that were taken
  changes   \* how often anything changed
vars == <<chosen, sent, heard, way, got, changes>>

Last == IF got = <<>> THEN 0 ELSE got[Len(got)]
RECURSIVE InOrder(_)
InOrder(numbers) ==
  IF numbers = {} THEN <<>>
  ELSE LET least == CHOOSE n \in numbers : \A m \in numbers : n <= m IN <<least>> \o InOrder(numbers \ {least})

Init ==
  /\ chosen \in Path
  /\ sent = 0 /\ heard = 0
  /\ way = [p \in Path |-> <<>>] /\ got = <<>>
  /\ changes = 0

Send ==
  /\ sent < Most
  /\ sent' = sent + 1
  /\ way' = [way EXCEPT ![chosen] = Append(@, sent')]
  /\ UNCHANGED <<chosen, heard, got, changes>>

Arrive(p) ==
  /\ way[p] # <<>>
  /\ way' = [way EXCEPT ![p] = Tail(@)]
  /\ got' = IF Takes(Last, Head(way[p])) THEN Append(got, Head(way[p])) ELSE got
  /\ UNCHANGED <<chosen, sent, heard, changes>>

Acknowledge ==
  /\ heard < Last
  /\ heard' = Last
  /\ UNCHANGED <<chosen, sent, way, got, changes>>

Change(p) ==
  /\ changes < MostChanges /\ p # chosen
  /\ changes' = changes + 1
  /\ chosen' = p
  /\ way' = [way EXCEPT ![p] = @ \o InOrder(SentAgain(heard, sent))]
  /\ UNCHANGED <<sent, heard, got>>

(* The path in use loses what is on it, and is left. *)
Lose(p) ==
  /\ changes < MostChanges /\ p # chosen
  /\ changes' = changes + 1
  /\ chosen' = p
  /\ way' = [way EXCEPT ![chosen] = <<>>, ![p] = @ \o InOrder(SentAgain(heard, sent))]
  /\ UNCHANGED <<sent, heard, got>>

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next == Idle \/ Send \/ Acknowledge \/ \E p \in Path : Arrive(p) \/ Change(p) \/ Lose(p)
Spec == Init /\ [][Next]_vars
-----------------------------------------------------------------------------
(* PS-NEIGHBOUR: in order, nothing twice, and nothing missing when nothing is on the way. *)
ReroutingLosesNothing ==
  /\ \A i \in DOMAIN got : got[i] = i
  /\ (\A p \in Path : way[p] = <<>>) => Last = sent

(* Reachability: TLC must find these false. *)
NoOvertakingReach == \A p, q \in Path : way[p] # <<>> /\ way[q] # <<>> => Head(way[p]) = Head(way[q])
-----------------------------------------------------------------------------
TheNext(last, number) == number = last + 1
Unacknowledged(known, last) == known + 1 .. last
-----------------------------------------------------------------------------
(* Literal: the path is changed, and what is sent from then on goes there. *)
Nothing(known, last) == {}
-----------------------------------------------------------------------------
(* Damage *)
Whatever(last, number) == TRUE
Higher(last, number) == number > last
TheLast(known, last) == IF last > known THEN {last} ELSE {}
=============================================================================
