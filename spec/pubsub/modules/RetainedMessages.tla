--------------------------- MODULE RetainedMessages ---------------------------
(***************************************************************************)
(* The retained message of one topic.  It is kept until another takes its  *)
(* place, or an empty one deletes it, and goes to whoever subscribes, once *)
(* and marked.  Subscriptions are plain or shared; a subscriber that is    *)
(* away keeps its subscription, and what comes then waits for it.          *)
(*                                                                         *)
(* Source: MQTT 3.1.1, sections 3.3.1.3 and 3.8.4; of shared subscriptions *)
(* MQTT 5, section 4.8.2.                                                  *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  Plain, Shared,    \* the subscribers, by what they subscribe with
  Most,             \* how many messages are published
  MostSubscribes,   \* how often anybody subscribes
  Kept(_, _, _),    \* rules: what is retained: of what was, the new message, and whether that is empty
  IsSent(_, _),     \* whether it is sent: of whether a subscription is shared, and whether it is new
  Marks(_, _)       \* whether a message is marked: of whether it was retained, and whether it waited

VARIABLES
  last,        \* the number of the last message
  retained,    \* the number of the retained one, 0 for none
  subscribed,  \* who subscribes
  away,        \* who is away
  waits,       \* by subscriber, the sequence of what is to be delivered: number, whether it was retained, and marked
  due,         \* by subscriber, how many retained messages are owed to it
  got,         \* by subscriber, how many marked ones were delivered
  wrong,       \* whether anything was marked that was live, or not that was retained, or came to nobody's subscription
  subscribes   \* how often anybody subscribed
vars == <<last, retained, subscribed, away, waits, due, got, wrong, subscribes>>

Client == Plain \cup Shared

Init ==
  /\ last = 0 /\ retained = 0
  /\ subscribed = {} /\ away = {}
  /\ waits = [c \in Client |-> <<>>]
  /\ due = [c \in Client |-> 0] /\ got = [c \in Client |-> 0]
  /\ wrong = FALSE /\ subscribes = 0

One(number, old, waited) == [number |-> number, old |-> old, marked |-> Marks(old, waited)]

(* What waits, with the retained message where that goes to a subscriber, whose subscription is new or not. *)
Sent(c, new) ==
  IF retained = 0 \/ ~ IsSent(c \in Shared, new) THEN waits
  ELSE [waits EXCEPT ![c] = Append(@, One(retained, TRUE, FALSE))]

(* A message that is to be retained; an empty one deletes what is. *)
Publish(empty) ==
  /\ last < Most
  /\ last' = last + 1
  /\ retained' = Kept(retained, last', empty)
  /\ waits' = [c \in Client |-> IF c \in subscribed THEN Append(waits[c], One(last', FALSE, c \in away)) ELSE waits[c]]
  /\ UNCHANGED <<subscribed, away, due, got, wrong, subscribes>>

Subscribe(c) ==
  /\ subscribes < MostSubscribes /\ c \notin subscribed
  /\ subscribes' = subscribes + 1
  /\ subscribed' = subscribed \cup {c}
  /\ waits' = Sent(c, TRUE)
  /\ due' = IF retained # 0 /\ c \in Plain THEN [due EXCEPT ![c] = @ + 1] ELSE due
  /\ UNCHANGED <<last, retained, away, got, wrong>>

Leave(c) ==
  /\ c \in subscribed \ away
  /\ away' = away \cup {c}
  /\ UNCHANGED <<last, retained, subscribed, waits, due, got, wrong, subscribes>>

(* It comes back, with the subscription that it had. *)
Return(c) ==
  /\ c \in away
  /\ away' = away \ {c}
  /\ waits' = Sent(c, FALSE)
  /\ UNCHANGED <<last, retained, subscribed, due, got, wrong, subscribes>>

Deliver(c) ==
  /\ c \notin away /\ waits[c] # <<>>
  /\ waits' = [waits EXCEPT ![c] = Tail(@)]
  /\ got' = IF Head(waits[c]).old THEN [got EXCEPT ![c] = @ + 1] ELSE got
  /\ wrong' = (wrong \/ Head(waits[c]).marked # Head(waits[c]).old)
  /\ UNCHANGED <<last, retained, subscribed, away, due, subscribes>>

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next ==
  \/ Idle \/ Publish(TRUE) \/ Publish(FALSE)
  \/ \E c \in Client : Subscribe(c) \/ Leave(c) \/ Return(c) \/ Deliver(c)
Spec == Init /\ [][Next]_vars
-----------------------------------------------------------------------------
(* PS-RETAIN *)
RetainedComesOnce ==
  /\ ~ wrong
  /\ \A c \in Client : got[c] <= due[c] /\ (waits[c] = <<>> => got[c] = due[c])

(* PS-RETAIN: an empty one deletes, and any other is retained. *)
EmptyDeletes == [][Publish(TRUE) => retained' = 0]_vars
NewestIsKept == [][Publish(FALSE) => retained' = last']_vars

(* Reachability: TLC must find these false. *)
NoRetainedReach == \A c \in Plain : got[c] = 0 \/ c \notin away
-----------------------------------------------------------------------------
NewestUnlessEmpty(before, number, empty) == IF empty THEN 0 ELSE number
NewAndPlain(shared, new) == new /\ ~ shared
WhatWasRetained(old, waited) == old
-----------------------------------------------------------------------------
(* Damage *)
Newest(before, number, empty) == number
First(before, number, empty) == IF empty THEN 0 ELSE IF before = 0 THEN number ELSE before
SharedToo(shared, new) == new
OnReturnToo(shared, new) == ~ shared
NotAtAll(shared, new) == FALSE
WhatWaited(old, waited) == old \/ waited
Unmarked(old, waited) == FALSE
=============================================================================
