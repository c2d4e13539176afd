-------------------------- MODULE PartialPublishing ---------------------------
(***************************************************************************)
(* A value of several fields, of which only the changes are sent.  A       *)
(* subscriber that joins late asks the cache engine for the full value,    *)
(* which comes by another way than the changes do.                         *)
(*                                                                         *)
(* Source: source document 001, end-to-end architecture: partial           *)
(* publishing; the cache engine, by which it is implemented.               *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  Field,        \* the fields of the value
  Most,         \* how often it changes
  IsSent,       \* rules: whether a subscriber that joins is sent the full value
  Shows(_),     \* whether the subscriber's value is shown: of whether it had the full one
  Applies(_, _) \* whether what comes takes the place of a field: of the number of the change in it, and its own

VARIABLES
  value,   \* by field, the number of the change that it has, 0 for the first value
  last,    \* the number of the last change
  joined,  \* whether the subscriber has joined
  way,     \* the sequence of the changes on the way to it: field and number
  full,    \* the full value on the way to it, in a sequence of one or none
  view,    \* by field, the number of the change that it knows, or Unknown
  hasFull  \* whether it had the full value
vars == <<value, last, joined, way, full, view, hasFull>>

Unknown == 99

Init ==
  /\ value = [f \in Field |-> 0] /\ last = 0
  /\ joined = FALSE /\ way = <<>> /\ full = <<>>
  /\ view = [f \in Field |-> Unknown] /\ hasFull = FALSE

Change(f) ==
  /\ last < Most
  /\ last' = last + 1
  /\ value' = [value EXCEPT ![f] = last']
  /\ way' = IF joined THEN Append(way, [field |-> f, number |-> last']) ELSE way
  /\ UNCHANGED <<joined, full, view, hasFull>>

Join ==
  /\ ~ joined
  /\ joined' = TRUE
  /\ full' = IF IsSent THEN <<value>> ELSE <<>>
  /\ UNCHANGED <<value, last, way, view, hasFull>>

TakeChange ==
  /\ way # <<>>
  /\ way' = Tail(way)
  /\ LET one == Head(way) IN
       view' = IF Applies(view[one.field], one.number) THEN [view EXCEPT ![one.field] = one.number] ELSE view
  /\ UNCHANGED <<value, last, joined, full, hasFull>>

TakeFull ==
  /\ full # <<>>
  /\ full' = <<>> /\ hasFull' = TRUE
  /\ view' = [f \in Field |-> IF Applies(view[f], full[1][f]) THEN full[1][f] ELSE view[f]]
  /\ UNCHANGED <<value, last, joined, way>>

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next == Idle \/ Join \/ TakeChange \/ TakeFull \/ \E f \in Field : Change(f)
Spec == Init /\ [][Next]_vars /\ WF_vars(TakeChange) /\ WF_vars(TakeFull)
-----------------------------------------------------------------------------
Shown == Shows(hasFull) /\ \E f \in Field : view[f] # Unknown

(* PS-PARTIAL: nothing is shown without the rest of the value, nor goes back. *)
LateJoinersGetAll == Shown => \A f \in Field : view[f] # Unknown
NothingGoesBack == [][\A f \in Field : view[f] # Unknown => view'[f] # Unknown /\ view'[f] >= view[f]]_vars

(* PS-PARTIAL: all is known in the end. *)
ViewComes == joined ~> (\A f \in Field : view[f] = value[f]) /\ Shows(hasFull)

(* Reachability: TLC must find these false. *)
NoRaceReach == ~ (full # <<>> /\ \E f \in Field : view[f] # Unknown /\ view[f] > full[1][f])
-----------------------------------------------------------------------------
Yes == TRUE
WithTheRest(had) == had
Newer(mine, its) == mine = Unknown \/ its > mine
-----------------------------------------------------------------------------
(* Literal: only what changed is sent, and not all. *)
No == FALSE
AtOnce(had) == TRUE
-----------------------------------------------------------------------------
(* Damage *)
Whatever(mine, its) == TRUE
OnlyFirst(mine, its) == mine = Unknown
=============================================================================
