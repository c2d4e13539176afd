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
(* rows of their own: how much comes at once, and of which groups, is the  *)
(* store's affair.                                                         *)
(*                                                                         *)
(* Source: the clauses of leases; LeasedQueue has the same steps, and      *)
(* LeaseRules the rules.                                                   *)
(***************************************************************************)
EXTENDS CallReplay, FiniteSets, LeaseRules

Empty == <<>>
With(queue, outcome, parts) == [state |-> queue, outcome |-> [outcome |-> outcome, parts |-> parts]]
Without(queue, outcome) == With(queue, outcome, <<>>)  \* the call changes nothing, or nothing else is told of it

Nobody == [hand |-> 0, from |-> -1, by |-> -1]
SurelyHeld(message, last) == last < message.holds.from
MayBeHeld(message, first) == first <= message.holds.by

Taken(queue) == {i \in DOMAIN queue : ~ queue[i].copy}
There(queue) == {i \in Taken(queue) : ~ queue[i].gone}
Groups(queue) == {queue[i].group : i \in There(queue)}
At(queue, number) == {i \in Taken(queue) : queue[i].number = number}

(* What LeaseRules hands out of a group, as indices. *)
MayCome(queue, g, IsHeld(_)) ==
  LET InIt(i) == queue[i].group = g /\ i \in There(queue)
      own == SelectSeq([i \in DOMAIN queue |-> i], InIt)
  IN  AllOrNone([n \in DOMAIN own |-> [id |-> own[n], left |-> IF IsHeld(queue[own[n]]) THEN 1 ELSE 0]])
-----------------------------------------------------------------------------
(* Q-DEDUP: one that is within a window for sure is a copy, and one that may be is one or not. *)
Scope(group, id) == IF Net.by_group THEN OfTheGroup(group, id) ELSE OfTheQueue(group, id)
Alike(queue, call) ==
  {i \in DOMAIN queue : call.dedup # 0 /\ queue[i].dedup # 0
                        /\ Scope(queue[i].group, queue[i].dedup) = Scope(call.group, call.dedup)}
IsCopy(queue, call) == \E i \in Alike(queue, call) : ~ queue[i].copy /\ call.last < queue[i].window.from
MayBeCopy(queue, call) == \E i \in Alike(queue, call) : call.first <= queue[i].window.by

Put(queue, call) ==
  LET Before(message) == message.group <= call.group
      After(message) == message.group > call.group
      new(copy) == SelectSeq(queue, Before) \o
        <<[number |-> call.number, group |-> call.group, dedup |-> call.dedup, copy |-> copy, gone |-> FALSE,
           holds |-> Nobody, receipts |-> {}, window |-> call.granted]>> \o SelectSeq(queue, After)
      taken == (IF IsCopy(queue, call) THEN {} ELSE {Without(new(FALSE), "ok")})
               \cup (IF MayBeCopy(queue, call) THEN {Without(new(TRUE), "ok")} ELSE {})
  IN  IF call.told.outcome = "refused" /\ ~ IsCopy(queue, call) THEN {Without(queue, "refused")} ELSE taken
-----------------------------------------------------------------------------
(* Q-LEASE, Q-RECEIPT: whether what a receive is given next may be handed out, it having been given some already. *)
NowFree(queue, call, g, before) ==
  LET Is(message) == SurelyHeld(message, call.last)
      free == MayCome(queue, g, Is)
      OfIt(part) == \E i \in At(queue, part.message) : queue[i].group = g
      given == SelectSeq(before, OfIt)
  IN  IF Len(given) < Len(free) THEN {free[Len(given) + 1]} ELSE {}
IsDue(queue, call, before, part) ==
  \E i \in At(queue, part.message) :
    /\ i \in NowFree(queue, call, queue[i].group, before)
    /\ part.receipt \notin queue[i].receipts

RECURSIVE Fitting(_, _, _)
Fitting(queue, call, n) ==
  IF n < Len(call.told.parts) /\ IsDue(queue, call, SubSeq(call.told.parts, 1, n), call.told.parts[n + 1])
  THEN Fitting(queue, call, n + 1) ELSE n

(* Leases of groups of which something is handed out have ended. *)
Given(queue, call, parts) ==
  LET which(i) == {n \in DOMAIN parts : i \in At(queue, parts[n].message)}
      groups == {queue[i].group : i \in {j \in DOMAIN queue : which(j) # {}}}
  IN  [i \in DOMAIN queue |->
         IF which(i) # {}
         THEN LET part == parts[CHOOSE n \in which(i) : TRUE]
              IN  [queue[i] EXCEPT !.receipts = @ \cup {part.receipt},
                     !.holds = [hand |-> part.hand, from |-> call.granted.from, by |-> call.granted.by]]
         ELSE IF queue[i].group \in groups THEN [queue[i] EXCEPT !.holds = Nobody] ELSE queue[i]]

(* Q-LEASE-ALL: something comes, where there is anything that those do not have whose receives came to no known end. *)
Receive(queue, call) ==
  LET Is(message) == MayBeHeld(message, call.first)
      there == {g \in Groups(queue) : MayCome(queue, g, Is) # <<>>}
      parts == SubSeq(call.told.parts, 1, Fitting(queue, call, 0))
      isEmpty == call.told.parts = <<>> /\ call.told.outcome = "ok" /\ call.most > 0
  IN  {With(Given(queue, call, parts), call.told.outcome,
            IF isEmpty /\ Cardinality(there) > call.unheard THEN <<"something">> ELSE parts)}
-----------------------------------------------------------------------------
(* Q-RECEIPT: it is carried out while its lease lasts, and changes nothing of what another holds; else it may be. *)
CarriedOut(queue, i, call) ==
  LET changed ==
        CASE call.call = "delete" -> [queue[i] EXCEPT !.gone = TRUE, !.holds = Nobody]
          [] call.call = "give_back" -> [queue[i] EXCEPT !.holds = Nobody]
          [] call.call = "extend" ->
               [queue[i] EXCEPT !.holds = [hand |-> call.hand, from |-> call.granted.from, by |-> call.granted.by]]
  IN  [queue EXCEPT ![i] = changed]

About(queue, call) ==
  LET found == {i \in At(queue, call.message) : ~ queue[i].gone}
      i == CHOOSE i \in found : TRUE
      held == SurelyHeld(queue[i], call.last)
      ignored == Without(queue, call.told.outcome)
      done == Without(CarriedOut(queue, i, call), "ok")
  IN  IF found = {} THEN {ignored}
      ELSE IF OfThisLease([receipt |-> queue[i].holds.hand, left |-> IF held THEN 1 ELSE 0], call.hand) THEN {done}
      ELSE IF held \/ call.told.outcome = "refused" THEN {ignored} ELSE {ignored, done}

Do(queue, c, call) ==
  CASE call.call = "put_message" -> Put(queue, call)
    [] call.call = "receive" -> Receive(queue, call)
    [] call.call \in {"delete", "extend", "give_back"} -> About(queue, call)
    [] OTHER -> {Without(queue, call.told.outcome)}
-----------------------------------------------------------------------------
(***************************************************************************)
(* Which clauses a part breaks that may not be handed out, and an end that *)
(* is another than here.                                                   *)
(***************************************************************************)
HandedOut(queue, part) ==
  LET named == {i \in DOMAIN queue : queue[i].number = part.message}
  IN  IF named = {} THEN {"WasPut"}
      ELSE LET message == queue[CHOOSE i \in named : TRUE]
           IN  IF message.copy THEN {"DuplicatesDeliverOnce"}
               ELSE IF message.gone THEN {"EndedLeaseIsFenced"}
               ELSE {"ReturnsToItsPlace"}
                    \cup (IF part.receipt \in message.receipts THEN {"EndedLeaseIsFenced"} ELSE {})

Breaks(queue, call, end) ==
  IF call.call = "receive"
  THEN IF "message" \in DOMAIN end THEN HandedOut(queue, end) ELSE {"AvailableIsHandedOut"}
  ELSE IF call.call = "put_message" THEN {"DuplicatesDeliverOnce"} ELSE {"EndedLeaseIsFenced"}
=============================================================================
