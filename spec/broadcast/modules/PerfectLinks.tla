---------------------------- MODULE PerfectLinks ----------------------------
(***************************************************************************)
(* What perfect links promise: what a correct process hands over for a     *)
(* correct one arrives in the end, and nothing else does.  A process       *)
(* crashes for ever; what it handed over before may arrive or not.         *)
(*                                                                         *)
(* A message is <<from, to, what>>.  A step may bring one message and hand *)
(* over others, as a process does that forwards what it received.          *)
(*                                                                         *)
(* Source: source document 004, perfect links.  ResendingLinks refines it, *)
(* and MajorityBroadcast is built upon it.                                 *)
(***************************************************************************)
EXTENDS FiniteSets, Naturals

CONSTANTS
  Process,
  Handable,     \* all messages that may be handed over
  MostCrashed   \* how many processes may crash

VARIABLES
  handed,   \* the set of messages that were handed over
  arrived,  \* the set of those that have arrived
  crashed
vars == <<handed, arrived, crashed>>

Init == handed = {} /\ arrived = {} /\ crashed = {}

Hand ==
  /\ handed \subseteq handed' /\ handed' \subseteq Handable
  /\ \A x \in handed' \ handed : x[1] \notin crashed

Arrive ==
  /\ arrived \subseteq arrived' /\ Cardinality(arrived' \ arrived) <= 1
  /\ \A x \in arrived' \ arrived : x \in handed /\ x[2] \notin crashed   \* BC-PL-REAL

Crash ==
  /\ \E p \in Process \ crashed : crashed' = crashed \cup {p}
  /\ Cardinality(crashed) < MostCrashed
  /\ UNCHANGED <<handed, arrived>>

Next == (Hand /\ Arrive /\ UNCHANGED crashed) \/ Crash

Spec == Init /\ [][Next]_vars

(* BC-PL-RELIABLE *)
Reliable ==
  \A x \in Handable : (x \in handed) ~> (x \in arrived \/ x[1] \in crashed \/ x[2] \in crashed)

FairSpec == Spec /\ Reliable
=============================================================================
