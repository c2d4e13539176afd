-------------------------- MODULE SharedSubscription --------------------------
(***************************************************************************)
(* Messages for the members of one shared subscription, of whom each gets  *)
(* some.  A message has a time after which it is delivered no more.  A     *)
(* member may leave with what it has not acknowledged; another one may     *)
(* join.                                                                   *)
(*                                                                         *)
(* Source: NATS, queue groups; JetStream, the age of messages.             *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  Member,          \* who may be a member
  Most,            \* how many messages are published
  Lasts(_),        \* how many ticks a message may wait
  MostTicks,       \* how often time passes
  Receivers(_),    \* rules: the sets of members to whom a message may go: of the members there are
  Freed(_),        \* what of that which a member has not acknowledged waits again when it leaves
  IsOver(_, _),    \* whether a message is over: of its end and the time
  Ready(_, _)      \* which of the waiting messages may be delivered, as places: of the queue and the time

VARIABLES
  now,      \* the time
  last,     \* the last message
  ends,     \* by message, the time at which it is over
  queue,    \* the sequence of the messages that wait
  members,  \* who is a member
  hands,    \* by member, the messages that it got and has not acknowledged
  done,     \* the messages that were acknowledged
  late      \* whether one was delivered that was over
vars == <<now, last, ends, queue, members, hands, done, late>>

Init ==
  /\ now = 0 /\ last = 0 /\ ends = [n \in 1 .. Most |-> 0]
  /\ queue = <<>> /\ members = {}
  /\ hands = [m \in Member |-> {}] /\ done = {}
  /\ late = FALSE

Publish ==
  /\ last < Most
  /\ last' = last + 1
  /\ ends' = [ends EXCEPT ![last'] = now + Lasts(last')]
  /\ queue' = Append(queue, last')
  /\ UNCHANGED <<now, members, hands, done, late>>

Tick ==
  /\ now < MostTicks
  /\ now' = now + 1
  /\ UNCHANGED <<last, ends, queue, members, hands, done, late>>

Without(place) == SubSeq(queue, 1, place - 1) \o SubSeq(queue, place + 1, Len(queue))

Give(place, to) ==
  /\ place \in DOMAIN queue /\ place \in Ready([i \in DOMAIN queue |-> ends[queue[i]]], now)
  /\ to \in Receivers(members)
  /\ hands' = [m \in Member |-> IF m \in to THEN hands[m] \cup {queue[place]} ELSE hands[m]]
  /\ queue' = Without(place)
  /\ late' = (late \/ now > ends[queue[place]])
  /\ UNCHANGED <<now, last, ends, members, done>>

(* One that is over goes. *)
Drop(place) ==
  /\ place \in DOMAIN queue /\ IsOver(ends[queue[place]], now)
  /\ queue' = Without(place)
  /\ UNCHANGED <<now, last, ends, members, hands, done, late>>

Acknowledge(m, number) ==
  /\ number \in hands[m]
  /\ hands' = [hands EXCEPT ![m] = @ \ {number}]
  /\ done' = done \cup {number}
  /\ UNCHANGED <<now, last, ends, queue, members, late>>

Join(m) ==
  /\ m \notin members
  /\ members' = members \cup {m}
  /\ UNCHANGED <<now, last, ends, queue, hands, done, late>>

RECURSIVE InOrder(_)
InOrder(numbers) ==
  IF numbers = {} THEN <<>>
  ELSE LET least == CHOOSE n \in numbers : \A k \in numbers : n <= k IN <<least>> \o InOrder(numbers \ {least})

Leave(m) ==
  /\ m \in members
  /\ members' = members \ {m}
  /\ queue' = InOrder(Freed(hands[m])) \o queue
  /\ hands' = [hands EXCEPT ![m] = {}]
  /\ UNCHANGED <<now, last, ends, done, late>>

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next ==
  \/ Idle \/ Publish \/ Tick
  \/ \E place \in 1 .. Most : Drop(place) \/ \E to \in SUBSET Member : Give(place, to)
  \/ \E m \in Member : Join(m) \/ Leave(m) \/ \E number \in 1 .. Most : Acknowledge(m, number)
Spec == Init /\ [][Next]_vars
-----------------------------------------------------------------------------
Waits(number) == \E i \in DOMAIN queue : queue[i] = number

(* PS-SHARED: with one member at a time, and nowhere else; what is gone was acknowledged, or is over. *)
OneMemberGetsIt ==
  \A number \in 1 .. last :
    /\ \A m, n \in Member : number \in hands[m] \cap hands[n] => m = n /\ ~ Waits(number)
    /\ (\A m \in Member : number \notin hands[m]) /\ ~ Waits(number) => number \in done \/ now > ends[number]

(* PS-EXPIRE: nothing is delivered that is over, and whatever is not may be. *)
ExpiredIsNotDelivered ==
  /\ ~ late
  /\ members # {} => \A i \in DOMAIN queue : now <= ends[queue[i]] =>
       i \in Ready([j \in DOMAIN queue |-> ends[queue[j]]], now) \/ \E j \in 1 .. i - 1 : now <= ends[queue[j]]

(* Reachability: TLC must find these false. *)
NoSecondReach == ~ \E m \in Member : \E number \in hands[m] : members = {m} /\ number < last /\ last \in done
NoOverReach == ~ \E i, j \in DOMAIN queue : i < j /\ now > ends[queue[i]] /\ now <= ends[queue[j]]
-----------------------------------------------------------------------------
Alternately(number) == number % 2
OneOf(all) == {{m} : m \in all}
WhatItHas(numbers) == numbers
AfterItsEnd(end, time) == time > end
FirstThatIsNotOver(their, time) ==
  {i \in DOMAIN their : time <= their[i] /\ \A j \in 1 .. i - 1 : time > their[j]}
-----------------------------------------------------------------------------
(* Damage *)
Everybody(all) == {all} \ {{}}
Nothing(numbers) == {}
AtItsEnd(end, time) == time >= end
First(their, time) == {1}
FirstIfNotOver(their, time) == {i \in {1} \cap DOMAIN their : time <= their[i]}
=============================================================================
