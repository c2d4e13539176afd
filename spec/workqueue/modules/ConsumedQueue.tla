---------------------------- MODULE ConsumedQueue ----------------------------
(***************************************************************************)
(* Queues with leases where messages are hidden one by one, and come back  *)
(* at their places, or behind those that are there; and where one consumer *)
(* at a time is handed any, until it cancels or all its leases have ended. *)
(*                                                                         *)
(* The steps are those of LeasedQueue, which is given NotHeld as MayHandOut *)
(* and one of AtItsPlace and AtTheEnd as Back.                             *)
(*                                                                         *)
(* Source: no document; products' own, each cited in their profiles.       *)
(***************************************************************************)
EXTENDS LeasedQueue

CONSTANTS
  Behind,            \* whether messages come back behind those that are there, as the profile states
  OneConsumer,       \* whether one consumer at a time is handed messages
  MayConsume(_, _),  \* MayConsume(own, held): whether a consumer is handed any: it is the one, the role is held
  EndsAt(_)          \* EndsAt(its): of the messages that a consumer holds, those whose leases end when it cancels

VARIABLES
  active,  \* the sequence of the consumer that was handed messages last, empty when it has cancelled
  came     \* the messages in the order in which they were put or, where that is what the profile states, came back last
all == <<vars, active, came>>

IsHeldBy(c) == \E e \in hand[c] : e.left > 0
HeldBy(c) == {e.message : e \in {f \in hand[c] : f.left > 0 /\ message[f.message].receipt = f.receipt}}

(* What came, or came back, in this step comes behind what was there. *)
Returned == {n \in DOMAIN message : message[n].left > 0 /\ message'[n].left = 0 /\ ~ message'[n].gone}
Note ==
  LET new == {n \in DOMAIN message' : n \notin DOMAIN message} \cup (IF Behind THEN Returned ELSE {})
      Old(n) == n \notin new
  IN  came' = IF new = {} THEN came ELSE Append(SelectSeq(came, Old), CHOOSE n \in new : TRUE)

Hand(c, g, size) ==
  /\ OneConsumer => MayConsume(active = <<c>>, active # <<>> /\ IsHeldBy(active[1]))
  /\ Receive(c, g, size)
  /\ active' = IF OneConsumer THEN <<c>> ELSE active
  /\ UNCHANGED came

Cancel(c) ==
  /\ OneConsumer /\ active = <<c>>
  /\ active' = <<>>
  /\ hand' = [hand EXCEPT ![c] = {}]
  /\ message' = [n \in DOMAIN message |->
       IF n \in EndsAt(HeldBy(c)) THEN [message[n] EXCEPT !.left = 0] ELSE message[n]]
  /\ UNCHANGED <<queue, sent, window, seen, begun, aside, came>>

Others ==
  \/ Send
  \/ \E c \in Consumer : \E e \in hand[c] : GiveBack(c, e) \/ Delete(c, e) \/ Extend(c, e)
  \/ Tick
  \/ \E n \in DOMAIN message : LeaseEnds(n)

Begin == Init /\ active = <<>> /\ came = <<>>
Step ==
  \/ \E c \in Consumer : \E g \in GroupsThere : \E size \in 1 .. Batch : Hand(c, g, size)
  \/ \E c \in Consumer : Cancel(c)
  \/ Others /\ Note /\ UNCHANGED active
  \/ UNCHANGED all  \* it only keeps plain TLC from calling the end of a bounded run a deadlock

ConsumedSpec == Begin /\ [][Step]_all
-----------------------------------------------------------------------------
PlaceOf(n) == CHOOSE i \in DOMAIN came : came[i] = n
IsFree(n) == message[n].left = 0 /\ ~ message[n].gone

(* Q-ACK-ORDER: nothing of a group is handed out while something ahead of it is there, and is not. *)
ReturnedKeepOrder ==
  [][\A n, k \in DOMAIN message :
       IsHandedOut(n) /\ message[k].group = message[n].group /\ IsFree(k) /\ PlaceOf(k) < PlaceOf(n)
         => IsHandedOut(k)]_all

(* Q-CONSUMER-ONE: two are never counting on leases, *)
OneActiveConsumer == OneConsumer => \A c, d \in Consumer : IsHeldBy(c) /\ IsHeldBy(d) => c = d

(* and what was not deleted comes first: who is handed a message has in hand all that is there ahead of it. *)
BeginsWithReturned ==
  [][\A n, k \in DOMAIN message : \A c \in Consumer :
       OneConsumer /\ IsHandedOut(n) /\ active' = <<c>> /\ message[k].group = message[n].group /\ k < n
         => message'[k].gone \/ \E e \in hand'[c] : e.message = k /\ e.left > 0]_all
-----------------------------------------------------------------------------
(* Reachability: TLC must refute these. *)
NoTakeOverReach == \A c, d \in Consumer : c # d => ~ (IsHeldBy(c) /\ hand[d] # {})
NoOvertakenReach ==
  ~ \E n, k \in DOMAIN message :
      message[n].group = message[k].group /\ IsFree(n) /\ IsFree(k) /\ n < k /\ PlaceOf(k) < PlaceOf(n)
=============================================================================
