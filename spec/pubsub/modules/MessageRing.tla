----------------------------- MODULE MessageRing -----------------------------
(***************************************************************************)
(* The temporary message cache of an appliance: a ring of slots, into      *)
(* which messages go one after the other, whoever still needs what is      *)
(* there.  Queues of channels hold references into it, not copies, and a   *)
(* receiver that misses a message asks for it by its number.               *)
(*                                                                         *)
(* Source: source document 001, message queuing with a temporary cache     *)
(* (figure 6d).  That references have a number, and are compared with what *)
(* is in their slot, is ours.                                              *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  Slots,           \* how many there are
  Most,            \* how many messages come
  Channel,         \* each has a queue
  IsThere(_, _)    \* rule: whether what is in a slot is the message that is asked for, of the numbers of the two

VARIABLES
  ring,    \* by slot, the number of the message in it, 0 for none
  last,    \* the number of the last message
  queue,   \* by channel, the sequence of references: slot and number
  served   \* what was taken out of the ring: for which number, and which one it was, 0 for "it was overwritten"
vars == <<ring, last, queue, served>>

SlotOf(number) == ((number - 1) % Slots) + 1

Init ==
  /\ ring = [s \in 1 .. Slots |-> 0]
  /\ last = 0
  /\ queue = [c \in Channel |-> <<>>]
  /\ served = {}

(* A message comes, and is queued for some of the channels. *)
Come(channels) ==
  /\ last < Most
  /\ last' = last + 1
  /\ ring' = [ring EXCEPT ![SlotOf(last')] = last']
  /\ queue' = [c \in Channel |-> IF c \in channels THEN Append(queue[c], [slot |-> SlotOf(last'), number |-> last'])
                                 ELSE queue[c]]
  /\ UNCHANGED served

Found(slot, number) == IF IsThere(ring[slot], number) THEN ring[slot] ELSE 0

(* A channel sends what the first reference of its queue refers to. *)
Send(c) ==
  /\ queue[c] # <<>>
  /\ LET first == Head(queue[c]) IN
       served' = served \cup {[asked |-> first.number, message |-> Found(first.slot, first.number)]}
  /\ queue' = [queue EXCEPT ![c] = Tail(@)]
  /\ UNCHANGED <<ring, last>>

(* A receiver asks for a message again. *)
Retransmit(number) ==
  /\ number <= last
  /\ served' = served \cup {[asked |-> number, message |-> Found(SlotOf(number), number)]}
  /\ UNCHANGED <<ring, last, queue>>

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next ==
  \/ Idle
  \/ \E channels \in SUBSET Channel : Come(channels)
  \/ \E c \in Channel : Send(c)
  \/ \E number \in 1 .. Most : Retransmit(number)

Spec == Init /\ [][Next]_vars
-----------------------------------------------------------------------------
(* PS-RING *)
RingServesItsOwn == \A one \in served : one.message \in {0, one.asked}

(* What is still in the ring is served, so that not everything is told to be overwritten. *)
YoungIsServed == [][\A one \in served' \ served : one.asked + Slots > last => one.message = one.asked]_vars

(* Reachability: TLC must find these false. *)
NoOverwrittenReach == \A one \in served : one.message # 0
-----------------------------------------------------------------------------
SameNumber(present, number) == present = number

(* Literal: a reference is a pointer, and what is there is taken. *)
Whatever(present, number) == TRUE

(* Damage *)
NotOlder(present, number) == present >= number
NotYounger(present, number) == present <= number
Never(present, number) == FALSE
=============================================================================
