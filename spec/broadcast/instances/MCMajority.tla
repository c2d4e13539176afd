----------------------------- MODULE MCMajority -----------------------------
(* Instances of MajorityBroadcast.  Process a broadcasts, b too where it says so; the others are alike. *)
EXTENDS MajorityBroadcast, MajorityRules, TLC

CONSTANTS a, b, c, d, e

(* Receivers *)
OthersOf(p, creator) == Process \ {p}
Everybody(p, creator) == Process
AllButTheCreator(p, creator) == Process \ {p, creator}

(* MostBegun *)
OneOfA == [p \in Process |-> IF p = a THEN 1 ELSE 0]
TwoOfA == [p \in Process |-> IF p = a THEN 2 ELSE 0]
OneOfAAndB == [p \in Process |-> IF p \in {a, b} THEN 1 ELSE 0]
OneEach == [p \in Process |-> 1]

(* Sound for invariants: nothing tells processes apart that broadcast equally many messages. *)
Alike == UNION {Permutations({p \in Process : MostBegun[p] = k}) : k \in {MostBegun[p] : p \in Process}}

(* Mutants.  Actions that are never taken; in the place of Rest a process that comes back, and links that make *)
(* things up.                                                                                                  *)
NeverAt(p) == FALSE
NeverOf(p, m) == FALSE
NeverFrom(p, q, m) == FALSE
Revived == crashed' = {} /\ UNCHANGED <<begun, pending, heard, owes, link, delivered>>
MadeUp ==
  /\ link' = Process \X Process \X Message
  /\ UNCHANGED <<begun, crashed, pending, heard, owes, delivered>>
=============================================================================
