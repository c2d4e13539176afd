----------------------------- MODULE Entitlements -----------------------------
(***************************************************************************)
(* Rights to publish and to get, which a management node changes while     *)
(* messages are on their way.  It numbers its changes and pushes them to   *)
(* the appliances of the publisher and of the subscriber, again and again, *)
(* in any order; a change has returned when both have answered for it.     *)
(*                                                                         *)
(* Source: source document 001, end-to-end architecture: the management    *)
(* system sends periodic updates of rights, by which each appliance        *)
(* updates its own table.  Numbers and answers are ours.                   *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  MostChanges,    \* how often rights change
  Most,           \* how many messages are on their way at once
  Applies(_, _),  \* rules: whether a push takes effect: of the number of what the appliance has, and its own
  Returns(_, _),  \* whether a change has returned: of its number, and the lowest that an appliance has answered for
  MayPass(_, _)   \* whether a message passes an appliance: of the rights that are needed there, and those it knows of

VARIABLES
  rights,    \* the sequence of the sets of rights that there were; changes count from 1
  returned,  \* the last change that has returned
  has,       \* by appliance, the number of the change that its table has
  answered,  \* by appliance, the highest number that it answered for
  way,       \* how many messages are between the two
  wrong      \* whether one passed that was surely forbidden, or did not that was surely allowed
vars == <<rights, returned, has, answered, way, wrong>>

Right == {"publish", "get"}
Appliance == {"in", "out"}
NeededAt(a) == IF a = "in" THEN {"publish"} ELSE {"get"}
Lowest(numbers) == CHOOSE n \in numbers : \A m \in numbers : n <= m

Init ==
  /\ rights = <<Right>> /\ returned = 1
  /\ has = [a \in Appliance |-> 1] /\ answered = [a \in Appliance |-> 1]
  /\ way = 0 /\ wrong = FALSE

Change(set) ==
  /\ Len(rights) <= MostChanges /\ set # rights[Len(rights)]
  /\ rights' = Append(rights, set)
  /\ UNCHANGED <<returned, has, answered, way, wrong>>

(* A push comes: of any change that there was. *)
Hear(a, number) ==
  /\ number \in DOMAIN rights
  /\ has' = IF Applies(has[a], number) THEN [has EXCEPT ![a] = number] ELSE has
  /\ answered' = IF number > answered[a] THEN [answered EXCEPT ![a] = number] ELSE answered
  /\ UNCHANGED <<rights, returned, way, wrong>>

Return ==
  /\ returned < Len(rights) /\ Returns(returned + 1, Lowest({answered[a] : a \in Appliance}))
  /\ returned' = returned + 1
  /\ UNCHANGED <<rights, has, answered, way, wrong>>

(* Since the last change that has returned: of those that have not, nobody knows where they are. *)
SurelyAllowed(set) == \A number \in returned .. Len(rights) : set \subseteq rights[number]
SurelyForbidden(set) == \A number \in returned .. Len(rights) : ~ (set \subseteq rights[number])

(* A message is published, or is to be delivered. *)
Meet(a) ==
  /\ IF a = "in" THEN way < Most ELSE way > 0
  /\ LET passes == MayPass(NeededAt(a), rights[has[a]]) IN
     /\ wrong' = (wrong \/ (IF passes THEN SurelyForbidden(NeededAt(a)) ELSE SurelyAllowed(NeededAt(a))))
     /\ way' = IF a = "out" THEN way - 1 ELSE IF passes THEN way + 1 ELSE way
  /\ UNCHANGED <<rights, returned, has, answered>>

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next ==
  \/ Idle \/ Return \/ \E set \in SUBSET Right : Change(set)
  \/ \E a \in Appliance : Meet(a) \/ \E number \in 1 .. MostChanges + 1 : Hear(a, number)
Spec == Init /\ [][Next]_vars /\ WF_vars(Return) /\ \A a \in Appliance : WF_vars(Hear(a, Len(rights)))
-----------------------------------------------------------------------------
(* PS-AUTH *)
EntitlementsBind == ~ wrong

(* PS-AUTH: a change takes effect in the end. *)
ChangeReturns == \A number \in 1 .. MostChanges + 1 : Len(rights) >= number ~> returned >= number

(* Reachability: TLC must find these false. *)
NoOldPushReach == \A a \in Appliance : has[a] >= returned
NoRaceReach == ~ (way > 0 /\ ~ ({"get"} \subseteq rights[has["out"]]))
-----------------------------------------------------------------------------
Newer(mine, its) == its > mine
WhenAllHave(number, lowest) == number <= lowest
AreListed(needed, known) == needed \subseteq known
-----------------------------------------------------------------------------
(* Literal: updates come from time to time, and each appliance takes what comes. *)
FromTimeToTime(number, lowest) == TRUE
WhateverComes(mine, its) == TRUE
-----------------------------------------------------------------------------
(* Damage *)
NeverReturns(number, lowest) == FALSE
Anybody(needed, known) == TRUE
WithAll(needed, known) == known = {"publish", "get"}
=============================================================================
