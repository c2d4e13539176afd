---------------------------- MODULE SessionLevels -----------------------------
(***************************************************************************)
(* A durable session of one subscriber at a broker.  Messages have levels: *)
(* at 0 they come or not; at 1 they are sent until they are acknowledged;  *)
(* at 2 the subscriber knows those that it received until the broker       *)
(* releases them, which it does once it heard that they were received.     *)
(* What is on the way is lost when the connection ends.                    *)
(*                                                                         *)
(* Source: MQTT 3.1.1, sections 3.1.2.4, 3.8.4, 4.3, 4.4 and 4.6.          *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  Most,             \* how many messages are published
  MostLeaves,       \* how often the subscriber goes
  Published,        \* the levels at which messages are published
  Granted,          \* the level of the subscription
  LevelOf(_, _),    \* rules: at which level a message is delivered: of its level and that of the subscription
  Queued(_, _, _),  \* the queue with a new message: of the queue, the message, whether the subscriber is connected
  Resent(_),        \* what is sent again of a message in flight: of whether it was received, "message", "release" or ""
  InTurn(_),        \* in which order: of the sequence of what is sent again
  Again(_),         \* whether what is sent again is marked
  Knows(_, _)       \* what a subscriber knows when it took a message at level 2: of what it knew, and the number

VARIABLES
  levels,   \* the sequence of the levels at which messages were published
  waiting,  \* the sequence of the messages, number and level, that wait in the session
  flight,   \* the sequence of those that were sent and not acknowledged: number, level, whether they were received
  down,     \* the sequence of what is on the way to the subscriber
  up,       \* the sequence of what is on the way back
  here,     \* whether the subscriber is connected
  known,    \* the numbers that it received at level 2 and that were not released
  got,      \* the sequence of what was delivered: number, level, whether it is marked as a repeat, connection
  leaves    \* how often the subscriber went
vars == <<levels, waiting, flight, down, up, here, known, got, leaves>>

Init ==
  /\ levels = <<>> /\ waiting = <<>> /\ flight = <<>>
  /\ down = <<>> /\ up = <<>> /\ here = TRUE
  /\ known = {} /\ got = <<>> /\ leaves = 0

Packet(what, one, again) == [what |-> what, number |-> one.number, level |-> one.level, again |-> again]

Publish(level) ==
  /\ Len(levels) < Most
  /\ levels' = Append(levels, level)
  /\ LET one == [number |-> Len(levels'), level |-> LevelOf(level, Granted)] IN
     IF one.level = 0
     THEN down' = (IF here THEN Append(down, Packet("message", one, FALSE)) ELSE down) /\ UNCHANGED waiting
     ELSE waiting' = Queued(waiting, one, here) /\ UNCHANGED down
  /\ UNCHANGED <<flight, up, here, known, got, leaves>>

Send ==
  /\ here /\ waiting # <<>>
  /\ waiting' = Tail(waiting)
  /\ flight' = Append(flight, [number |-> Head(waiting).number, level |-> Head(waiting).level, received |-> FALSE])
  /\ down' = Append(down, Packet("message", Head(waiting), FALSE))
  /\ UNCHANGED <<levels, up, here, known, got, leaves>>

(* The subscriber takes what comes first. *)
Receive ==
  /\ down # <<>>
  /\ LET one == Head(down)
         new == one.what = "message" /\ (one.level < 2 \/ one.number \notin known)
         back == IF one.what = "release" THEN "released" ELSE IF one.level = 2 THEN "received" ELSE "acknowledged"
     IN
     /\ got' = IF ~ new THEN got
               ELSE Append(got, [number |-> one.number, level |-> one.level, again |-> one.again /\ one.level = 1,
                                 connection |-> leaves])
     /\ known' = IF one.what = "release" THEN known \ {one.number}
                 ELSE IF one.level = 2 THEN Knows(known, one.number) ELSE known
     /\ up' = IF one.level = 0 THEN up ELSE Append(up, Packet(back, one, FALSE))
  /\ down' = Tail(down)
  /\ UNCHANGED <<levels, waiting, flight, here, leaves>>

(* The broker hears of a message in flight. *)
Hear ==
  /\ up # <<>>
  /\ LET one == Head(up)
         Is(other) == other.number = one.number
         IsNot(other) == ~ Is(other)
     IN
     IF one.what = "received"
     THEN /\ flight' = [i \in DOMAIN flight |->
               IF Is(flight[i]) THEN [flight[i] EXCEPT !.received = TRUE] ELSE flight[i]]
          /\ down' = Append(down, Packet("release", one, FALSE))
     ELSE flight' = SelectSeq(flight, IsNot) /\ UNCHANGED down
  /\ up' = Tail(up)
  /\ UNCHANGED <<levels, waiting, here, known, got, leaves>>

Leave ==
  /\ here /\ leaves < MostLeaves
  /\ leaves' = leaves + 1
  /\ here' = FALSE /\ down' = <<>> /\ up' = <<>>
  /\ UNCHANGED <<levels, waiting, flight, known, got>>

(* What was in flight is sent again, ahead of all else. *)
Return ==
  /\ ~ here
  /\ here' = TRUE
  /\ LET IsSent(one) == Resent(one.received) # ""
         left == SelectSeq(flight, IsSent)
     IN  down' = InTurn([i \in DOMAIN left |-> Packet(Resent(left[i].received), left[i], Again(left[i].level))])
  /\ UNCHANGED <<levels, waiting, flight, up, known, got, leaves>>

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next == Idle \/ Send \/ Receive \/ Hear \/ Leave \/ Return \/ \E level \in Published : Publish(level)
Spec == Init /\ [][Next]_vars /\ WF_vars(Send) /\ WF_vars(Receive) /\ WF_vars(Hear) /\ WF_vars(Return)
-----------------------------------------------------------------------------
Lower(m, n) == IF m < n THEN m ELSE n
Came(number) == {i \in DOMAIN got : got[i].number = number}
IsFirst(i) == \A j \in Came(got[i].number) : i <= j
IsGuaranteed(number) == Lower(levels[number], Granted) > 0

(* PS-QOS-LEVEL *)
LowerLevelHolds ==
  \A i \in DOMAIN got :
    /\ got[i].level = Lower(levels[got[i].number], Granted)
    /\ ~ IsFirst(i) => got[i].level = 1 /\ got[i].again

(* PS-SESSION: what is guaranteed comes first in its order, and nothing is left out. *)
WaitingComeFirst ==
  \A i \in DOMAIN got : IsFirst(i) /\ got[i].level > 0 =>
    \A number \in 1 .. got[i].number - 1 : IsGuaranteed(number) => \E j \in Came(number) : j < i

(* PS-PER-PUBLISHER: on each connection, repeats included. *)
BrokerKeepsOrder ==
  \A i, j \in DOMAIN got :
    i < j /\ got[i].connection = got[j].connection /\ got[i].level = got[j].level => got[i].number < got[j].number

(* PS-SESSION: all of it comes. *)
GuaranteedComes == \A number \in 1 .. Most : (number \in DOMAIN levels /\ IsGuaranteed(number)) ~> Came(number) # {}

(* Reachability: TLC must find these false. *)
NoRepeatReach == \A i \in DOMAIN got : IsFirst(i)
NoReleaseReach == \A i \in DOMAIN flight : here => ~ flight[i].received
-----------------------------------------------------------------------------
InLine(queue, one, connected) == Append(queue, one)
WhatIsDue(received) == IF received THEN "release" ELSE "message"
AsTheyCame(packets) == packets
Marked(level) == TRUE
AndThis(numbers, number) == numbers \cup {number}
-----------------------------------------------------------------------------
(* Damage *)
AsPublished(published, granted) == published
LiveFirst(queue, one, connected) == IF connected THEN <<one>> \o queue ELSE Append(queue, one)
MessageAgain(received) == "message"
NothingAgain(received) == ""
Backwards(packets) == [i \in DOMAIN packets |-> packets[Len(packets) + 1 - i]]
Unmarked(level) == FALSE
NotThis(numbers, number) == numbers
=============================================================================
