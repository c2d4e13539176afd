----------------------------- MODULE PriorityFlow -----------------------------
(***************************************************************************)
(* Does a group starve under higher priorities?  The source document       *)
(* promises that the group of the highest priority is found, and of the    *)
(* others nothing.  Here senders never come to an end: groups, each of a   *)
(* correlation of its own, come for ever, and a worker takes them one by   *)
(* one, by the same order as in WorkQueue.                                 *)
(*                                                                         *)
(* By priority, a low group waits for ever while high ones come fast       *)
(* enough, however fair the worker is: it can be taken at no moment of     *)
(* that run.  By position, or where a group that was passed over often     *)
(* enough goes first, it is taken.  By priority still hold: a group of the *)
(* highest priority is passed by none that came later, and (in WorkQueue,  *)
(* where senders come to an end) every group is finished.                  *)
(*                                                                         *)
(* Source: source document 002, getting the next group, paragraph 1.       *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  Most,          \* how many groups wait at most
  MostPassed,    \* up to which number it is counted how often a group was passed over
  Before(_, _)   \* the order in which groups are taken

VARIABLES
  waiting   \* the sequence of the groups that wait: priority (1 or 2), and how often a later one was taken before it
vars == waiting

High == [priority |-> 1, passed |-> 0]
Low == [priority |-> 2, passed |-> 0]
LowWaits == \E i \in DOMAIN waiting : waiting[i].priority = 2

Row(i) == [priority |-> waiting[i].priority, place |-> i, passed |-> waiting[i].passed]
IsNext(i) == \A j \in DOMAIN waiting \ {i} : Before(Row(i), Row(j))

Passed(one) == [one EXCEPT !.passed = IF @ < MostPassed THEN @ + 1 ELSE @]
-----------------------------------------------------------------------------
Init == waiting = <<>>

(* One low group at a time, so that it is known which was taken. *)
Come(group) ==
  /\ Len(waiting) < Most
  /\ group = Low => ~ LowWaits
  /\ waiting' = Append(waiting, group)

Take(i) ==
  /\ i \in DOMAIN waiting
  /\ IsNext(i)
  /\ waiting' = [j \in 1 .. i - 1 |-> Passed(waiting[j])] \o SubSeq(waiting, i + 1, Len(waiting))

TakeAny == \E i \in 1 .. Most : Take(i)
TakeLow == \E i \in 1 .. Most : i \in DOMAIN waiting /\ waiting[i].priority = 2 /\ Take(i)

Next == Come(High) \/ Come(Low) \/ TakeAny

(* The worker goes on, and takes a low group if it can do so again and again. *)
Spec == Init /\ [][Next]_vars /\ WF_vars(TakeAny) /\ SF_vars(TakeLow)
-----------------------------------------------------------------------------
(* No lower group is held up for ever. *)
NobodyStarves == LowWaits ~> ~ LowWaits

(* Q-PRIORITY: what is highest is passed by nothing that came later. *)
HighestIsNotPassed == \A i \in DOMAIN waiting : waiting[i].priority = 1 => waiting[i].passed = 0
-----------------------------------------------------------------------------
(* As in WorkRules; with the third, a group that was passed over MostPassed times goes first. *)
ByPriority(row, other) ==
  row.priority < other.priority \/ (row.priority = other.priority /\ row.place < other.place)
ByPlace(row, other) == row.place < other.place
IsOld(row) == row.passed = MostPassed
ByAge(row, other) ==
  IF IsOld(row) # IsOld(other) THEN IsOld(row)
  ELSE IF IsOld(row) THEN ByPlace(row, other) ELSE ByPriority(row, other)

(* Damage *)
ByLatest(row, other) ==
  row.priority < other.priority \/ (row.priority = other.priority /\ row.place > other.place)
=============================================================================
