-------------------------- MODULE MajorityBroadcast --------------------------
(***************************************************************************)
(* Uniform reliable broadcast over perfect links: a first reception is     *)
(* forwarded to all, and a message is delivered when enough processes are  *)
(* known to have it.  Processes crash for ever; what a process had sent    *)
(* when it crashed may arrive or not.  The rules that the source document  *)
(* argues about, or leaves open, are operator constants.                   *)
(*                                                                         *)
(* Source: source document 004, uniform reliable broadcast.                *)
(* Refines UniformBroadcast.                                               *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Process, MostBegun, MostCrashed,  \* as in UniformBroadcast
  Receivers(_, _),   \* Receivers(p, creator): to whom p sends what it broadcasts or forwards
  Own(_),            \* Own(p): whom p counts, without hearing of them, once it has a message
  Enough(_, _),      \* Enough(k, n): whether k of n processes that have it are enough to deliver
  First(_, _),       \* First(pending, delivered): whether a message of which p has this is received for the first time
  Kept(_),           \* Kept(sends): of the process's own sends of a message, those that outlive its delivery
  MayForward(_),     \* MayForward(undelivered): whether a process with this many own messages undelivered forwards
  MayBegin(_),       \* MayBegin(undelivered): and whether it begins with another
  ForwardsApart      \* whether a first reception and the forward are two steps, in which a process may crash or deliver

VARIABLES
  begun,      \* begun[p] is how many messages p has broadcast
  crashed,
  pending,    \* pending[p] is the set of messages that p has and has not delivered
  heard,      \* heard[p][m] is whom p knows to have m, for m in pending[p]
  owes,       \* owes[p] is the set of the messages that p has yet to forward
  link,       \* what was handed to the perfect links and not delivered by them, each <<from, to, message>>
  delivered   \* delivered[p] is the sequence of p's deliveries
vars == <<begun, crashed, pending, heard, owes, link, delivered>>

N == Cardinality(Process)
Message == UNION {{<<p, n>> : n \in 1 .. MostBegun[p]} : p \in Process}
Begun == {m \in Message : m[2] <= begun[m[1]]}
Delivered(p) == {delivered[p][i] : i \in DOMAIN delivered[p]}
Undelivered(p) == Cardinality({m \in Begun : m[1] = p} \ Delivered(p))
Has(p, m) == m \in pending[p] \/ m \in Delivered(p)
Sends(p, m) == {<<p, q, m>> : q \in Receivers(p, m[1])}
-----------------------------------------------------------------------------
Init ==
  /\ begun = [p \in Process |-> 0]
  /\ crashed = {}
  /\ pending = [p \in Process |-> {}]
  /\ heard = [p \in Process |-> [m \in Message |-> {}]]
  /\ owes = [p \in Process |-> {}]
  /\ link = {}
  /\ delivered = [p \in Process |-> <<>>]

Begin(p) ==
  /\ p \notin crashed
  /\ begun[p] < MostBegun[p]
  /\ MayBegin(Undelivered(p))
  /\ LET m == <<p, begun[p] + 1>> IN
     /\ begun' = [begun EXCEPT ![p] = @ + 1]
     /\ pending' = [pending EXCEPT ![p] = @ \cup {m}]
     /\ heard' = [heard EXCEPT ![p][m] = Own(p)]
     /\ link' = link \cup Sends(p, m)
  /\ UNCHANGED <<crashed, owes, delivered>>

(* The perfect link delivers, in any order, what was handed to it; of a sender that has crashed perhaps not all. *)
Receive(p, q, m) ==
  /\ <<p, q, m>> \in link
  /\ q \notin crashed
  /\ LET first == First(m \in pending[q], m \in Delivered(q))
         atOnce == first /\ ~ ForwardsApart /\ MayForward(Undelivered(q)) IN
     /\ pending' = IF first THEN [pending EXCEPT ![q] = @ \cup {m}] ELSE pending
     /\ heard' = IF first THEN [heard EXCEPT ![q][m] = Own(q) \cup {p}]
                 ELSE IF m \in pending[q] THEN [heard EXCEPT ![q][m] = @ \cup {p}] ELSE heard
     /\ owes' = IF first /\ ~ atOnce THEN [owes EXCEPT ![q] = @ \cup {m}] ELSE owes
     /\ link' = (link \ {<<p, q, m>>}) \cup (IF atOnce THEN Sends(q, m) ELSE {})
  /\ UNCHANGED <<begun, crashed, delivered>>

Forward(p, m) ==
  /\ p \notin crashed
  /\ m \in owes[p]
  /\ MayForward(Undelivered(p))
  /\ owes' = [owes EXCEPT ![p] = @ \ {m}]
  /\ link' = link \cup Sends(p, m)
  /\ UNCHANGED <<begun, crashed, pending, heard, delivered>>

Deliver(p, m) ==
  /\ p \notin crashed
  /\ m \in pending[p]
  /\ Enough(Cardinality(heard[p][m]), N)                        \* BC-URB-MAJ
  /\ delivered' = [delivered EXCEPT ![p] = Append(@, m)]
  /\ pending' = [pending EXCEPT ![p] = @ \ {m}]                 \* BC-URB-GC
  /\ heard' = [heard EXCEPT ![p][m] = {}]
  /\ LET own == link \cap Sends(p, m) IN link' = (link \ own) \cup Kept(own)
  /\ owes' = IF ForwardsApart /\ Kept(Sends(p, m)) = {} THEN [owes EXCEPT ![p] = @ \ {m}] ELSE owes
  /\ UNCHANGED <<begun, crashed>>

Crash(p) ==
  /\ p \notin crashed
  /\ Cardinality(crashed) < MostCrashed
  /\ crashed' = crashed \cup {p}
  /\ UNCHANGED <<begun, pending, heard, owes, link, delivered>>

(* It only keeps plain TLC from calling the end of a bounded run a deadlock. *)
Rest == UNCHANGED vars

Next ==
  \/ \E p \in Process : Begin(p)
  \/ \E p, q \in Process, m \in Message : Receive(p, q, m)
  \/ \E p \in Process, m \in Message : Forward(p, m)
  \/ \E p \in Process, m \in Message : Deliver(p, m)
  \/ \E p \in Process : Crash(p)
  \/ Rest

Spec == Init /\ [][Next]_vars

(* Perfect links between correct processes, and processes that go on. *)
Brings(p, q, m) == Receive(p, q, m) /\ p \notin crashed
Fairness ==
  /\ \A p, q \in Process, m \in Message : WF_vars(Brings(p, q, m))
  /\ \A p \in Process, m \in Message : WF_vars(Forward(p, m)) /\ WF_vars(Deliver(p, m))

FairSpec == Spec /\ Fairness
-----------------------------------------------------------------------------
(***************************************************************************)
(* Every step is taken but finitely often, so that a fair run ends in a    *)
(* state in which no step that fairness asks for is possible.  What        *)
(* happens in the end is thus an invariant of the states of rest, and TLC  *)
(* finds shortest counterexamples.                                         *)
(***************************************************************************)
Rested ==
  ~ ENABLED \E p \in Process, m \in Message :
      Forward(p, m) \/ Deliver(p, m) \/ \E q \in Process : Brings(p, q, m)

Uniform == INSTANCE UniformBroadcast WITH received <- [p \in Process |-> Delivered(p)]

(* What was handed to the links is what p has and does not owe. *)
Handed == UNION {UNION {Sends(p, m) : m \in {x \in Begun : Has(p, x) /\ x \notin owes[p]}} : p \in Process}
Links == INSTANCE PerfectLinks WITH
  Handable <- Process \X Process \X Message,
  handed <- Handed,
  arrived <- Handed \ link

UsesPerfectLinks == Links!Spec
RefinesUniformBroadcast == Uniform!Spec
RefinesFairBroadcast == Uniform!FairSpec

TypeOK ==
  /\ \A p \in Process : pending[p] \subseteq Begun /\ owes[p] \subseteq Begun
  /\ \A send \in link : send[1] \in Process /\ send[2] \in Process /\ send[3] \in Begun
  /\ crashed \subseteq Process

(* BC-URB-VALID *)
OwnIsDelivered == Rested => \A m \in Begun : m[1] \notin crashed => m \in Delivered(m[1])

(* BC-URB-ONCE *)
DeliveredOnce == \A p \in Process : Cardinality(Delivered(p)) = Len(delivered[p])

(* BC-URB-REAL *)
DeliveredWasBegun == \A p \in Process : Delivered(p) \subseteq Begun

(* BC-URB-AGREE: what any process has delivered, every correct one delivers. *)
UniformAgreement ==
  Rested => \A p \in Process : \A q \in Process \ crashed : Delivered(p) \subseteq Delivered(q)

(* BC-URB-AGREE as the document has it: what a correct process has delivered. *)
RegularAgreement ==
  Rested => \A p, q \in Process \ crashed : Delivered(p) \subseteq Delivered(q)

(* The same to the letter: all processes deliver it, those that crash, too. *)
AllDeliver ==
  Rested => \A p \in Process \ crashed, q \in Process : Delivered(p) \subseteq Delivered(q)

(* BC-URB-SELF *)
OneselfCounts == \A p \in Process : \A m \in pending[p] : p \in heard[p][m]

(* BC-URB-MAJ: more than half had what was delivered, and whoever counts as having it has it. *)
MajorityHasIt ==
  /\ \A p \in Process : \A m \in Delivered(p) : Cardinality({q \in Process : Has(q, m)}) * 2 > N
  /\ \A p \in Process : \A m \in pending[p] : \A q \in heard[p][m] : Has(q, m)

(* BC-URB-GC: nothing is left but the number, and no late copy makes it pending again. *)
DeliveredIsForgotten ==
  \A p \in Process : \A m \in Delivered(p) : m \notin pending[p] /\ heard[p][m] = {}

(* BC-URB-MINORITY: what no more than half have ever had is delivered by nobody. *)
MinorityDeliversNothing ==
  \A m \in Begun : Cardinality({q \in Process : Has(q, m)}) * 2 <= N => \A p \in Process : m \notin Delivered(p)

(* Part of BC-FIFO-FLOW: who may begin does so in the end. *)
AllAreBegun ==
  Rested => \A p \in Process \ crashed : begun[p] < MostBegun[p] => MayBegin(Undelivered(p))

(* Reachability: TLC must refute these. *)
NoDeliveryBeforeCrashReach == \A p \in crashed : delivered[p] = <<>>
NoOrphanReach ==
  ~ (Rested /\ \E m \in Begun : \A p \in Process : m \notin Delivered(p))
NoForwardByOthersReach ==
  ~ \E p \in Process, m \in Message : m[1] \in crashed /\ m \in Delivered(p) /\ <<m[1], p, m>> \in link
NoStandstillOfMinorityReach ==
  ~ (Rested /\ Cardinality(crashed) * 2 >= N /\ \E p \in Process \ crashed : pending[p] # {})
=============================================================================
