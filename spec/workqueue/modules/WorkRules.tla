------------------------------ MODULE WorkRules ------------------------------
(***************************************************************************)
(* The rules of the queue in their corrected form, and below them literal  *)
(* readings of the source document, and damaged rules.                     *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

Related(row, rows) == {other \in rows : other.correlation = row.correlation}
IsFree(row, rows) == \A other \in Related(row, rows) : other.lock # "receive"

(* Listed: the first of each correlation, so that priority is compared among correlations alone.  A first group stays *)
(* the first until it is gone, so that an older list is as good as the latest one.                                    *)
HeadsOfFree(rows) ==
  {row \in rows : IsFree(row, rows) /\ \A other \in Related(row, rows) : row.place <= other.place}

(* Before *)
ByPriority(row, other) ==
  row.priority < other.priority \/ (row.priority = other.priority /\ row.place < other.place)

(* Skips, DropsToo *)
SendLocked(row) == row.lock = "send"
SameCorrelation(row, other) == row.correlation = other.correlation

(* Whole: nothing waits for the last group of a correlation, *)
AnyTime(rows, c) == TRUE
(* or, where senders mark it, for that one. *)
LastIsMarked(rows, c) == \E row \in rows : row.correlation = c /\ row.last /\ row.closed /\ row.there

(* NextToken *)
OneMore(token) == token + 1

(* MayCall: the group is there, and the call has the token of its present lock. *)
PresentToken(row, kind, token, server) == row.there /\ row.lock = kind /\ row.token = token

(* Unlocks *)
OwnReceiveLocks(row, v) == row.lock = "receive" /\ row.server = v

(* NextMessage *)
FirstUnpopped(row) == CHOOSE m \in 1 .. row.made \ row.popped : \A n \in 1 .. row.made \ row.popped : m <= n

(* SetsAside *)
AfterMostTries(tries, most) == most > 0 /\ tries >= most

(* MayStart *)
BelowLimit(busy, limit) == busy < limit
-----------------------------------------------------------------------------
(* Literal. *)

(* Box 310: all groups of correlations that are not locked for receiving; sorted by priority, *)
AllOfFree(rows) == {row \in rows : IsFree(row, rows)}
(* or by their position in the queue, which no two share. *)
ByPlace(row, other) == row.place < other.place

(* Claims 9 and 10: locked until the last one came; with no mark, the last one is the latest that has come. *)
LatestIsLast(rows, c) == \A row \in rows : row.correlation = c => row.lock # "send"

(* What fails is handed out again. *)
Never(tries, most) == FALSE

(* Nothing is said of calls by whom a group was taken from. *)
Anybody(row, kind, token, server) == TRUE
(* The group is there, whoever has it. *)
WhileThere(row, kind, token, server) == row.there
(* Of locks it is known which server holds them. *)
SameServer(row, kind, token, server) == row.there /\ row.lock = kind /\ row.server = server

(* "Unlocks the groups locked for sending by the server instance of that name." *)
OwnSendLocks(row, v) == row.lock = "send" /\ row.server = v
-----------------------------------------------------------------------------
(* Damage *)
Everything(rows) == rows
Nothing(row) == FALSE
OnlyItself(row, other) == FALSE
SameToken(token) == token
(* A mark frees the correlation for good, *)
OnceMarked(rows, c) == \E row \in rows : row.correlation = c /\ row.last /\ row.closed
(* or frees it as soon as the marked group was begun. *)
LastIsBegun(rows, c) == \E row \in rows : row.correlation = c /\ row.last /\ row.there
AllReceiveLocks(row, v) == row.lock = "receive"
FromTheFirst(row) == 1
TheLatest(row) == CHOOSE m \in 1 .. row.made \ row.popped : \A n \in 1 .. row.made \ row.popped : m >= n
OneEarly(tries, most) == tries + 1 >= most
UpToLimit(busy, limit) == busy <= limit
ByLowestPriority(row, other) ==
  row.priority > other.priority \/ (row.priority = other.priority /\ row.place < other.place)
=============================================================================
