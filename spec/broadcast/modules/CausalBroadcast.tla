--------------------------- MODULE CausalBroadcast ---------------------------
(***************************************************************************)
(* What localized causal broadcast promises: uniform reliable broadcast in *)
(* which a message is delivered after all that its creator had broadcast   *)
(* before, and had delivered before of the processes that it depends on;   *)
(* and after nothing else.                                                 *)
(*                                                                         *)
(* Source: source document 004, localized causal broadcast.                *)
(* CausalOverUniform refines it.                                           *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
  Process, MostBegun, MostCrashed,  \* as in UniformBroadcast
  Depends      \* Depends[p] is the set of the processes that p depends on

VARIABLES
  begun,      \* begun[p] is how many messages p has broadcast
  past,       \* past[m] is the set of the messages that must be delivered before m
  delivered,  \* delivered[p] is the set of the messages that p has delivered
  crashed
vars == <<begun, past, delivered, crashed>>

Message == UNION {{<<p, n>> : n \in 1 .. MostBegun[p]} : p \in Process}
Begun == {m \in Message : m[2] <= begun[m[1]]}

Init ==
  /\ begun = [p \in Process |-> 0]
  /\ past = [m \in Message |-> {}]
  /\ delivered = [p \in Process |-> {}]
  /\ crashed = {}

Begin(p) ==
  /\ p \notin crashed
  /\ begun[p] < MostBegun[p]
  /\ begun' = [begun EXCEPT ![p] = @ + 1]
  /\ past' = [past EXCEPT ![<<p, begun[p] + 1>>] =
                {m \in delivered[p] : m[1] \in Depends[p]} \cup {<<p, n>> : n \in 1 .. begun[p]}]
  /\ UNCHANGED <<delivered, crashed>>

Deliver(p, m) ==
  /\ p \notin crashed
  /\ m \in Begun \ delivered[p]
  /\ past[m] \subseteq delivered[p]                            \* BC-LCB-CAUSAL, BC-LCB-FIFO
  /\ delivered' = [delivered EXCEPT ![p] = @ \cup {m}]
  /\ UNCHANGED <<begun, past, crashed>>

Crash(p) ==
  /\ p \notin crashed
  /\ Cardinality(crashed) < MostCrashed
  /\ crashed' = crashed \cup {p}
  /\ UNCHANGED <<begun, past, delivered>>

Next ==
  \/ \E p \in Process : Begin(p)
  \/ \E p \in Process, m \in Message : Deliver(p, m)
  \/ \E p \in Process : Crash(p)

Spec == Init /\ [][Next]_vars

(* Which messages must come to all that are correct, as in UniformBroadcast. *)
Owed(m) == m \in Begun /\ (m[1] \notin crashed \/ \E q \in Process : m \in delivered[q])

FairSpec == Spec /\ \A p \in Process, m \in Message : WF_vars(Deliver(p, m) /\ Owed(m))
=============================================================================
