----------------------------- MODULE LeasedQueue -----------------------------
(***************************************************************************)
(* What queues with leases promise of message groups: what was received is *)
(* hidden until its lease ends, is extended or given back, and then comes  *)
(* back at its place; a receipt is a fencing token; what bears a           *)
(* deduplication id that was seen within the window is accepted, and       *)
(* delivers nothing; what was received too often is set aside.             *)
(*                                                                         *)
(* A store and its consumers, who may be slow or gone: nobody need use or  *)
(* give back what he received.  Leases are counted in ticks of one clock;  *)
(* the window of an id ends at any time, as it is long.  Rules are         *)
(* operator constants (LeaseRules).                                        *)
(*                                                                         *)
(* Source: no document; products' own, each cited in their profiles.       *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Consumer,
  Script,           \* the sequence of the sends: the group and the deduplication id of each
  Lease,            \* ticks
  Batch,            \* how many messages of a group are received at once, at the most
  MostTries,        \* how often a message is received before it is set aside; 0 for ever
  MostReceipts,     \* bound: how often a message is received at all
  MostWindows,      \* bound: how many windows of an id begin
  ScopeOf(_, _),    \* ScopeOf(group, id): what is one deduplication id: the stated scope
  KeyOf(_, _),      \* what the store takes for one
  IsSeen(_, _, _),  \* IsSeen(key, seen, waiting): whether a send is taken for a copy
  MayHandOut(_),    \* of a group's messages in their order: those that may be received now, in that order
  Back(_, _),       \* Back(queue, m): the queue when message m comes back
  IsGood(_, _),     \* IsGood(message, receipt): whether a call with this receipt is carried out
  Extended(_, _),   \* Extended(left, lease): what is left of a lease that is extended
  AsideAtReturn     \* whether a message is set aside as soon as it comes back, or when it would be handed out

VARIABLES
  queue,    \* the numbers of the messages, in order, without those that are gone
  message,  \* message[n]: its group and id, the window of its id, what is left of its lease, its last receipt, and
            \* whether it is gone
  sent,     \* how many of the script are sent
  window,   \* the scopes whose window lasts
  seen,     \* the keys that the store has seen within their windows
  begun,    \* begun[x]: how many windows of scope x have begun
  hand,     \* hand[c]: what consumer c has received: message, receipt, and what is left of the lease promised to it
  aside     \* the sequence of the messages set aside
vars == <<queue, message, sent, window, seen, begun, hand, aside>>

Scopes == {ScopeOf(Script[i].group, Script[i].id) : i \in DOMAIN Script}
OfGroup(g) == LET InIt(n) == message[n].group = g IN SelectSeq(queue, InIt)
GroupsThere == {message[queue[i]].group : i \in DOMAIN queue}
Members(s) == {s[i] : i \in DOMAIN s}
Without(s, n) == LET Other(x) == x # n IN SelectSeq(s, Other)
-----------------------------------------------------------------------------
Init ==
  /\ queue = <<>> /\ message = <<>> /\ sent = 0 /\ window = {} /\ seen = {} /\ aside = <<>>
  /\ begun = [x \in Scopes |-> 0]
  /\ hand = [c \in Consumer |-> {}]

Send ==
  /\ sent < Len(Script)
  /\ LET new == Script[sent + 1]
         x == ScopeOf(new.group, new.id)
         key == KeyOf(new.group, new.id)
         waiting == {KeyOf(message[queue[i]].group, message[queue[i]].id) : i \in DOMAIN queue}
         n == Len(message) + 1
     IN
     /\ begun' = [begun EXCEPT ![x] = IF x \in window THEN @ ELSE @ + 1]
     /\ IF IsSeen(key, seen, waiting)
        THEN UNCHANGED <<queue, message>>
        ELSE /\ message' = Append(message,
                  [group |-> new.group, id |-> new.id, window |-> begun'[x], left |-> 0, receipt |-> 0, gone |-> FALSE])
             /\ queue' = Append(queue, n)
     /\ window' = window \cup {x}
     /\ seen' = seen \cup {key}
  /\ sent' = sent + 1
  /\ UNCHANGED <<hand, aside>>

(* The window of an id ends. *)
Forget(x) ==
  /\ x \in window
  /\ begun[x] < MostWindows
  /\ window' = window \ {x}
  /\ LET its == {i \in DOMAIN Script : ScopeOf(Script[i].group, Script[i].id) = x}
     IN  seen' = seen \ {KeyOf(Script[i].group, Script[i].id) : i \in its}
  /\ UNCHANGED <<queue, message, sent, begun, hand, aside>>

TriedOut(n) == MostTries > 0 /\ message[n].receipt >= MostTries

(* The first messages of a group, as many as go into a batch; those that were received too often are set aside first. *)
Receive(c, g, size) ==
  LET free == MayHandOut([i \in DOMAIN OfGroup(g) |-> [message[OfGroup(g)[i]] EXCEPT !.id = OfGroup(g)[i]]])
      Out(n) == TriedOut(n)
      In(n) == ~ TriedOut(n)
      leaving == IF AsideAtReturn THEN <<>> ELSE SelectSeq(free, Out)
      staying == SelectSeq(free, In)
      batch == SubSeq(staying, 1, IF size < Len(staying) THEN size ELSE Len(staying)) IN
  /\ free # <<>>
  /\ size <= Len(staying) \/ (size = 1 /\ staying = <<>>)
  /\ \A n \in Members(batch) : message[n].receipt < MostReceipts
  /\ message' = [n \in DOMAIN message |->
       IF n \in Members(batch) THEN [message[n] EXCEPT !.left = Lease, !.receipt = @ + 1]
       ELSE IF n \in Members(leaving) THEN [message[n] EXCEPT !.gone = TRUE] ELSE message[n]]
  /\ queue' = LET Stays(n) == n \notin Members(leaving) IN SelectSeq(queue, Stays)
  /\ aside' = aside \o leaving
  /\ LET got(n) == [message |-> n, receipt |-> message[n].receipt + 1, left |-> Lease]
     IN  hand' = [hand EXCEPT ![c] = @ \cup {got(n) : n \in Members(batch)}]
  /\ UNCHANGED <<sent, window, seen, begun>>

(* Message n comes back to the queue. *)
Return(n) ==
  IF AsideAtReturn /\ TriedOut(n)
  THEN /\ message' = [message EXCEPT ![n].gone = TRUE, ![n].left = 0]
       /\ queue' = Without(queue, n) /\ aside' = Append(aside, n)
  ELSE /\ message' = [message EXCEPT ![n].left = 0]
       /\ queue' = Back(queue, n) /\ UNCHANGED aside

GiveBack(c, e) ==
  /\ e \in hand[c]
  /\ hand' = [hand EXCEPT ![c] = @ \ {e}]
  /\ IF IsGood(message[e.message], e.receipt) THEN Return(e.message) ELSE UNCHANGED <<queue, message, aside>>
  /\ UNCHANGED <<sent, window, seen, begun>>

Delete(c, e) ==
  /\ e \in hand[c]
  /\ hand' = [hand EXCEPT ![c] = @ \ {e}]
  /\ IF IsGood(message[e.message], e.receipt)
     THEN /\ message' = [message EXCEPT ![e.message].gone = TRUE, ![e.message].left = 0]
          /\ queue' = Without(queue, e.message)
     ELSE UNCHANGED <<queue, message>>
  /\ UNCHANGED <<sent, window, seen, begun, aside>>

Extend(c, e) ==
  /\ e \in hand[c]
  /\ IF IsGood(message[e.message], e.receipt)
     THEN /\ message' = [message EXCEPT ![e.message].left = Extended(@, Lease)]
          /\ hand' = [hand EXCEPT ![c] = (@ \ {e}) \cup {[e EXCEPT !.left = Lease]}]
     ELSE /\ hand' = [hand EXCEPT ![c] = @ \ {e}]
          /\ UNCHANGED message
  /\ UNCHANGED <<queue, sent, window, seen, begun, aside>>

(* Time goes by; a lease of which nothing is left ends, one after the other where several do. *)
Tick ==
  /\ \A n \in DOMAIN message : message[n].left # 1
  /\ \E n \in DOMAIN message : message[n].left > 1
  /\ message' = [n \in DOMAIN message |-> [message[n] EXCEPT !.left = IF @ > 1 THEN @ - 1 ELSE @]]
  /\ hand' = [c \in Consumer |-> {[e EXCEPT !.left = IF @ > 1 THEN @ - 1 ELSE 0] : e \in hand[c]}]
  /\ UNCHANGED <<queue, sent, window, seen, begun, aside>>

LeaseEnds(n) ==
  /\ message[n].left = 1
  /\ Return(n)
  /\ hand' = [c \in Consumer |-> {[e EXCEPT !.left = IF e.message = n /\ @ = 1 THEN 0 ELSE @] : e \in hand[c]}]
  /\ UNCHANGED <<sent, window, seen, begun>>

(* It only keeps plain TLC from calling the end of a bounded run a deadlock. *)
Rest == UNCHANGED vars

Next ==
  \/ Send
  \/ \E x \in window : Forget(x)
  \/ \E c \in Consumer : \E g \in GroupsThere : \E size \in 1 .. Batch : Receive(c, g, size)
  \/ \E c \in Consumer : \E e \in hand[c] : GiveBack(c, e) \/ Delete(c, e) \/ Extend(c, e)
  \/ Tick
  \/ \E n \in DOMAIN message : LeaseEnds(n)
  \/ Rest

Spec == Init /\ [][Next]_vars
-----------------------------------------------------------------------------
TypeOK ==
  /\ Members(queue) = {n \in DOMAIN message : ~ message[n].gone}
  /\ \A n \in DOMAIN message : message[n].left \in 0 .. Lease /\ (message[n].gone => message[n].left = 0)

IsHandedOut(n) == n \in DOMAIN message' /\ n \in DOMAIN message /\ message'[n].receipt > message[n].receipt
(* Q-LEASE: what is handed out is the first of its group that is left, with those that come with it, and no message *)
(* of its group was in anybody's hands.                                                                             *)
ReturnsToItsPlace ==
  [][\A n \in DOMAIN message : IsHandedOut(n) =>
       \A k \in DOMAIN message : message[k].group = message[n].group =>
         message[k].left = 0 /\ (k < n => message'[k].gone \/ IsHandedOut(k))]_message

(* Q-LEASE: the store keeps what it promised: as long as a consumer counts on a lease, nobody else has the message. *)
HiddenWhileLeased ==
  \A c \in Consumer : \A e \in hand[c] :
    e.left > 0 => /\ message[e.message].receipt = e.receipt
                  /\ message[e.message].gone \/ message[e.message].left >= e.left

(* Q-RECEIPT: what somebody holds is not deleted by another. *)
EndedLeaseIsFenced == \A c \in Consumer : \A e \in hand[c] : e.left > 0 => ~ message[e.message].gone

Scope(n) == ScopeOf(message[n].group, message[n].id)
(* Q-DEDUP: of those with one id, in one window of the stated scope, one is there. *)
DuplicatesDeliverOnce ==
  \A n, k \in DOMAIN message :
    message[n].window = message[k].window /\ Scope(n) = Scope(k) => n = k

(* Nor is one taken for a copy of what bears another id: the first of a window is always there. *)
FirstIsDelivered ==
  \A x \in Scopes : \A i \in 1 .. begun[x] :
    \E n \in DOMAIN message : Scope(n) = x /\ message[n].window = i

(* Q-DEADLETTER *)
SetAsideInOrder ==
  \A i, j \in DOMAIN aside : i < j /\ message[aside[i]].group = message[aside[j]].group => aside[i] < aside[j]
-----------------------------------------------------------------------------
(* Reachability: TLC must refute these. *)
NoBatchInPartReach ==
  ~ \E n, k \in DOMAIN message :
      /\ n < k /\ message[n].group = message[k].group
      /\ message[n].receipt > 0 /\ message[n].left = 0 /\ ~ message[n].gone
      /\ message[k].left > 0
NoAsideReach == aside = <<>>
NoSecondWindowReach == \A x \in Scopes : begun[x] < 2
NoStaleReceiptReach == \A c \in Consumer : \A e \in hand[c] : message[e.message].receipt = e.receipt
=============================================================================
