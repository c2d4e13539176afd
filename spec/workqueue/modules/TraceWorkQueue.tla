---------------------------- MODULE TraceWorkQueue ----------------------------
(***************************************************************************)
(* What calls of the access interface do to the table, for recorded runs:  *)
(* the state is the sequence of all groups that were ever begun.           *)
(*                                                                         *)
(* A call is a record of its name and arguments, those that are not given  *)
(* being what is in hand; and of what it returned, where that is known     *)
(* (told), so that a store may choose numbers as it likes, and tokens as   *)
(* long as they rise.  An end is a record of the outcome and results.      *)
(* Where a clause leaves a store free, several ends are possible.          *)
(*                                                                         *)
(* Source: the clauses of the work queue; WorkQueue has the same steps.    *)
(***************************************************************************)
EXTENDS CallReplay, FiniteSets

Empty == <<>>
Done ==
  [outcome |-> "ok", group |-> 0, token |-> 0, message |-> 0, type |-> 0, priority |-> 0, correlation |-> 0,
   retries |-> 0, digest |-> 0, removed |-> 0, released |-> 0]
Refusal == [Done EXCEPT !.outcome = "refused"]

In(table) == {i \in DOMAIN table : table[i].there}
Related(table, i) == {j \in In(table) : table[j].correlation = table[i].correlation}
Remaining(row) == {m \in DOMAIN row.messages : ~ row.messages[m].popped}
First(row) == IF Remaining(row) = {} THEN 0 ELSE CHOOSE m \in Remaining(row) : \A n \in Remaining(row) : m <= n
At(table, number) == {i \in DOMAIN table : table[i].number = number}
With(table, end) == [state |-> table, outcome |-> end]
-----------------------------------------------------------------------------
Open(table, call) ==
  LET used == {table[i].number : i \in DOMAIN table} \cup {0}
      highest == CHOOSE n \in used : \A other \in used : other <= n
      number == IF call.told.group \notin used THEN call.told.group ELSE highest + 1
      token == IF call.told.token > 0 THEN call.told.token ELSE 1
  IN  With(Append(table,
             [number |-> number, there |-> TRUE, lock |-> "send", freed |-> FALSE, server |-> call.server,
              token |-> token, type |-> call.type, priority |-> call.priority, correlation |-> call.correlation,
              mark |-> call.mark, handed |-> 0, messages |-> <<>>]),
           [Done EXCEPT !.group = number, !.token = token])

(* Q-CORR-LAST: it does not wait, or one that is marked as the last was begun after it, and ended. *)
IsWhole(table, i) ==
  table[i].mark = "waits" => \E j \in Related(table, i) : i < j /\ table[j].mark = "last" /\ table[j].lock # "send"
(* Q-LOCK-SEND, Q-ORDER-CORR, Q-NEXT: ended, the first of its correlation, of which nothing is in anybody's hands. *)
IsReady(table, i) ==
  table[i].lock = "none" /\ IsWhole(table, i) /\ \A j \in Related(table, i) : i <= j /\ table[j].lock # "receive"
(* Q-PRIORITY *)
Precedes(table, i, j) ==
  table[i].priority < table[j].priority \/ (table[i].priority = table[j].priority /\ i <= j)

TakeNext(table, call) ==
  LET ready == {i \in In(table) : IsReady(table, i)}
  IN  IF ready = {} THEN With(table, Done)
      ELSE LET i == CHOOSE i \in ready : \A j \in ready : Precedes(table, i, j)
               row == table[i]
               token == IF call.told.token > row.token THEN call.told.token ELSE row.token + 1
           IN  With([table EXCEPT ![i] = [@ EXCEPT !.lock = "receive", !.freed = FALSE, !.server = call.server,
                                                   !.token = token, !.handed = @ + 1]],
                    [Done EXCEPT !.group = row.number, !.token = token, !.type = row.type, !.priority = row.priority,
                                     !.correlation = row.correlation, !.retries = row.handed + 1])

(* Q-CRASH-BOOT *)
Unlock(table, call) ==
  LET own == {i \in In(table) : table[i].lock = "receive" /\ table[i].server = call.server}
  IN  With([i \in DOMAIN table |-> IF i \in own THEN [table[i] EXCEPT !.lock = "none"] ELSE table[i]],
           [Done EXCEPT !.released = Cardinality(own)])

(* Q-CRASH-SEND, Q-CRASH-DEAD: whose holders are dead the store's clock says, which nobody sees: as many as are told. *)
Chosen(locked, whose) ==
  IF whose = "nobody" THEN {{}} ELSE IF whose = "all" THEN {locked} ELSE SUBSET locked
Clean(table, call) ==
  LET sending == {i \in In(table) : table[i].lock = "send"}
      receiving == {i \in In(table) : table[i].lock = "receive"}
  IN  {With([i \in DOMAIN table |-> IF i \in gone THEN [table[i] EXCEPT !.there = FALSE, !.lock = "none"]
                                    ELSE IF i \in freed THEN [table[i] EXCEPT !.lock = "none", !.freed = TRUE]
                                    ELSE table[i]],
            [Done EXCEPT !.removed = Cardinality(gone), !.released = Cardinality(freed)])
         : gone \in Chosen(sending, call.senders), freed \in Chosen(receiving, call.receivers)}
-----------------------------------------------------------------------------
(* What a call for a group does, if it is carried out; Refusal where the group's state forbids it. *)
Put(table, i, row, end) == With([table EXCEPT ![i] = row], end)

(* Q-POISON: what was handed out often enough goes when it would be handed out again. *)
IsTriedOut(row, m) == Net.most_tries > 0 /\ m \in Remaining(row) /\ row.messages[m].tries >= Net.most_tries
SetAside(row) == IF IsTriedOut(row, First(row)) THEN [row EXCEPT !.messages[First(row)].popped = TRUE] ELSE row

About(table, i, call) ==
  LET row == table[i]
      first == First(row)
  IN  CASE call.call = "send_message" ->
             Put(table, i, [row EXCEPT !.messages = Append(@, [digest |-> call.digest, tries |-> 0, popped |-> FALSE])],
                 [Done EXCEPT !.message = Len(row.messages) + 1])
        [] call.call = "close_group" ->
             Put(table, i, [row EXCEPT !.lock = "none", !.there = row.messages # <<>>], Done)
        [] call.call = "flush_group" -> Put(table, i, [row EXCEPT !.lock = "none", !.there = FALSE], Done)
        [] call.call = "read_message" ->
             LET left == SetAside(row)
                 next == First(left)
             IN  IF next = 0 THEN Put(table, i, left, Done)
                 ELSE Put(table, i, [left EXCEPT !.messages[next].tries = @ + 1],
                          [Done EXCEPT !.message = next, !.retries = left.messages[next].tries + 1,
                                           !.digest = left.messages[next].digest])
        [] call.call = "pop_message" ->
             IF first = 0 \/ call.message # first THEN With(table, Refusal)
             ELSE Put(table, i, [row EXCEPT !.messages[first].popped = TRUE], Done)
        [] call.call = "pop_group" ->
             IF first # 0 THEN With(table, Refusal)
             ELSE Put(table, i, [row EXCEPT !.lock = "none", !.there = FALSE], Done)

Kind(call) == IF call.call \in {"send_message", "close_group", "flush_group"} THEN "send" ELSE "receive"

(* The present holder is heard, and nobody else; who was declared dead may be until the next one holds the group. *)
ForGroup(table, call) ==
  IF At(table, call.group) = {} THEN {With(table, Refusal)}
  ELSE LET i == CHOOSE i \in At(table, call.group) : TRUE
           its == table[i].there /\ table[i].token = call.token
       IN  IF its /\ table[i].lock = Kind(call) THEN {About(table, i, call)}
           ELSE IF its /\ table[i].lock = "none" /\ table[i].freed /\ Kind(call) = "receive"
           THEN {With(table, Refusal), About(table, i, call)}
           ELSE {With(table, Refusal)}

Do(table, c, call) ==
  CASE call.call = "open_group" -> {Open(table, call)}
    [] call.call = "next_group" -> {TakeNext(table, call)}
    [] call.call = "unlock_server_groups" -> {Unlock(table, call)}
    [] call.call = "clean" ->
         LET all == Clean(table, call)
             fit == {one \in all : one.outcome.removed = call.told.removed /\ one.outcome.released = call.told.released}
         IN  IF fit = {} THEN all ELSE fit
    [] OTHER -> ForGroup(table, call)
-----------------------------------------------------------------------------
(***************************************************************************)
(* Which clauses a call may break that ends otherwise than here, where the *)
(* table is as the call would have left it.                                *)
(***************************************************************************)
HandedOut(table, end) ==
  IF end.group = 0
  THEN {"ReadyIsHandedOut", "AcknowledgedIsKept"} \cup
       (IF \E i \in In(table) : table[i].handed > 1 THEN {"BootFreesReceiveLocks", "DeadHolderIsFenced"} ELSE {})
  ELSE IF At(table, end.group) = {} THEN {"ReadyIsHandedOut", "ProcessedOnce", "SendLockedIsHidden"}
  ELSE LET i == CHOOSE i \in At(table, end.group) : TRUE
           row == table[i]
           said == <<end.type, end.priority, end.correlation>> = <<row.type, row.priority, row.correlation>>
       IN  IF ~ said THEN {"MessagesAreNumbered"}
           ELSE IF ~ row.there THEN {"ProcessedOnce", "SendLockedIsHidden", "IncompleteIsRemoved"}
           ELSE IF row.lock = "send" THEN {"SendLockedIsHidden", "BootFreesReceiveLocks"}
           ELSE IF ~ IsWhole(table, i) THEN {"LastGroupFreesCorrelation", "CorrelationInOrder"}
           ELSE IF \E j \in Related(table, i) : j < i THEN {"CorrelationInOrder", "ReadyIsHandedOut"}
           ELSE IF row.token = end.token THEN {"RetriesAreCounted"}
           ELSE IF row.lock = "receive"
           THEN {"ProcessedOnce", "DeadHolderIsFenced", "CallsTakeEffectOnce", "BootFreesReceiveLocks",
                 "RetriesAreCounted"}
           ELSE {"HighestPriorityFirst"}

IsHeld(table, call) ==
  \E i \in At(table, call.group) : table[i].there /\ table[i].lock = "receive" /\ table[i].token = call.token
WasRead(table, call, end) ==
  LET row == table[CHOOSE i \in At(table, call.group) : TRUE]
  IN  IF end.message = 0 THEN {"VisibleTogether", "AcknowledgedIsKept"}
      ELSE IF end.message \notin DOMAIN row.messages THEN {"VisibleTogether", "MessagesAreNumbered"}
      ELSE IF row.messages[end.message].popped
      THEN {"ProcessedOnce"} \cup (IF Net.most_tries > 0 THEN {"PoisonIsSetAside"} ELSE {})
      ELSE IF end.message # First(row) THEN {"MessagesInOrder"}
      ELSE IF end.digest # row.messages[end.message].digest THEN {"VisibleTogether"}
      ELSE {"RetriesAreCounted"}

(* It was carried out, and had to be refused. *)
Heard(table, call) ==
  LET found == At(table, call.group)
      row == table[CHOOSE i \in found : TRUE]
  IN  IF found = {} THEN {"CallsTakeEffectOnce"}
      ELSE IF Kind(call) = "send"
      THEN IF row.there THEN {"SendLockedIsHidden", "CallsTakeEffectOnce"}
           ELSE {"IncompleteIsRemoved", "SendLockedIsHidden", "CallsTakeEffectOnce"}
      ELSE IF ~ row.there THEN {"ProcessedOnce", "DeadHolderIsFenced", "CallsTakeEffectOnce"}
      ELSE IF row.token # call.token THEN {"DeadHolderIsFenced", "CallsTakeEffectOnce"}
      ELSE IF row.lock # "receive" THEN {"BootFreesReceiveLocks", "DeadHolderIsFenced", "CallsTakeEffectOnce"}
      ELSE IF call.call = "pop_group" THEN {"VisibleTogether", "CallsTakeEffectOnce"}
      ELSE {"MessagesInOrder", "ProcessedOnce", "CallsTakeEffectOnce"}

Breaks(table, call, end) ==
  IF end.outcome = "refused" THEN {"CallsTakeEffectOnce", "AcknowledgedIsKept"}
  ELSE CASE call.call = "open_group" -> {"CallsTakeEffectOnce", "DeadHolderIsFenced"}
         [] call.call = "next_group" -> HandedOut(table, end)
         [] call.call = "unlock_server_groups" -> {"BootFreesReceiveLocks"}
         [] call.call = "clean" -> {"IncompleteIsRemoved", "DeadHolderIsFenced"}
         [] call.call = "send_message" -> Heard(table, call) \cup {"MessagesAreNumbered"}
         [] call.call = "read_message" -> IF IsHeld(table, call) THEN WasRead(table, call, end) ELSE Heard(table, call)
         [] OTHER -> Heard(table, call)
=============================================================================
