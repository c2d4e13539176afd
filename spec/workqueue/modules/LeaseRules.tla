----------------------------- MODULE LeaseRules -----------------------------
(***************************************************************************)
(* The rules of leases, receipts and deduplication, and below them damaged *)
(* ones, each of which a queue has had.                                    *)
(***************************************************************************)
EXTENDS Naturals, Sequences

(* ScopeOf, KeyOf: one id in the whole queue, or in each group. *)
OfTheQueue(group, id) == <<0, id>>
OfTheGroup(group, id) == <<group, id>>

(* IsSeen: within the window, whatever became of the first one. *)
InWindow(key, seen, waiting) == key \in seen

(* MayHandOut: all of a group that is left, while nobody has any of it. A message's number stands as its id here. *)
Numbers(messages) == [i \in DOMAIN messages |-> messages[i].id]
AllOrNone(messages) == IF \E i \in DOMAIN messages : messages[i].left > 0 THEN <<>> ELSE Numbers(messages)

(* Back: it never left its place. *)
AtItsPlace(queue, n) == queue

(* IsGood: the receipt of the lease that lasts. *)
OfThisLease(message, receipt) == receipt = message.receipt /\ message.left > 0

(* Extended: from now on. *)
Anew(left, lease) == lease

(* MayConsume: the one consumer, or anybody where there is none. *)
OwnOrFree(own, held) == own \/ ~ held
(* EndsAt: all that it holds. *)
AllOf(its) == its
-----------------------------------------------------------------------------
(* Damage *)

(* Messages are hidden one by one. *)
NotHeld(messages) == LET Free(one) == one.left = 0 IN Numbers(SelectSeq(messages, Free))
(* Those ahead of the first that is held. *)
UpToTheFirstHeld(messages) ==
  LET held == {i \in DOMAIN messages : messages[i].left > 0}
  IN  IF held = {} THEN Numbers(messages)
      ELSE SubSeq(Numbers(messages), 1, (CHOOSE i \in held : \A j \in held : i <= j) - 1)

AtTheEnd(queue, n) == LET Other(x) == x # n IN Append(SelectSeq(queue, Other), n)

(* Whoever ever received it. *)
Any(message, receipt) == TRUE
(* The latest receipt, also when its lease has ended. *)
OfTheLatest(message, receipt) == receipt = message.receipt

NotAtAll(left, lease) == left

Everybody(own, held) == TRUE
NothingOf(its) == {}

(* An id is known as long as its message is there. *)
WhileItIsThere(key, seen, waiting) == key \in waiting
NeverSeen(key, seen, waiting) == FALSE
=============================================================================
