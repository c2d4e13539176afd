----------------------------- MODULE ChannelFlow -----------------------------
(***************************************************************************)
(* Flow control of a channel: a queue with a high mark and a low mark.     *)
(* While it is on, one in some best-effort messages is dropped, or those   *)
(* of a subscription are conflated: the newest takes the place of the one  *)
(* that waits.  Guaranteed messages are never touched.                     *)
(*                                                                         *)
(* Source: source document 001, message flow control (figure 7).           *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  High, Low,         \* the marks
  Most,              \* how many messages come
  Subscription,      \* whose messages are in the queue
  Conflates,         \* whether messages are conflated, or else dropped
  Each,              \* of how many one is dropped
  IsOn(_, _),        \* rules: whether flow control is on, of whether it was, and how long the queue is now
  MayDrop(_, _, _),  \* whether a message may be dropped or conflated: of whether flow control is on, whether the
                     \* message is guaranteed, and how many best-effort ones have come since it is
  Merged(_, _)       \* the queue with a message that is conflated

VARIABLES
  came,     \* the sequence of the messages that came: subscription, whether guaranteed, number
  queue,    \* of those that wait
  sent,     \* of those that were sent
  on,       \* whether flow control is on
  passed    \* how many best-effort messages have come since it is, modulo Each
vars == <<came, queue, sent, on, passed>>

Message == [subscription : Subscription, guaranteed : BOOLEAN, number : 1 .. Most]
TypeOK == came \in Seq(Message) /\ queue \in Seq(Message) /\ sent \in Seq(Message) /\ on \in BOOLEAN /\ passed < Each

Init == came = <<>> /\ queue = <<>> /\ sent = <<>> /\ on = FALSE /\ passed = 0

Come(s, g) ==
  /\ Len(came) < Most
  /\ LET one == [subscription |-> s, guaranteed |-> g, number |-> Len(came) + 1] IN
     /\ came' = Append(came, one)
     /\ queue' = IF ~ MayDrop(on, g, passed) THEN Append(queue, one)
                 ELSE IF Conflates THEN Merged(queue, one) ELSE queue
  /\ on' = IsOn(on, Len(queue'))
  /\ passed' = IF ~ on THEN 0 ELSE IF g THEN passed ELSE (passed + 1) % Each
  /\ UNCHANGED sent

Go ==
  /\ queue # <<>>
  /\ sent' = Append(sent, Head(queue))
  /\ queue' = Tail(queue)
  /\ on' = IsOn(on, Len(queue'))
  /\ UNCHANGED <<came, passed>>

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next == Idle \/ Go \/ \E s \in Subscription, g \in BOOLEAN : Come(s, g)

Spec == Init /\ [][Next]_vars
-----------------------------------------------------------------------------
Guaranteed(messages) == SelectSeq(messages, LAMBDA one : one.guaranteed)
BestEffort(messages, s) == SelectSeq(messages, LAMBDA one : one.subscription = s /\ ~ one.guaranteed)
LastOf(messages) == messages[Len(messages)]

(* PS-FLOW *)
FlowHasTwoMarks ==
  /\ Len(queue) >= High => on
  /\ Len(queue) < Low => ~ on
  /\ Guaranteed(sent \o queue) = Guaranteed(came)

(* PS-FLOW: no switching between the marks. *)
FlowStaysBetween == [][Low <= Len(queue') /\ Len(queue') < High => on' = on]_vars

(* PS-QOS-CONF: the newest comes, and nothing older behind it. *)
ConflationKeepsNewest ==
  Conflates => \A s \in Subscription :
    LET left == BestEffort(sent \o queue, s) IN
    /\ BestEffort(came, s) # <<>> => left # <<>> /\ LastOf(left) = LastOf(BestEffort(came, s))
    /\ \A i, j \in DOMAIN left : i < j => left[i].number < left[j].number

(* Reachability: TLC must find these false. *)
NothingLeftOutReach == Len(sent \o queue) = Len(came)
NotOnBetweenReach == ~ (on /\ Len(queue) < High)
-----------------------------------------------------------------------------
(* On at the high mark, off below the low mark, and in between as it was. *)
BetweenMarks(was, length) == length >= High \/ (was /\ length >= Low)

(* One in Each, and those that are not guaranteed alone. *)
OneInEach(now, g, before) == now /\ ~ g /\ (Conflates \/ before = 0)

(* The newest of a subscription takes the place of the last of it that waits. *)
InPlace(messages, one) ==
  LET before == {i \in DOMAIN messages : messages[i].subscription = one.subscription /\ ~ messages[i].guaranteed}
      place == CHOOSE i \in before : \A j \in before : j <= i
  IN  IF before = {} THEN Append(messages, one) ELSE [messages EXCEPT ![place] = one]
-----------------------------------------------------------------------------
(* Literal: one of N messages is dropped, whatever it is. *)
OneOfAll(now, g, before) == now /\ before = 0

(* Damage *)
OneMark(was, length) == length >= High
AboveHigh(was, length) == length > High \/ (was /\ length >= Low)
ForEver(was, length) == length >= High \/ was
OffAtLow(was, length) == length >= High \/ (was /\ length > Low)
Counts == passed' = Each /\ UNCHANGED <<came, queue, sent, on>>
OldestWins(messages, one) == IF BestEffort(messages, one.subscription) = <<>> THEN Append(messages, one) ELSE messages
InAnyPlace(messages, one) ==
  LET before == {i \in DOMAIN messages : messages[i].subscription = one.subscription /\ ~ messages[i].guaranteed}
      place == CHOOSE i \in before : \A j \in before : i <= j
  IN  IF before = {} THEN Append(messages, one) ELSE [messages EXCEPT ![place] = one]
=============================================================================
