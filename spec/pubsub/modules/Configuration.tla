---------------------------- MODULE Configuration -----------------------------
(***************************************************************************)
(* An appliance takes its configuration from one of several management     *)
(* nodes.  A configuration has an id, and one whose id is that of the one  *)
(* which the appliance keeps is not transferred.  Management nodes change  *)
(* their configurations, and go back to older ones; an appliance that      *)
(* reaches none of them begins with what it has.                           *)
(*                                                                         *)
(* Source: source document 001, control plane: the configuration id, that  *)
(* is compared; that an appliance registers with one at least of several   *)
(* management systems.                                                     *)
(***************************************************************************)
EXTENDS Naturals

CONSTANTS
  Manager,         \* the management nodes
  MostChanges,     \* how often a configuration changes
  NewId(_, _, _),  \* rules: the id of a changed configuration: of the manager, its id, and how many changes there were
  Skips(_, _),     \* whether the transfer is skipped: of the id that is kept, and the manager's
  Begins(_)        \* what an appliance begins with that reaches nobody: of what it keeps

VARIABLES
  theirs,   \* theirs[m]: the configuration of manager m, id and content
  kept,     \* the one that the appliance keeps
  used,     \* the one that it uses; id 0 for none
  from,     \* the manager that it asked last, in a set, if that has changed nothing since and it has begun since
  reached,  \* whether the appliance reaches managers
  moved,    \* whether the last question led to a transfer
  changes   \* how often anything changed: contents are numbered by it, so that no two are the same
vars == <<theirs, kept, used, from, reached, moved, changes>>

None == [id |-> 0, content |-> 0]

Init ==
  /\ theirs = [m \in Manager |-> [id |-> NewId(m, 0, 0), content |-> 0]]
  /\ kept = None /\ used = None /\ from = {}
  /\ reached = TRUE /\ moved = FALSE /\ changes = 0

Change(m) ==
  /\ changes < MostChanges
  /\ changes' = changes + 1
  /\ theirs' = [theirs EXCEPT ![m] = [id |-> NewId(m, @.id, changes'), content |-> changes']]
  /\ from' = from \ {m}
  /\ UNCHANGED <<kept, used, reached, moved>>

(* The appliance asks a manager: ids are compared, and what differs is transferred, kept and used. *)
Ask(m) ==
  /\ reached
  /\ moved' = ~ Skips(kept.id, theirs[m].id)
  /\ kept' = IF moved' THEN theirs[m] ELSE kept
  /\ used' = kept'
  /\ from' = {m}
  /\ UNCHANGED <<theirs, reached, changes>>

(* It begins anew, with what it keeps where it reaches nobody. *)
Boot ==
  /\ used' = IF reached THEN None ELSE Begins(kept)
  /\ from' = {}
  /\ UNCHANGED <<theirs, kept, reached, moved, changes>>

Part ==
  /\ reached' = ~ reached
  /\ UNCHANGED <<theirs, kept, used, from, moved, changes>>

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next == Idle \/ Boot \/ Part \/ \E m \in Manager : Change(m) \/ Ask(m)
Spec == Init /\ [][Next]_vars /\ \A m \in Manager : SF_vars(Ask(m))
-----------------------------------------------------------------------------
(* PS-CONFIG: what was asked for, and has not changed since, is used. *)
ConfigurationHasId == \A m \in from : used = theirs[m]

(* PS-CONFIG: an equal id is never transferred again. *)
EqualIsSkipped == [][\A m \in Manager : Ask(m) /\ kept.id = theirs[m].id => ~ moved']_vars

(* PS-CONFIG: an appliance that has a configuration, and reaches nobody, has one when it has begun. *)
LastKnownIsUsed == [][Boot /\ ~ reached /\ kept.id # 0 => used' = kept]_vars

(* PS-CONFIG: whoever can be reached again and again is heard in the end. *)
ChangeComes == (\A m \in Manager : []<>reached) => \A m \in Manager : []<>(used = theirs[m])

(* Reachability: TLC must find these false. *)
NoSkipReach == ~ \E m \in Manager : from = {m} /\ changes > 0 /\ kept = theirs[m]
-----------------------------------------------------------------------------
(* An id that no configuration ever had: managers share how many there were. *)
Unused(manager, id, number) == number + 1
WhenEqual(mine, its) == mine = its
WhatIsKept(mine) == mine
-----------------------------------------------------------------------------
(* Literal: a configuration has an id; nothing is said of who gives it when there are several management   *)
(* nodes: each counts its own.                                                                             *)
ItsOwnNext(manager, id, number) == id + 1

(* Literal: nor that it changes whenever the content does. *)
TheSame(manager, id, number) == 1
-----------------------------------------------------------------------------
(* Damage *)
WhenNotOlder(mine, its) == mine >= its
Never(mine, its) == FALSE
Always(mine, its) == mine # 0
Empty(mine) == None
=============================================================================
