----------------------------- MODULE TraceReplay -----------------------------
(***************************************************************************)
(* Recorded runs, read row by row.  A module that extends this one says    *)
(* which action a row is, what it must keep (a record of Booleans, clauses *)
(* under their names), and what an observer remembers of it.  The step of  *)
(* each row is determined, so that TLC takes time linear in the rows; a    *)
(* run ends accepted after its last row, or rejected at the first that     *)
(* breaks a clause.  TLC prints the verdict: PrintT is true.               *)
(***************************************************************************)
EXTENDS Integers, Sequences, TLC

CONSTANTS
  Runs   \* the recorded runs: a sequence of records, one field of which is the sequence `rows`

VARIABLES
  run,      \* the run that is read: an index of Runs
  at,       \* the index of its next row
  verdict,  \* "reading", "accepted" or "rejected"
  pairs,    \* the pairs of actions that were taken one after the other
  latest    \* the last action; "Nothing" before the first
reading == <<run, at, verdict, pairs, latest>>

(* Where each step is determined, a run's place says all: as the VIEW of TLC it saves the fingerprint of what is *)
(* remembered, which grows.                                                                                      *)
ReadSoFar == <<run, at, verdict>>

Net == Runs[run]
Row == Net.rows[at]
-----------------------------------------------------------------------------
BeginReading ==
  /\ run \in DOMAIN Runs
  /\ at = 1
  /\ verdict = "reading"
  /\ pairs = {}
  /\ latest = "Nothing"

Reading == verdict = "reading" /\ at <= Len(Net.rows)

BrokenOf(keeps) == {clause \in DOMAIN keeps : ~ keeps[clause]}

(* The row is the action, which breaks nothing. *)
Accept(action) ==
  /\ at' = at + 1
  /\ pairs' = pairs \cup {<<latest, action>>}
  /\ latest' = action
  /\ UNCHANGED <<run, verdict>>

(* The row would be the action, but breaks these clauses, which want these values. *)
Reject(action, broken, wanted(_)) ==
  /\ PrintT(<<"rejected", run, at, action, [clause \in broken |-> wanted(clause)]>>)
  /\ verdict' = "rejected"
  /\ UNCHANGED <<run, at, pairs, latest>>

(* All rows are read. *)
Finish ==
  /\ verdict = "reading" /\ at > Len(Net.rows)
  /\ PrintT(<<"accepted", run, pairs>>)
  /\ verdict' = "accepted"
  /\ UNCHANGED <<run, at, pairs, latest>>

(* It only keeps TLC from calling the end of a run a deadlock. *)
Over == verdict # "reading" /\ UNCHANGED reading
=============================================================================
