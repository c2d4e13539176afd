---------------------------- MODULE FifoBroadcast ----------------------------
(***************************************************************************)
(* What FIFO broadcast promises: uniform reliable broadcast in which the   *)
(* messages of one creator are delivered in the order of broadcasting.     *)
(*                                                                         *)
(* Source: source document 004, FIFO broadcast.  FifoOverUniform refines   *)
(* it.                                                                     *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS Process, MostBegun, MostCrashed  \* as in UniformBroadcast

VARIABLES
  begun,      \* begun[p] is how many messages p has broadcast
  delivered,  \* delivered[p] is the set of the messages that p has delivered
  crashed
vars == <<begun, delivered, crashed>>

Message == UNION {{<<p, n>> : n \in 1 .. MostBegun[p]} : p \in Process}
Begun == {m \in Message : m[2] <= begun[m[1]]}

Init ==
  /\ begun = [p \in Process |-> 0]
  /\ delivered = [p \in Process |-> {}]
  /\ crashed = {}

Begin(p) ==
  /\ p \notin crashed
  /\ begun[p] < MostBegun[p]
  /\ begun' = [begun EXCEPT ![p] = @ + 1]
  /\ UNCHANGED <<delivered, crashed>>

Deliver(p, m) ==
  /\ p \notin crashed
  /\ m \in Begun \ delivered[p]
  /\ \A n \in 1 .. m[2] - 1 : <<m[1], n>> \in delivered[p]   \* BC-FIFO-ORDER
  /\ delivered' = [delivered EXCEPT ![p] = @ \cup {m}]
  /\ UNCHANGED <<begun, crashed>>

Crash(p) ==
  /\ p \notin crashed
  /\ Cardinality(crashed) < MostCrashed
  /\ crashed' = crashed \cup {p}
  /\ UNCHANGED <<begun, delivered>>

Next ==
  \/ \E p \in Process : Begin(p)
  \/ \E p \in Process, m \in Message : Deliver(p, m)
  \/ \E p \in Process : Crash(p)

Spec == Init /\ [][Next]_vars

(* Which messages must come to all that are correct, as in UniformBroadcast. *)
Owed(m) == m \in Begun /\ (m[1] \notin crashed \/ \E q \in Process : m \in delivered[q])

FairSpec == Spec /\ \A p \in Process, m \in Message : WF_vars(Deliver(p, m) /\ Owed(m))
=============================================================================
