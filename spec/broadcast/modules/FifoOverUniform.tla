--------------------------- MODULE FifoOverUniform ---------------------------
(***************************************************************************)
(* FIFO broadcast over uniform reliable broadcast: what is received waits  *)
(* until it is the next of its creator; and flow control: a process pauses *)
(* while too many of its own messages are undelivered.                     *)
(*                                                                         *)
(* Source: source document 004, FIFO broadcast.  Refines FifoBroadcast.    *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
  Process, MostBegun, MostCrashed,  \* as in UniformBroadcast
  MostUndelivered,      \* the threshold of flow control
  MayDeliver(_, _),     \* MayDeliver(number, last): whether a message may follow those up to number last
  LooksAt(_, _),        \* LooksAt(creator, all): whose waiting messages are looked at after a reception
  Pauses(_, _, _)       \* Pauses(undelivered, threshold, paused): whether it is paused then, having been so or not

VARIABLES
  begun, received, crashed,  \* of UniformBroadcast
  waiting,    \* waiting[p] is the set of what p has received and not delivered
  delivered,  \* delivered[p] is the set of the messages that p has delivered
  looking,    \* looking[p] is the set of the creators whose waiting messages p looks at now
  paused      \* paused[p]: whether p begins with no further message
vars == <<begun, received, crashed, waiting, delivered, looking, paused>>

Uniform == INSTANCE UniformBroadcast
Message == Uniform!Message
Begun == Uniform!Begun

Count(p, c) == Cardinality({m \in delivered[p] : m[1] = c})
Last(p, c) == LET numbers == {m[2] : m \in {x \in delivered[p] : x[1] = c}} IN
              IF numbers = {} THEN 0 ELSE CHOOSE n \in numbers : \A k \in numbers : k <= n
Deliverable(p) == {m \in waiting[p] : m[1] \in looking[p] /\ MayDeliver(m[2], Last(p, m[1]))}
Settled == \A p \in Process \ crashed : looking[p] = {}
-----------------------------------------------------------------------------
Init ==
  /\ Uniform!Init
  /\ waiting = [p \in Process |-> {}]
  /\ delivered = [p \in Process |-> {}]
  /\ looking = [p \in Process |-> {}]
  /\ paused = [p \in Process |-> Pauses(0, MostUndelivered, FALSE)]

Begin(p) ==
  /\ Settled
  /\ ~ paused[p]
  /\ Uniform!Begin(p)
  /\ paused' = [paused EXCEPT ![p] = Pauses(begun[p] + 1 - Count(p, p), MostUndelivered, @)]
  /\ UNCHANGED <<waiting, delivered, looking>>

Receive(p, m) ==
  /\ Settled
  /\ Uniform!Deliver(p, m)
  /\ waiting' = [waiting EXCEPT ![p] = @ \cup {m}]
  /\ looking' = [looking EXCEPT ![p] = LooksAt(m[1], Process)]
  /\ UNCHANGED <<delivered, paused>>

(* One delivery a step; nothing but a crash comes between those of one reception. *)
Deliver(p) ==
  /\ p \notin crashed
  /\ \E m \in Deliverable(p) :
       /\ delivered' = [delivered EXCEPT ![p] = @ \cup {m}]
       /\ waiting' = [waiting EXCEPT ![p] = @ \ {m}]
       /\ paused' = IF m[1] # p THEN paused
                    ELSE [paused EXCEPT ![p] = Pauses(begun[p] - Count(p, p) - 1, MostUndelivered, @)]
  /\ UNCHANGED <<begun, received, crashed, looking>>

HasLooked(p) ==
  /\ p \notin crashed
  /\ looking[p] # {}
  /\ Deliverable(p) = {}
  /\ looking' = [looking EXCEPT ![p] = {}]
  /\ UNCHANGED <<begun, received, crashed, waiting, delivered, paused>>

Crash(p) ==
  /\ Uniform!Crash(p)
  /\ UNCHANGED <<waiting, delivered, looking, paused>>

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
  /\ \A p \in Process : WF_vars(Begin(p)) /\ WF_vars(Deliver(p)) /\ WF_vars(HasLooked(p))
  /\ \A p \in Process, m \in Message : WF_vars(Receive(p, m) /\ Uniform!Owed(m))

FairSpec == Spec /\ Fairness
-----------------------------------------------------------------------------
(* A fair run ends in such a state, as every step is taken but finitely often (see MajorityBroadcast). *)
Rested ==
  ~ ENABLED \E p \in Process :
      Begin(p) \/ Deliver(p) \/ HasLooked(p) \/ \E m \in Message : Receive(p, m) /\ Uniform!Owed(m)

Fifo == INSTANCE FifoBroadcast
RefinesFifoBroadcast == Fifo!Spec
RefinesFairFifo == Fifo!FairSpec
UsesUniformBroadcast == Uniform!Spec

TypeOK ==
  /\ \A p \in Process : waiting[p] \cap delivered[p] = {} /\ waiting[p] \cup delivered[p] = received[p]
  /\ \A p \in Process : looking[p] \subseteq Process /\ paused[p] \in BOOLEAN

(* BC-FIFO-ORDER *)
DeliveredInSendingOrder ==
  \A p \in Process : \A m \in delivered[p] : \A n \in 1 .. m[2] - 1 : <<m[1], n>> \in delivered[p]

(* BC-FIFO-FLOW: the bound, and that everything is begun and delivered in the end. *)
OwnUndeliveredIsBounded ==
  /\ \A p \in Process : begun[p] - Count(p, p) <= MostUndelivered
  /\ Rested => \A p \in Process \ crashed : begun[p] = MostBegun[p] /\ Count(p, p) = MostBegun[p]

(* The second half alone. *)
NothingStandsStill ==
  Rested => \A p \in Process \ crashed : begun[p] = MostBegun[p] /\ Count(p, p) = MostBegun[p]

(* BC-URB-VALID and BC-URB-AGREE at this layer. *)
OwedIsDelivered ==
  Rested => \A p \in Process \ crashed : \A m \in Message : Fifo!Owed(m) => m \in delivered[p]

(* Nothing waits that could be delivered. *)
DeliverableIsDelivered ==
  Settled => \A p \in Process \ crashed : \A m \in waiting[p] : ~ MayDeliver(m[2], Last(p, m[1]))

(* Reachability: TLC must refute these. *)
NoWaitingReach == Settled => \A p \in Process : waiting[p] = {}
NoPauseReach == \A p \in Process : begun[p] < MostBegun[p] => ~ paused[p]
NoTwoAtOnceReach == \A p \in Process : Cardinality({m \in waiting[p] : m[1] \in looking[p]}) <= 1
=============================================================================
