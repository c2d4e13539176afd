-------------------------- MODULE UniformBroadcast --------------------------
(***************************************************************************)
(* What uniform reliable broadcast promises: what any process delivers,    *)
(* every correct one delivers in the end, once; and nothing is delivered   *)
(* that was not broadcast.                                                 *)
(*                                                                         *)
(* Source: source document 004, uniform reliable broadcast, with agreement *)
(* in its uniform form.  MajorityBroadcast refines it; FifoOverUniform and *)
(* CausalOverUniform are built upon it.                                    *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
  Process,
  MostBegun,    \* MostBegun[p] is how many messages p broadcasts at most; message n of p is <<p, n>>
  MostCrashed   \* how many processes may crash

VARIABLES
  begun,     \* begun[p] is how many messages p has broadcast
  received,  \* received[p] is the set of the messages that p has delivered at this layer
  crashed
vars == <<begun, received, crashed>>

Message == UNION {{<<p, n>> : n \in 1 .. MostBegun[p]} : p \in Process}
Begun == {m \in Message : m[2] <= begun[m[1]]}

Init ==
  /\ begun = [p \in Process |-> 0]
  /\ received = [p \in Process |-> {}]
  /\ crashed = {}

Begin(p) ==
  /\ p \notin crashed
  /\ begun[p] < MostBegun[p]
  /\ begun' = [begun EXCEPT ![p] = @ + 1]
  /\ UNCHANGED <<received, crashed>>

Deliver(p, m) ==
  /\ p \notin crashed
  /\ m \in Begun                \* BC-URB-REAL
  /\ m \notin received[p]       \* BC-URB-ONCE
  /\ received' = [received EXCEPT ![p] = @ \cup {m}]
  /\ UNCHANGED <<begun, crashed>>

Crash(p) ==
  /\ p \notin crashed
  /\ Cardinality(crashed) < MostCrashed
  /\ crashed' = crashed \cup {p}
  /\ UNCHANGED <<begun, received>>

(* It only keeps plain TLC from calling the end of a bounded run a deadlock. *)
Rest == UNCHANGED vars

Next ==
  \/ \E p \in Process : Begin(p)
  \/ \E p \in Process, m \in Message : Deliver(p, m)
  \/ \E p \in Process : Crash(p)
  \/ Rest

Spec == Init /\ [][Next]_vars

(* BC-URB-VALID and BC-URB-AGREE: which messages must come to all that are correct. *)
Owed(m) == m \in Begun /\ (m[1] \notin crashed \/ \E q \in Process : m \in received[q])

FairSpec == Spec /\ \A p \in Process, m \in Message : WF_vars(Deliver(p, m) /\ Owed(m))
=============================================================================
