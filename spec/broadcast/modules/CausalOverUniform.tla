-------------------------- MODULE CausalOverUniform --------------------------
(***************************************************************************)
(* Localized causal broadcast over uniform reliable broadcast: a message   *)
(* carries a clock, and waits until the vector clock of the receiver has   *)
(* reached it.  Both designs of the clocks are readings of the constants:  *)
(* two clocks, where the dependency clock is attached; and one clock,      *)
(* where it is made from the vector clock and the number of own messages.  *)
(*                                                                         *)
(* Source: source document 004, localized causal broadcast.                *)
(* Refines CausalBroadcast.                                                *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
  Process, MostBegun, MostCrashed, Depends,  \* as in CausalBroadcast
  Attached(_, _, _, _, _),    \* Attached(p, vector, dependency, begun, on): the clock of p's next message; begun are
                              \* its earlier ones, on is whom it depends on
  CountsDelivery(_, _, _),    \* CountsDelivery(p, c, on): whether p's dependency clock counts a delivery of c
  OwnEntry(_, _),             \* OwnEntry(begun, delivered): of the vector clock, from the own messages so far
  MayDeliver(_, _),           \* MayDeliver(clock, vector)
  LooksAfterReception(_, _, _),  \* (creator, behind, all): at whose waiting messages; behind are those whose messages
                                 \* the waiting ones of the creator lack
  LooksAfterDelivery(_, _)    \* (creator, all): at whose waiting messages, besides those looked at already

VARIABLES
  begun, received, crashed,  \* of UniformBroadcast
  past,        \* past[m] is the set of the messages that must be delivered before m: nobody reads it
  clock,       \* clock[m] is the clock that m carries
  dependency,  \* dependency[p] is the dependency clock of p
  waiting,     \* waiting[p] is the set of what p has received and not delivered
  delivered,   \* delivered[p] is the set of the messages that p has delivered
  looking      \* looking[p] is the set of the creators whose waiting messages p looks at now
vars == <<begun, received, crashed, past, clock, dependency, waiting, delivered, looking>>

Uniform == INSTANCE UniformBroadcast
Message == Uniform!Message
Begun == Uniform!Begun

Zero == [q \in Process |-> 0]
Count(d, c) == Cardinality({m \in d : m[1] = c})
Vector(p) == [q \in Process |-> IF q = p THEN OwnEntry(begun[p], Count(delivered[p], p)) ELSE Count(delivered[p], q)]
Deliverable(p) == {m \in waiting[p] : m[1] \in looking[p] /\ MayDeliver(clock[m], Vector(p))}
Settled == \A p \in Process \ crashed : looking[p] = {}

(* Whose messages the waiting ones of creator c lack, and, depth first, whose messages those lack in turn. *)
Lacked(waits, vector, c) == {q \in Process : \E m \in waits : m[1] = c /\ clock[m][q] > vector[q]}
RECURSIVE Behind(_, _, _)
Behind(waits, vector, found) ==
  LET more == found \cup UNION {Lacked(waits, vector, c) : c \in found} IN
  IF more = found THEN found ELSE Behind(waits, vector, more)
-----------------------------------------------------------------------------
Init ==
  /\ Uniform!Init
  /\ past = [m \in Message |-> {}]
  /\ clock = [m \in Message |-> Zero]
  /\ dependency = [p \in Process |-> Zero]
  /\ waiting = [p \in Process |-> {}]
  /\ delivered = [p \in Process |-> {}]
  /\ looking = [p \in Process |-> {}]

Begin(p) ==
  /\ Settled
  /\ Uniform!Begin(p)
  /\ LET m == <<p, begun[p] + 1>> IN
     /\ past' = [past EXCEPT ![m] = {x \in delivered[p] : x[1] \in Depends[p]} \cup {<<p, n>> : n \in 1 .. begun[p]}]
     /\ clock' = [clock EXCEPT ![m] = Attached(p, Vector(p), dependency[p], begun[p], Depends[p])]
  /\ dependency' = [dependency EXCEPT ![p][p] = @ + 1]
  /\ UNCHANGED <<waiting, delivered, looking>>

Receive(p, m) ==
  /\ Settled
  /\ Uniform!Deliver(p, m)
  /\ waiting' = [waiting EXCEPT ![p] = @ \cup {m}]
  /\ looking' = [looking EXCEPT ![p] =
                   LooksAfterReception(m[1], Behind(waiting[p] \cup {m}, Vector(p), {m[1]}), Process)]
  /\ UNCHANGED <<past, clock, dependency, delivered>>

(* One delivery a step; nothing but a crash comes between those of one reception. *)
Deliver(p) ==
  /\ p \notin crashed
  /\ \E m \in Deliverable(p) :
       /\ delivered' = [delivered EXCEPT ![p] = @ \cup {m}]
       /\ waiting' = [waiting EXCEPT ![p] = @ \ {m}]
       /\ dependency' = IF CountsDelivery(p, m[1], Depends[p])
                        THEN [dependency EXCEPT ![p][m[1]] = @ + 1] ELSE dependency
       /\ looking' = [looking EXCEPT ![p] = @ \cup LooksAfterDelivery(m[1], Process)]
  /\ UNCHANGED <<begun, received, crashed, past, clock>>

HasLooked(p) ==
  /\ p \notin crashed
  /\ looking[p] # {}
  /\ Deliverable(p) = {}
  /\ looking' = [looking EXCEPT ![p] = {}]
  /\ UNCHANGED <<begun, received, crashed, past, clock, dependency, waiting, delivered>>

Crash(p) ==
  /\ Uniform!Crash(p)
  /\ UNCHANGED <<past, clock, dependency, waiting, delivered, looking>>

(* It only keeps plain TLC from calling the end of a bounded run a deadlock. *)
Rest == UNCHANGED vars

Next ==
  \/ \E p \in Process : Begin(p)
  \/ \E p \in Process, m \in Message : Receive(p, m)
  \/ \E p \in Process : Deliver(p)
  \/ \E p \in Process : HasLooked(p)
  \/ \E p \in Process : Crash(p)
  \/ Rest

Spec == Init /\ [][Next]_vars

Fairness ==
  /\ \A p \in Process : WF_vars(Deliver(p)) /\ WF_vars(HasLooked(p))
  /\ \A p \in Process, m \in Message : WF_vars(Receive(p, m) /\ Uniform!Owed(m))

FairSpec == Spec /\ Fairness
-----------------------------------------------------------------------------
(* A fair run ends in such a state, as every step is taken but finitely often (see MajorityBroadcast). *)
Rested ==
  ~ ENABLED \E p \in Process :
      Deliver(p) \/ HasLooked(p) \/ \E m \in Message : Receive(p, m) /\ Uniform!Owed(m)

Causal == INSTANCE CausalBroadcast
RefinesCausalBroadcast == Causal!Spec
RefinesFairCausal == Causal!FairSpec
UsesUniformBroadcast == Uniform!Spec

TypeOK ==
  /\ \A p \in Process : waiting[p] \cap delivered[p] = {} /\ waiting[p] \cup delivered[p] = received[p]
  /\ \A p \in Process : looking[p] \subseteq Process

(* BC-LCB-CAUSAL: deliveries are one a step, so that closed at every step means in order. *)
DependenciesFirst == \A p \in Process : \A m \in delivered[p] : past[m] \subseteq delivered[p]

(* BC-LCB-LOCAL: what is received, and whose past is delivered, does not wait. *)
OthersDelayNothing ==
  Settled => \A p \in Process \ crashed : \A m \in waiting[p] : ~ past[m] \subseteq delivered[p]

(* BC-LCB-FIFO *)
FifoWithoutDependencies ==
  \A p \in Process : \A m \in delivered[p] : \A n \in 1 .. m[2] - 1 : <<m[1], n>> \in delivered[p]

(* BC-LCB-CLOCKS *)
DependencyClockAtBeginning ==
  \A m \in Begun : clock[m] =
    [q \in Process |-> IF q = m[1] THEN m[2] - 1
                       ELSE IF q \in Depends[m[1]] THEN Count(past[m], q) ELSE 0]

(* The two designs: the dependency clock is the vector clock at dependencies, with the number of own messages. *)
ClocksAgree ==
  \A p \in Process : dependency[p] =
    [q \in Process |-> IF q = p THEN begun[p] ELSE IF q \in Depends[p] THEN Vector(p)[q] ELSE 0]

(* BC-LCB-CHECK: nothing waits that its clock allows. *)
WaitingIsLookedAtAgain ==
  Settled => \A p \in Process \ crashed : \A m \in waiting[p] : ~ MayDeliver(clock[m], Vector(p))

(* BC-URB-VALID and BC-URB-AGREE at this layer. *)
OwedIsDelivered ==
  Rested => \A p \in Process \ crashed : \A m \in Message : Causal!Owed(m) => m \in delivered[p]

(* Reachability: TLC must refute these. *)
NoWaitingReach == Settled => \A p \in Process : waiting[p] = {}
NoIndependentReach ==
  ~ \E p \in Process, m \in Message : m \in delivered[p] /\ \E x \in delivered[m[1]] :
      x \notin delivered[p] /\ x \notin past[m] /\ x[1] # m[1] /\ p # m[1]
NoTwoAtOnceReach == \A p \in Process : looking[p] # {} => Cardinality(Deliverable(p)) <= 1
=============================================================================
