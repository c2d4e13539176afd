----------------------------- MODULE WorkClauses -----------------------------
(***************************************************************************)
(* What the queue promises, an operator a clause.                          *)
(***************************************************************************)
EXTENDS WorkQueue

TypeOK ==
  /\ \A g \in Groups : table[g].place = g /\ table[g].lock \in {"none", "send", "receive"}
  /\ \A g \in Groups : table[g].made <= Size(table[g]) /\ table[g].popped \subseteq Messages(table[g])
  /\ \A s \in Sender : sender[s].group \in Groups \cup {0}
  /\ \A w \in Worker : worker[w].group \in Groups \cup {0} /\ (worker[w].group = 0 => worker[w] = Idle)
  /\ down \subseteq {ServerOf[w] : w \in Worker}

IsHandedOut(row) == row.there /\ row.lock = "receive"
IsFinished(row) == ~ row.there /\ row.closed /\ row.popped = Messages(row)
Holds(w) == Busy(w) /\ Held(w).token = worker[w].token

(* Q-LOCK-SEND: what its sender has not ended is not processed. *)
SendLockedIsHidden ==
  \A row \in Rows : ~ row.closed => ~ IsHandedOut(row) /\ row.popped = {}

(* Q-ATOMIC: a group that is not locked for sending is whole. *)
VisibleTogether ==
  \A row \in InTable : row.lock # "send" => row.closed /\ row.made = Size(row)

(* Q-ORDER-MSG *)
MessagesInOrder ==
  /\ \A row \in Rows : \A m \in row.popped : 1 .. m \subseteq row.popped
  /\ \A w \in Worker : Holds(w) => 1 .. worker[w].message - 1 \subseteq Held(w).popped

(* Q-ORDER-CORR: nothing of a group while an earlier one of its correlation is in the table. *)
CorrelationInOrder ==
  \A row \in Rows : IsHandedOut(row) \/ row.popped # {} =>
    \A earlier \in InTable : earlier.correlation = row.correlation => earlier.place >= row.place

(* Of one correlation one group at a time. *)
OneGroupOfACorrelation ==
  \A row, other \in Rows : IsHandedOut(row) /\ IsHandedOut(other) /\ row.correlation = other.correlation => row = other

(* Q-ONCE: one worker holds a group; nothing that was popped is handed to a holder, or popped again; and without *)
(* failures no two workers are ever at one group.                                                                *)
ProcessedOnce ==
  /\ \A w, u \in Worker : w # u /\ Busy(w) /\ Busy(u) /\ worker[w].group = worker[u].group =>
       failures > 0 /\ worker[w].token # worker[u].token
  /\ \A row \in Rows : ~ row.again
  /\ \A w \in Worker : Holds(w) /\ worker[w].message # 0 => worker[w].message \notin Held(w).popped

(* Q-CRASH-DEAD: what a worker holds nobody else removes. *)
DeadHolderIsFenced ==
  \A w \in Worker : Holds(w) =>
    Held(w).there /\ (worker[w].message # 0 => worker[w].message \notin Held(w).popped)

(* Q-DURABLE, of groups: one whose end returned ok is in the table until all of it is processed or set aside. *)
AcknowledgedIsKept == \A row \in Rows : row.closed /\ ~ row.there => row.popped = Messages(row)

(* Q-CRASH-SEND: to a group that is gone nothing comes any more, and its end is not promised. *)
IncompleteIsRemoved ==
  [][\A g \in Groups : ~ table[g].there =>
       ~ table'[g].there /\ table'[g].made = table[g].made /\ table'[g].closed = table[g].closed]_table

(* Q-CRASH-BOOT: a receiver that starts releases what its server held, and nothing else. *)
BootFreesReceiveLocks ==
  [][\A v \in down \ down' : \A g \in Groups :
       LET own == table[g].lock = "receive" /\ table[g].server = v
       IN  table'[g] = IF own THEN [table[g] EXCEPT !.lock = "none"] ELSE table[g]]_<<table, down>>

Precedes(row, other) ==
  row.priority < other.priority \/ (row.priority = other.priority /\ row.place < other.place)
(* The groups that may be handed out: the first of its correlation, ended, and not in anybody's hands. *)
Ready ==
  {row \in InTable : row.lock = "none" /\
     \A other \in InTable : other.correlation = row.correlation => row.place <= other.place}

(* Q-NEXT: where a group is ready one is found, and what is found is ready. *)
ReadyIsHandedOut == /\ Ready # {} => Found # <<>>
                    /\ Found # <<>> => table[Found[1]] \in Ready

(* Q-PRIORITY: nothing that is ready goes before it. *)
HighestPriorityFirst == Found # <<>> => \A row \in Ready : ~ Precedes(row, table[Found[1]])

(* Q-CORR-LAST, where all groups wait for the marked one: nothing of a correlation before that one, itself or begun *)
(* after it, was ended.                                                                                              *)
LastGroupFreesCorrelation ==
  \A row \in Rows : IsHandedOut(row) \/ row.popped # {} =>
    \E other \in Rows : other.correlation = row.correlation /\ other.place >= row.place /\ other.last /\ other.closed

(* Q-WORKERS *)
WithinServiceLimit == \A w \in Worker : BusyOn(ServerOf[w]) <= Limit

(* Q-RETRY: the token of a group that is handed out is one higher (so it counts how often that was), and the group *)
(* goes on at its first message that is left.                                                                      *)
RetriesAreCounted ==
  [][\A w \in Worker :
       /\ worker'[w].group # 0 /\ ~ Busy(w) => worker'[w].token = table[worker'[w].group].token + 1
       /\ worker'[w].message # 0 /\ worker[w].message = 0 =>
            LET left == Unread(Held(w)) IN worker'[w].message \in left /\ \A m \in left : worker'[w].message <= m]_vars

(* Q-DEADLETTER: what is set aside keeps the order of its group. *)
SetAsideInOrder == \A row \in Rows : \A i, j \in DOMAIN row.aside : i < j => row.aside[i] < row.aside[j]

(* Q-POISON: no message is handed out more often than that, and none is set aside but what cannot be processed. *)
PoisonIsSetAside ==
  /\ MostTries > 0 => \A row \in Rows : row.tries <= MostTries
  /\ \A row \in Rows : \A i \in DOMAIN row.aside : Poisonous(row, row.aside[i])

(* What all is for: a group that was ended is finished in the end. *)
ClosedIsFinished ==
  \A g \in 1 .. MostGroups : (g \in Groups /\ table[g].closed) ~> (g \in Groups /\ IsFinished(table[g]))

(* What is not ended does not stay. *)
IncompleteGoes ==
  \A g \in 1 .. MostGroups :
    (g \in Groups /\ ~ table[g].closed) ~> (g \in Groups /\ (table[g].closed \/ ~ table[g].there))

(* Q-CRASH-DEAD, seen from a correlation: of those that have the present tokens one is at work.  (The handler of a *)
(* worker that was declared dead may be, too; that no store can prevent.)                                          *)
NoTwoAtWork ==
  \A w, u \in Worker :
    /\ Holds(w) /\ worker[w].message # 0
    /\ Holds(u) /\ worker[u].message # 0
    /\ Held(w).correlation = Held(u).correlation
    => w = u
-----------------------------------------------------------------------------
(* Reachability: TLC must refute these. *)
NoParallelReach == \A w, u \in Worker : w # u => ~ (Busy(w) /\ Busy(u) /\ worker[w].group # worker[u].group)
NoSlowSenderReach ==
  ~ \E s \in Sender : sender[s].up /\ sender[s].group # 0 /\ ~ table[sender[s].group].there
NoSlowWorkerReach ==
  ~ \E w, u \in Worker : w # u /\ Busy(w) /\ worker[w].group = worker[u].group /\ worker[w].token < worker[u].token
NoRetryReach == \A row \in Rows : ~ (IsHandedOut(row) /\ row.token > 2 /\ row.popped # {})
NoLowBeforeHighReach ==
  ~ \E row, other \in InTable : IsHandedOut(row) /\ other.lock = "none" /\ other.priority < row.priority
NoEmptyGroupReach == \A row \in Rows : row.there \/ row.made > 0
=============================================================================
