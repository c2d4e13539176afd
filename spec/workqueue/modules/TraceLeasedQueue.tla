--------------------------- MODULE TraceLeasedQueue ---------------------------
(***************************************************************************)
(* What calls do to a queue with leases, for recorded runs: the state is   *)
(* the sequence of all messages that were ever taken, copies among them,   *)
(* group by group: in which order messages of different groups were put,   *)
(* nobody sees.                                                            *)
(*                                                                         *)
(* Times are ranks of recorded ones.  A call takes effect in its box, from *)
(* its beginning (first) to its return (last); what it grants lasts surely *)
(* strictly below one time (from), and surely not strictly above another   *)
(* (by).  In between it may have ended or not: both are tried where it     *)
(* matters.  Messages and hand-outs are named by their numbers in the      *)
(* trace.  A receive is a record of what it was given, in parts, which are *)
(* rows of their own: how much comes at once of what it asks for (most; -1 *)
(* for no bound), and of which groups, is the store's affair.  Puts and    *)
(* deletes are of entries, one or more.                                    *)
(*                                                                         *)
(* Net says what the store is set to: apart, messages are hidden one by    *)
(* one, and in_order, they come back at their places, and else behind what *)
(* is there, of which it is known for sure if a call gave it back whose    *)
(* lease surely lasted (came: the box, -1 where it is not known);          *)
(* one_consumer; whole, batches are whole or not at all; batches,          *)
(* something is said of them; most_tries, how often a message is handed    *)
(* out before it is set aside, 0 for ever.                                 *)
(*                                                                         *)
(* Source: the clauses of leases; LeasedQueue has the same steps, and      *)
(* LeaseRules the rules.                                                   *)
(***************************************************************************)
EXTENDS CallReplay, FiniteSets, LeaseRules

Empty == [queue |-> <<>>, role |-> [client |-> 0, from |-> -1, by |-> -1]]
(* ends: of each entry, how it ended. *)
With(queue, ends, parts) == [state |-> queue, outcome |-> [ends |-> ends, parts |-> parts]]
Without(queue, ends) == With(queue, ends, <<>>)  \* nothing else is told of it
All(call, end) == [k \in DOMAIN call.told.ends |-> end]

IsAside(call) == call.call = "receive_aside"
Unknown == [from |-> -1, by |-> -1]
Nobody == [hand |-> 0, from |-> -1, by |-> -1]
SurelyHeld(message, last) == last < message.holds.from
MayBeHeld(message, first) == first <= message.holds.by

Taken(queue) == {i \in DOMAIN queue : ~ queue[i].copy}
There(queue) == {i \in Taken(queue) : ~ queue[i].gone}
Groups(queue) == {queue[i].group : i \in There(queue)}
At(queue, number) == {i \in Taken(queue) : queue[i].number = number}

(* Q-DEADLETTER: one that was tried out is set aside unless it is held. What was tried when nobody heard of it counts *)
(* for those that may have been; what was handed out as set aside (shown) surely was set aside, and so was (aside)    *)
(* what was tried out when a receive was given nothing.                                                               *)
IsTriedOut(message, more) == Net.most_tries > 0 /\ message.tries + more >= Net.most_tries
IsIn(message, aside, held) == IF aside THEN message.aside ELSE ~ message.shown /\ (~ IsTriedOut(message, 0) \/ held)

(* What LeaseRules hands out of a group, as indices, of what was set aside or of the others. *)
MayCome(queue, g, aside, IsHeld(_)) ==
  LET InIt(i) == queue[i].group = g /\ i \in There(queue) /\ IsIn(queue[i], aside, IsHeld(queue[i]))
      own == SelectSeq([i \in DOMAIN queue |-> i], InIt)
      told == [n \in DOMAIN own |-> [id |-> own[n], left |-> IF IsHeld(queue[own[n]]) THEN 1 ELSE 0]]
  IN  IF Net.apart THEN NotHeld(told) ELSE AllOrNone(told)
-----------------------------------------------------------------------------
(* Q-DEDUP: one that is within a window for sure is a copy, and one that may be is one or not. *)
Scope(group, id) == IF Net.by_group THEN OfTheGroup(group, id) ELSE OfTheQueue(group, id)
Alike(queue, call, entry) ==
  {i \in DOMAIN queue : entry.dedup # 0 /\ queue[i].dedup # 0
                        /\ Scope(queue[i].group, queue[i].dedup) = Scope(call.group, entry.dedup)}
IsCopy(queue, call, entry) == \E i \in Alike(queue, call, entry) : ~ queue[i].copy /\ call.last < queue[i].window.from
MayBeCopy(queue, call, entry) == \E i \in Alike(queue, call, entry) : call.first <= queue[i].window.by

(* One entry: the queues then, and how it ended. *)
PutOne(queue, call, entry, told) ==
  LET Before(message) == message.group <= call.group
      After(message) == message.group > call.group
      new(copy) == SelectSeq(queue, Before) \o
        <<[number |-> entry.number, group |-> call.group, dedup |-> entry.dedup, copy |-> copy, gone |-> FALSE,
           holds |-> Nobody, receipts |-> {}, tries |-> 0, aside |-> FALSE, shown |-> FALSE, window |-> call.granted,
           came |-> IF Net.in_order THEN Unknown ELSE [from |-> call.first, by |-> call.last]]>>
        \o SelectSeq(queue, After)
      taken == (IF IsCopy(queue, call, entry) THEN {} ELSE {<<new(FALSE), "ok">>})
               \cup (IF MayBeCopy(queue, call, entry) THEN {<<new(TRUE), "ok">>} ELSE {})
  IN  IF told = "refused" /\ ~ IsCopy(queue, call, entry) THEN {<<queue, "refused">>} ELSE taken

RECURSIVE PutFrom(_, _, _, _)
PutFrom(queue, call, k, ends) ==
  IF k > Len(call.entries) THEN {Without(queue, ends)}
  ELSE UNION {PutFrom(done[1], call, k + 1, Append(ends, done[2])) :
                done \in PutOne(queue, call, call.entries[k], call.told.ends[k])}
-----------------------------------------------------------------------------
(* Q-LEASE, Q-RECEIPT: whether what a receive is given next may be handed out, it having been given some already. *)
NowFree(queue, call, g, before) ==
  LET Is(message) == SurelyHeld(message, call.last)
      free == MayCome(queue, g, FALSE, Is)
      Was(i) == \E n \in DOMAIN before : i \in At(queue, before[n].message)
      left == {k \in DOMAIN free : ~ Was(free[k])}
      Skipped(k) == IsTriedOut(queue[free[k]], call.unheard)
  IN  {free[k] : k \in {k \in left : \A j \in left : j < k => Skipped(j)}}
(* One by one: those ahead may be held, or given to who did not hear of it. *)
MayComeNow(queue, call, i, before) ==
  LET was(j) == \E n \in DOMAIN before : j \in At(queue, before[n].message)
      Ahead(j) == IF Net.in_order THEN j < i
                  ELSE queue[j].came.by >= 0 /\ queue[j].came.by < queue[i].came.from
      left == {j \in There(queue) : Ahead(j) /\ queue[j].group = queue[i].group /\ ~ was(j)
                                    /\ IsIn(queue[j], FALSE, FALSE) /\ ~ MayBeHeld(queue[j], call.first)}
  IN  /\ i \in There(queue) /\ ~ SurelyHeld(queue[i], call.last) /\ ~ was(i)
      /\ Cardinality(left) <= call.unheard
(* Q-DEADLETTER: it was tried out; of those that are known to be set aside nothing ahead of it is left, nor is it     *)
(* the first time for this one, and something behind it was handed out.                                               *)
IsDueAside(queue, call, before, i) ==
  LET Was(j) == \E n \in DOMAIN before : j \in At(queue, before[n].message)
      others == {j \in Taken(queue) : queue[j].group = queue[i].group /\ queue[j].shown}
  IN  /\ i \in There(queue) /\ ~ SurelyHeld(queue[i], call.last) /\ ~ Was(i)
      /\ queue[i].shown \/ IsTriedOut(queue[i], call.unheard)
      /\ ~ Net.apart =>
           /\ \A j \in others \cap There(queue) : ~ SurelyHeld(queue[j], call.last) /\ (j < i => Was(j))
           /\ \A j \in Taken(queue) : queue[j].group = queue[i].group /\ Was(j) => j < i
           /\ queue[i].shown \/ \A j \in others : j < i
IsDue(queue, call, before, part) ==
  \E i \in At(queue, part.message) :
    /\ IF IsAside(call) THEN IsDueAside(queue, call, before, i)
       ELSE IF queue[i].shown \/ IsTriedOut(queue[i], 0) THEN FALSE
       ELSE IF Net.apart THEN MayComeNow(queue, call, i, before) ELSE i \in NowFree(queue, call, queue[i].group, before)
    /\ part.receipt \notin queue[i].receipts

(* Q-BATCH: whether the nth is more than it asks for. *)
IsOver(call, n) == Net.batches /\ call.most >= 0 /\ n > call.most

RECURSIVE Fitting(_, _, _)
Fitting(queue, call, n) ==
  IF n < Len(call.told.parts) /\ ~ IsOver(call, n + 1)
     /\ IsDue(queue, call, SubSeq(call.told.parts, 1, n), call.told.parts[n + 1])
  THEN Fitting(queue, call, n + 1) ELSE n

(* Leases of groups of which something is handed out have ended. What is set aside is apart. *)
Given(queue, call, parts) ==
  LET which(i) == {n \in DOMAIN parts : i \in At(queue, parts[n].message)}
      groups == {queue[i].group : i \in {j \in DOMAIN queue : which(j) # {}}}
  IN  [i \in DOMAIN queue |->
         IF which(i) # {}
         THEN LET part == parts[CHOOSE n \in which(i) : TRUE]
              IN  [queue[i] EXCEPT !.receipts = @ \cup {part.receipt}, !.came = Unknown,
                     !.tries = IF IsAside(call) THEN @ ELSE @ + 1, !.shown = IsAside(call), !.aside = IsAside(call),
                     !.holds = [hand |-> part.hand, from |-> call.granted.from, by |-> call.granted.by]]
         ELSE IF ~ Net.apart /\ queue[i].group \in groups /\ queue[i].shown = IsAside(call)
         THEN [queue[i] EXCEPT !.holds = Nobody] ELSE queue[i]]

SetAside(queue, call) ==
  LET Hides(j, i) == queue[j].group = queue[i].group /\ ~ queue[j].shown /\ MayBeHeld(queue[j], call.first)
      Free(i) == \A j \in There(queue) : ~ Hides(j, i)
  IN  [i \in DOMAIN queue |->
         IF i \in There(queue) /\ IsTriedOut(queue[i], 0) /\ Free(i)
         THEN [queue[i] EXCEPT !.aside = TRUE] ELSE queue[i]]

(* Q-LEASE-ALL: something comes, where there is anything that those do not have whose receives came to no known end. *)
Receive(queue, call) ==
  LET Is(message) == MayBeHeld(message, call.first)
      there == {g \in Groups(queue) : MayCome(queue, g, IsAside(call), Is) # <<>>}
      parts == SubSeq(call.told.parts, 1, Fitting(queue, call, 0))
      isEmpty == call.told.parts = <<>> /\ call.told.ends = <<"ok">> /\ call.most > 0
      surely == isEmpty /\ ~ IsAside(call) /\ call.unheard = 0 /\ ~ Net.one_consumer
  IN  {With(IF surely THEN SetAside(queue, call) ELSE Given(queue, call, parts), call.told.ends,
            IF isEmpty /\ Cardinality(there) > call.unheard THEN <<"something">> ELSE parts)}
-----------------------------------------------------------------------------
AreThere(queue, entry) == {i \in At(queue, entry.message) : ~ queue[i].gone}
IsSurelyGood(queue, call, entry) ==
  \E i \in AreThere(queue, entry) :
    LET left == IF SurelyHeld(queue[i], call.last) THEN 1 ELSE 0
    IN  OfThisLease([receipt |-> queue[i].holds.hand, left |-> left], entry.hand)

(* Q-RECEIPT: it is carried out while its lease lasts, and changes nothing of what another holds; else it may be. *)
CarriedOut(queue, i, call, entry) ==
  LET changed ==
        CASE call.call = "delete" -> [queue[i] EXCEPT !.gone = TRUE, !.holds = Nobody]
          [] call.call = "give_back" ->
               [queue[i] EXCEPT !.holds = Nobody,
                  !.came = IF Net.in_order \/ ~ IsSurelyGood(queue, call, entry) THEN Unknown
                           ELSE [from |-> call.first, by |-> call.last]]
          [] call.call = "extend" ->
               [queue[i] EXCEPT !.holds = [hand |-> entry.hand, from |-> call.granted.from, by |-> call.granted.by]]
  IN  [queue EXCEPT ![i] = changed]

(* One entry: the queues then, and how it ended. *)
UseOne(queue, call, entry, told) ==
  LET found == AreThere(queue, entry)
      i == CHOOSE i \in found : TRUE
      ignored == <<queue, told>>
      done == <<CarriedOut(queue, i, call, entry), "ok">>
  IN  IF found = {} THEN {ignored}
      ELSE IF IsSurelyGood(queue, call, entry) THEN {done}
      ELSE IF SurelyHeld(queue[i], call.last) \/ told = "refused" THEN {ignored} ELSE {ignored, done}

RECURSIVE UseFrom(_, _, _, _)
UseFrom(queue, call, k, ends) ==
  IF k > Len(call.entries) THEN {Without(queue, ends)}
  ELSE UNION {UseFrom(done[1], call, k + 1, Append(ends, done[2])) :
                done \in UseOne(queue, call, call.entries[k], call.told.ends[k])}

(* Q-BATCH: one that is whole or not at all is refused for one of its entries. *)
IsWhole(call) == Net.whole /\ Len(call.told.ends) > 1
IsMixed(call) == \E k, l \in DOMAIN call.told.ends : call.told.ends[k] = "ok" /\ call.told.ends[l] = "refused"
About(queue, call) ==
  IF call.entries = <<>> THEN {Without(queue, call.told.ends)}
  ELSE IF IsWhole(call) /\ call.told.ends = All(call, "refused")
          /\ \E k \in DOMAIN call.entries : ~ IsSurelyGood(queue, call, call.entries[k])
  THEN {Without(queue, call.told.ends)}
  ELSE UseFrom(queue, call, 1, <<>>)

(* All leases of the client end. *)
Cancelled(queue, call) ==
  [i \in DOMAIN queue |->
     IF queue[i].holds.hand \in call.hands
     THEN [queue[i] EXCEPT !.holds = Nobody,
             !.came = IF Net.in_order \/ ~ SurelyHeld(queue[i], call.last) THEN Unknown
                      ELSE [from |-> call.first, by |-> call.last]]
     ELSE queue[i]]

Carried(queue, call) ==
  LET done == CASE call.call = "put_message" -> PutFrom(queue, call, 1, <<>>)
                [] call.call \in {"receive", "receive_aside"} -> Receive(queue, call)
                [] call.call \in {"delete", "extend", "give_back"} -> About(queue, call)
                [] call.call = "cancel" -> {Without(Cancelled(queue, call), <<"ok">>)}
                [] OTHER -> {Without(queue, call.told.ends)}
  IN  IF IsWhole(call) /\ IsMixed(call) THEN {[one EXCEPT !.outcome.ends = All(call, "ok")] : one \in done} ELSE done
-----------------------------------------------------------------------------
(***************************************************************************)
(* Q-CONSUMER-ONE: the role lasts as long as a lease would that is granted *)
(* with it, but one of what was set aside.  Who asked and did not hear may *)
(* have it.                                                                *)
(***************************************************************************)
IsOfAside(queue, call) == \E k \in DOMAIN call.entries : \E i \in At(queue, call.entries[k].message) : queue[i].shown
Greater(a, b) == IF a > b THEN a ELSE b
Renewed(role, c, call) ==
  IF role.client = c
  THEN [client |-> c, from |-> Greater(role.from, call.granted.from), by |-> Greater(role.by, call.granted.by)]
  ELSE [client |-> c, from |-> call.granted.from, by |-> call.granted.by]

Do(now, c, call) ==
  LET role == now.role
      own == role.client = c
      Then(done, next) == {[state |-> [queue |-> one.state, role |-> next], outcome |-> one.outcome] : one \in done}
      carried == Carried(now.queue, call)
      turnedAway == {With(now.queue, call.told.ends, <<>>)}
  IN  CASE Net.one_consumer /\ call.call = "receive" ->
             (IF own \/ ~ (call.last < role.from) THEN Then(carried, Renewed(role, c, call)) ELSE {})
             \cup (IF (~ own /\ call.first <= role.by) \/ call.unheard > 0 THEN Then(turnedAway, role) ELSE {})
        [] Net.one_consumer /\ call.call = "extend" /\ own /\ ~ IsOfAside(now.queue, call) ->
             UNION {Then({one}, IF one.state = now.queue THEN role ELSE Renewed(role, c, call)) : one \in carried}
        [] Net.one_consumer /\ call.call = "cancel" /\ own -> Then(carried, Empty.role)
        [] OTHER -> Then(carried, role)
-----------------------------------------------------------------------------
(***************************************************************************)
(* Which clauses a part breaks that may not be handed out, and an end that *)
(* is another than here.                                                   *)
(***************************************************************************)
HandedOut(queue, call, part) ==
  LET Where(said, clause) == IF said THEN {clause} ELSE {}
      named == {i \in DOMAIN queue : queue[i].number = part.message}
      which == {n \in DOMAIN call.told.parts : call.told.parts[n].hand = part.hand}
  IN  IF \E n \in which : IsOver(call, n) THEN {"BatchAsEntries"}
      ELSE IF named = {} THEN IF part.denied THEN {"BatchAsEntries"} ELSE {"HandedOutAsPut"}
      ELSE LET message == queue[CHOOSE i \in named : TRUE]
           IN  IF message.copy THEN {"DuplicatesDeliverOnce"}
               ELSE IF message.gone THEN {"EndedLeaseIsFenced"}
               ELSE IF IsAside(call) \/ message.shown \/ IsTriedOut(message, 0)
               THEN {"SetAsideInOrder", "ReturnsToItsPlace"}
               ELSE {"ReturnsToItsPlace"}
                    \cup Where(part.receipt \in message.receipts, "EndedLeaseIsFenced")
                    \cup Where(Net.apart, "ReturnedKeepOrder") \cup Where(Net.one_consumer, "OneActiveConsumer")
                    \cup Where(Net.batches, "BatchAsEntries")

Breaks(now, call, end) ==
  IF call.call \in {"receive", "receive_aside"}
  THEN IF "message" \in DOMAIN end THEN HandedOut(now.queue, call, end)
       ELSE IF IsAside(call) THEN {"SetAsideInOrder"}
       ELSE IF Net.one_consumer THEN {"OneActiveConsumer"} ELSE {"AvailableIsHandedOut"}
  ELSE IF call.call = "cancel" THEN {"OneActiveConsumer"}
  ELSE IF IsWhole(call) /\ IsMixed(call) THEN {"BatchAsEntries"}
  ELSE IF call.call = "put_message" THEN {"DuplicatesDeliverOnce"} ELSE {"EndedLeaseIsFenced"}
=============================================================================
