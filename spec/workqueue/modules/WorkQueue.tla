------------------------------ MODULE WorkQueue ------------------------------
(***************************************************************************)
(* A queue of message groups in one table: senders begin, fill and end     *)
(* groups; workers of several servers take groups, and process and remove  *)
(* their messages one by one; groups of one correlation go one at a time.  *)
(* Senders and servers crash, servers start again, and cleaning takes from *)
(* whoever seems dead.  The rules that the source document argues about,   *)
(* or leaves open, are operator constants (WorkRules).                     *)
(*                                                                         *)
(* Every step of a client is one call of the access interface; the store   *)
(* carries it out at once.  Looking for the next group and locking it may  *)
(* be two steps (LooksApart).  A call whose answer is lost leaves what a   *)
(* crash right after it leaves.                                            *)
(*                                                                         *)
(* Source: source document 002; its figure 3 is the selection procedure.   *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Sender, Worker,
  Script,             \* Script[s] is the sequence of the groups of sender s: correlation, priority, size, last
  ServerOf,           \* ServerOf[x] is the server of a sender or worker: a receiver is the workers of one server
  Limit,              \* how many workers of a server may be busy
  MostFailures,       \* how many crashes and premature cleanings there may be
  Cancels,            \* whether senders may cancel
  Poison,             \* the messages that can never be processed, as <<sender, number of its group, message>>
  MostTries,          \* how often a message is handed out before it is set aside; 0 for ever
  LooksApart,         \* whether looking for groups and locking one are two steps
  Listed(_),          \* the groups that a search looks at (box 310), of those in the table
  Before(_, _),       \* the order of the search
  Skips(_),           \* whether the search passes a group over (box 350)
  DropsToo(_, _),     \* DropsToo(row, other): whether passing row over drops other, too (box 360)
  Whole(_, _),        \* Whole(rows, c): whether groups of correlation c may be handed out at all
  TakenAs,            \* the kind of lock that a group that is handed out gets (box 370)
  NextToken(_),       \* the token of a group's next lock
  MayCall(_, _, _, _),\* MayCall(row, kind, token, server): whether the store carries out a call for a group
  Unlocks(_, _),      \* Unlocks(row, server): whether a receiver that starts on a server releases the lock of a group
  NextMessage(_),     \* which message of a group is read
  SetsAside(_, _),    \* SetsAside(tries, most): whether a message that was tried so often is set aside
  MayStart(_, _)      \* MayStart(busy, limit): whether a server may start another worker

VARIABLES
  table,     \* the groups in the order of their beginning, those removed, too
  sender,    \* sender[s]: its group (0 for none) and token, how many it has begun, and whether it is up
  worker,    \* worker[w]: its group (0 for none), its token, and the message in its hands (0 for none)
  list,      \* list[w]: the groups that w has found and not tried to lock yet
  down,      \* the servers that have crashed
  failures   \* how many crashes and premature cleanings there have been
vars == <<table, sender, worker, list, down, failures>>

Groups == DOMAIN table
Rows == {table[g] : g \in Groups}
InTable == {row \in Rows : row.there}
Messages(row) == 1 .. row.made
Unread(row) == Messages(row) \ row.popped
Idle == [group |-> 0, token |-> 0, message |-> 0]
Busy(w) == worker[w].group # 0
Held(w) == table[worker[w].group]
BusyOn(v) == Cardinality({w \in Worker : ServerOf[w] = v /\ Busy(w)})
-----------------------------------------------------------------------------
(***************************************************************************)
(* The selection procedure: the groups on the list in their order, without *)
(* those that are dropped on the way.                                      *)
(***************************************************************************)
RECURSIVE Ordered(_), Kept(_)
Ordered(rows) ==
  IF rows = {} THEN <<>>
  ELSE LET first == CHOOSE r \in rows : \A other \in rows \ {r} : Before(r, other)
       IN  <<first>> \o Ordered(rows \ {first})
Kept(rows) ==
  IF rows = <<>> THEN <<>>
  ELSE LET Stays(other) == ~ DropsToo(rows[1], other)
       IN  IF Skips(rows[1]) THEN Kept(SelectSeq(Tail(rows), Stays)) ELSE <<rows[1]>> \o Kept(Tail(rows))

Found ==
  LET rows == Kept(Ordered(Listed({row \in InTable : Whole(Rows, row.correlation)})))
  IN  [i \in DOMAIN rows |-> rows[i].place]
-----------------------------------------------------------------------------
Init ==
  /\ table = <<>>
  /\ sender = [s \in Sender |-> [group |-> 0, token |-> 0, begun |-> 0, up |-> TRUE]]
  /\ worker = [w \in Worker |-> Idle]
  /\ list = [w \in Worker |-> <<>>]
  /\ down = {}
  /\ failures = 0

(* open_group: the group is locked for sending, and has its place in the queue. *)
Open(s) ==
  /\ sender[s].up /\ sender[s].group = 0 /\ sender[s].begun < Len(Script[s])
  /\ LET n == sender[s].begun + 1
         g == Script[s][n] IN
     /\ table' = Append(table,
          [by |-> s, number |-> n, place |-> Len(table) + 1, correlation |-> g.correlation, priority |-> g.priority,
           last |-> g.last, made |-> 0, lock |-> "send", server |-> ServerOf[s], token |-> 1, there |-> TRUE,
           closed |-> FALSE, popped |-> {}, again |-> FALSE, tries |-> 0, aside |-> <<>>])
     /\ sender' = [sender EXCEPT ![s] = [@ EXCEPT !.group = Len(table) + 1, !.token = 1, !.begun = n]]
  /\ UNCHANGED <<worker, list, down, failures>>

(* A call of a sender for its group: carried out, or refused; a sender that is refused gives the group up. *)
SenderCalls(s, row, done) ==
  /\ sender[s].up /\ sender[s].group # 0
  /\ IF MayCall(table[sender[s].group], "send", sender[s].token, ServerOf[s])
     THEN table' = [table EXCEPT ![sender[s].group] = row]
     ELSE UNCHANGED table
  /\ sender' = IF done \/ ~ MayCall(table[sender[s].group], "send", sender[s].token, ServerOf[s])
               THEN [sender EXCEPT ![s] = [@ EXCEPT !.group = 0, !.token = 0]]
               ELSE sender
  /\ UNCHANGED <<worker, list, down, failures>>

Size(row) == Script[row.by][row.number].size

(* send_message *)
Send(s) ==
  /\ sender[s].group # 0 /\ table[sender[s].group].made < Size(table[sender[s].group])
  /\ SenderCalls(s, [table[sender[s].group] EXCEPT !.made = @ + 1], FALSE)

(* close_group.  A group without messages goes as if it were cancelled. *)
Close(s) ==
  /\ sender[s].group # 0
  /\ LET row == table[sender[s].group] IN
     /\ row.made = Size(row)
     /\ SenderCalls(s, IF row.made = 0 THEN [row EXCEPT !.there = FALSE, !.lock = "none"]
                       ELSE [row EXCEPT !.lock = IF @ = "send" THEN "none" ELSE @, !.closed = TRUE], TRUE)

(* flush_group *)
Cancel(s) ==
  /\ Cancels
  /\ sender[s].group # 0
  /\ SenderCalls(s, [table[sender[s].group] EXCEPT !.there = FALSE, !.lock = "none"], TRUE)
-----------------------------------------------------------------------------
MaySearch(w) ==
  /\ ServerOf[w] \notin down
  /\ ~ Busy(w)
  /\ MayStart(BusyOn(ServerOf[w]), Limit)

LockFor(w, g) ==
  /\ table' = [table EXCEPT ![g] = [@ EXCEPT !.lock = TakenAs, !.server = ServerOf[w], !.token = NextToken(@)]]
  /\ worker' = [worker EXCEPT ![w] = [group |-> g, token |-> NextToken(table[g].token), message |-> 0]]
  /\ UNCHANGED <<sender, down, failures>>

(* next_group, at once. *)
Take(w) ==
  /\ ~ LooksApart
  /\ MaySearch(w)
  /\ Found # <<>>
  /\ LockFor(w, Found[1])
  /\ UNCHANGED list

(* next_group in two steps: the list is of an older state when a group of it is locked. *)
Look(w) ==
  /\ LooksApart
  /\ MaySearch(w) /\ list[w] = <<>> /\ Found # <<>>
  /\ list' = [list EXCEPT ![w] = Found]
  /\ UNCHANGED <<table, sender, worker, down, failures>>

LockFound(w) ==
  /\ list[w] # <<>>
  /\ MaySearch(w)
  /\ LET row == table[list[w][1]] IN
     IF row.there /\ row.lock = "none"
     THEN LockFor(w, row.place) /\ list' = [list EXCEPT ![w] = <<>>]
     ELSE list' = [list EXCEPT ![w] = Tail(@)] /\ UNCHANGED <<table, sender, worker, down, failures>>

(* A call of a worker for its group; a worker that is refused gives the group up. *)
WorkerCalls(w, row, after) ==
  /\ IF MayCall(Held(w), "receive", worker[w].token, ServerOf[w])
     THEN /\ table' = [table EXCEPT ![worker[w].group] = row]
          /\ worker' = [worker EXCEPT ![w] = after]
     ELSE /\ worker' = [worker EXCEPT ![w] = Idle]
          /\ UNCHANGED table
  /\ UNCHANGED <<sender, list, down, failures>>

(* read_message: the first one that was not popped; or, where it was tried often enough, it is set aside. *)
Read(w) ==
  /\ Busy(w) /\ worker[w].message = 0 /\ Unread(Held(w)) # {}
  /\ LET row == Held(w)
         m == NextMessage(row) IN
     IF SetsAside(row.tries, MostTries)
     THEN WorkerCalls(w, [row EXCEPT !.popped = @ \cup {m}, !.aside = Append(@, m), !.tries = 0], worker[w])
     ELSE WorkerCalls(w, [row EXCEPT !.tries = IF MostTries > 0 /\ @ <= MostTries THEN @ + 1 ELSE @],
                      [worker[w] EXCEPT !.message = m])

Poisonous(row, m) == <<row.by, row.number, m>> \in Poison

(* pop_message, once the handler has processed the message. *)
Pop(w) ==
  /\ Busy(w) /\ worker[w].message # 0
  /\ LET row == Held(w)
         m == worker[w].message IN
     /\ ~ Poisonous(row, m)
     /\ WorkerCalls(w, [row EXCEPT !.popped = @ \cup {m}, !.again = @ \/ m \in row.popped, !.tries = 0],
                    [worker[w] EXCEPT !.message = 0])

(* The handler says that the message is not processed: no call. *)
Fail(w) ==
  /\ Busy(w) /\ worker[w].message # 0
  /\ Poisonous(Held(w), worker[w].message)
  /\ worker' = [worker EXCEPT ![w].message = 0]
  /\ UNCHANGED <<table, sender, list, down, failures>>

(* read_message says that there is none, and pop_group follows. *)
Finish(w) ==
  /\ Busy(w) /\ worker[w].message = 0 /\ Unread(Held(w)) = {}
  /\ WorkerCalls(w, [Held(w) EXCEPT !.there = FALSE, !.lock = "none"], Idle)
-----------------------------------------------------------------------------
Fails == failures < MostFailures /\ failures' = failures + 1

CrashSender(s) ==
  /\ sender[s].up /\ sender[s].group # 0
  /\ Fails
  /\ sender' = [sender EXCEPT ![s].up = FALSE]
  /\ UNCHANGED <<table, worker, list, down>>

(* All workers of a server go with it. *)
Crash(v) ==
  /\ v \notin down
  /\ \E w \in Worker : ServerOf[w] = v
  /\ Fails
  /\ down' = down \cup {v}
  /\ worker' = [w \in Worker |-> IF ServerOf[w] = v THEN Idle ELSE worker[w]]
  /\ list' = [w \in Worker |-> IF ServerOf[w] = v THEN <<>> ELSE list[w]]
  /\ UNCHANGED <<table, sender>>

(* unlock_server_groups, the first call of a receiver that starts. *)
Boot(v) ==
  /\ v \in down
  /\ down' = down \ {v}
  /\ table' = [g \in Groups |-> IF table[g].there /\ Unlocks(table[g], v) THEN [table[g] EXCEPT !.lock = "none"]
                                ELSE table[g]]
  /\ UNCHANGED <<sender, worker, list, failures>>

HolderIsAlive(row) ==
  IF row.lock = "send"
  THEN sender[row.by].up /\ sender[row.by].group = row.place /\ sender[row.by].token = row.token
  ELSE \E w \in Worker : worker[w].group = row.place /\ worker[w].token = row.token

(* clean: what is locked for sending is removed, what is locked for receiving is released.  Where the holder is only *)
(* slow, that is a failure.                                                                                          *)
Clean(g) ==
  /\ table[g].there /\ table[g].lock # "none"
  /\ IF HolderIsAlive(table[g]) THEN Fails ELSE UNCHANGED failures
  /\ table' = [table EXCEPT ![g] = [@ EXCEPT !.lock = "none", !.there = table[g].lock # "send"]]
  /\ UNCHANGED <<sender, worker, list, down>>

(* It only keeps plain TLC from calling the end of a bounded run a deadlock. *)
Rest == UNCHANGED vars

Next ==
  \/ \E s \in Sender : Open(s) \/ Send(s) \/ Close(s) \/ Cancel(s) \/ CrashSender(s)
  \/ \E w \in Worker : Take(w) \/ Look(w) \/ LockFound(w) \/ Read(w) \/ Pop(w) \/ Fail(w) \/ Finish(w)
  \/ \E s \in {ServerOf[w] : w \in Worker} : Crash(s) \/ Boot(s)
  \/ \E g \in Groups : Clean(g)
  \/ Rest

Spec == Init /\ [][Next]_vars

(***************************************************************************)
(* Senders and workers that are up go on, a crashed server starts again or *)
(* its locks are cleaned, and dead senders' groups are cleaned.  A sender  *)
(* need not begin another group, and nobody need fail.                     *)
(***************************************************************************)
Cleaned(g) == g \in Groups /\ ~ HolderIsAlive(table[g]) /\ Clean(g)

MostGroups == Cardinality(UNION {{<<s, n>> : n \in DOMAIN Script[s]} : s \in Sender})

FairSpec ==
  /\ Spec
  /\ \A s \in Sender : WF_vars(Send(s)) /\ WF_vars(Close(s))
  /\ \A w \in Worker : /\ WF_vars(Take(w)) /\ WF_vars(Read(w)) /\ WF_vars(Pop(w))
                       /\ WF_vars(Fail(w)) /\ WF_vars(Finish(w))
  /\ \A g \in 1 .. MostGroups : WF_vars(Cleaned(g))

(* The same without cleaning: every crashed server starts again. *)
BootSpec ==
  /\ Spec
  /\ \A s \in Sender : WF_vars(Send(s)) /\ WF_vars(Close(s))
  /\ \A w \in Worker : WF_vars(Take(w)) /\ WF_vars(Read(w)) /\ WF_vars(Pop(w)) /\ WF_vars(Finish(w))
  /\ \A w \in Worker : WF_vars(Boot(ServerOf[w]))
=============================================================================
