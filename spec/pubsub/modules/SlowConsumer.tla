----------------------------- MODULE SlowConsumer -----------------------------
(***************************************************************************)
(* Consumers of a shared (multicast) channel, one of which is slow: it is  *)
(* moved to a channel of its own, and back when it has caught up.  What    *)
(* waits for each consumer is a queue of its own in either case; what was  *)
(* put on the shared channel for one that is moved is lost with its place  *)
(* there, but for what the move takes along.                               *)
(*                                                                         *)
(* Source: source document 001, control plane: the protocol optimisation   *)
(* service moves slow clients from the multicast channel to a unicast one. *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  Consumer, Slow,    \* the consumers, and the one that is moved
  Most,              \* how many messages are sent
  MostMoves,         \* how often it is moved
  Taken(_, _),       \* rules: what the new channel begins with: of what waits on the shared one, and the last message
                     \* that the consumer has
  MayReturn(_),      \* whether the consumer may go back: of what waits on its own channel
  Stays(_)           \* what goes on waiting on the shared channel when it is moved: of what waits there

VARIABLES
  sent,     \* the last message that was sent
  shared,   \* shared[c]: the sequence of the messages that wait for c on the shared channel
  own,      \* of those that wait on the slow one's own
  isMoved,  \* whether the slow one is moved
  got,      \* got[c]: the sequence of the messages that c has
  moves     \* how often it was moved
vars == <<sent, shared, own, isMoved, got, moves>>

Last(c) == IF got[c] = <<>> THEN 0 ELSE got[c][Len(got[c])]

Init ==
  /\ sent = 0
  /\ shared = [c \in Consumer |-> <<>>] /\ own = <<>> /\ isMoved = FALSE
  /\ got = [c \in Consumer |-> <<>>]
  /\ moves = 0

Send ==
  /\ sent < Most
  /\ sent' = sent + 1
  /\ shared' = [c \in Consumer |-> IF c = Slow /\ isMoved THEN shared[c] ELSE Append(shared[c], sent')]
  /\ own' = IF isMoved THEN Append(own, sent') ELSE own
  /\ UNCHANGED <<isMoved, got, moves>>

Receive(c) ==
  /\ shared[c] # <<>>
  /\ shared' = [shared EXCEPT ![c] = Tail(@)]
  /\ got' = [got EXCEPT ![c] = Append(@, Head(shared[c]))]
  /\ UNCHANGED <<sent, own, isMoved, moves>>

ReceiveOwn ==
  /\ own # <<>>
  /\ own' = Tail(own)
  /\ got' = [got EXCEPT ![Slow] = Append(@, Head(own))]
  /\ UNCHANGED <<sent, shared, isMoved, moves>>

Move ==
  /\ ~ isMoved /\ moves < MostMoves
  /\ moves' = moves + 1
  /\ isMoved' = TRUE
  /\ own' = own \o Taken(shared[Slow], Last(Slow))
  /\ shared' = [shared EXCEPT ![Slow] = Stays(@)]
  /\ UNCHANGED <<sent, got>>

Return ==
  /\ isMoved /\ MayReturn(own)
  /\ isMoved' = FALSE
  /\ UNCHANGED <<sent, shared, own, got, moves>>

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next == Idle \/ Send \/ ReceiveOwn \/ Move \/ Return \/ \E c \in Consumer : Receive(c)
Spec == Init /\ [][Next]_vars /\ WF_vars(ReceiveOwn) /\ WF_vars(Return) /\ \A c \in Consumer : WF_vars(Receive(c))
-----------------------------------------------------------------------------
(* PS-SLOW: neither gap nor repeat, for the one that is moved and for the others. *)
SlowConsumerMovesUnseen == \A c \in Consumer : \A i \in DOMAIN got[c] : got[c][i] = i

(* PS-SLOW: all comes, and whoever has caught up goes back. *)
AllComes == \A number \in 1 .. Most : sent >= number ~> \A c \in Consumer : Last(c) >= number
GoesBack == isMoved ~> ~ isMoved

(* Reachability: TLC must find these false. *)
NoReturnReach == ~ (moves > 0 /\ ~ isMoved /\ shared[Slow] # <<>>)
-----------------------------------------------------------------------------
WhatWaits(queue, last) == queue
WhenEmpty(queue) == queue = <<>>
None(queue) == <<>>
-----------------------------------------------------------------------------
(* Literal: the consumer is moved; nothing is said of what waits. *)
Nothing(queue, last) == <<>>
-----------------------------------------------------------------------------
(* Damage *)
TheLastAgain(queue, last) == IF last > 0 THEN <<last>> \o queue ELSE queue
AtOnce(queue) == TRUE
NotBack(queue) == FALSE
All(queue) == queue
=============================================================================
