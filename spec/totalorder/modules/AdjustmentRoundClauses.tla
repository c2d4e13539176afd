----------------------- MODULE AdjustmentRoundClauses -----------------------
(* What AdjustmentRounds must keep, a clause an operator under the clause's name, and what TLC must refute. *)
EXTENDS AdjustmentRounds
-----------------------------------------------------------------------------
TypeOK ==
  /\ now \in Nat /\ round \in 1 .. MostRounds
  /\ delay \in Delays /\ back \in Backs
  /\ adjustment \in [Sender -> Int]

(* A message stamped t by the plain clock arrives at t plus this. *)
Apparent(s, r) == delay[s][r] - Skew[s]
Nearest(r) == Least({Apparent(s, r) : s \in HeardBy(r)})
Above(s, r) == Apparent(s, r) - Nearest(r)

(* TO-ADJ-1: what is returned is the latest arrival less the least delay. *)
ReceiverReturnsAlignedMaximum ==
  \A r \in Receiver :
    returned[r] # NoMessage =>
      returned[r].value = Greatest({heard[r][s].at : s \in HeardBy(r)}) - Nearest(r)

(* TO-ADJ-2: the adjustment is the least delay above that of the nearest sender.  It is that of *)
(* this round's delays alone, whatever was in force.                                            *)
SenderTakesLeastDifference ==
  \A s \in Sender : Ends(s) => adjustment[s] = Least({Above(s, r) : r \in HeardOf(s)})

(* TO-ADJ-ROUNDS: every round comes to its end, whatever the delays, and so the last one. *)
AdjustmentIsRepeated == \A k \in 1 .. MostRounds : <>(round = k /\ AllEnd)

(* Between the first and the last arrival of equal timestamps, under a given adjustment. *)
Spread(r, by) ==
  LET arrivals == {Apparent(s, r) - by[s] : s \in HeardBy(r)} IN Greatest(arrivals) - Least(arrivals)
Plain == [s \in Sender |-> 0]

(* TO-ADJ-GAIN: while delays are those of the round, no receiver waits longer than without. *)
AdjustmentNarrowsArrivals ==
  AllEnd => \A r \in Receiver : Spread(r, adjustment) <= Spread(r, Plain)

(* TO-ADJ-EX: the document's numbers, for its delays. *)
AdjustmentOfWorkedExample ==
  AllEnd =>
    /\ returned[1].value = 9 /\ returned[2].value = 5
    /\ third[1][1] = [value |-> 29, at |-> 20] /\ third[1][2] = [value |-> 25, at |-> 20]
    /\ third[2][1] = [value |-> 11, at |-> 11] /\ third[2][2] = [value |-> 15, at |-> 15]
    /\ adjustment[1] = 5 /\ adjustment[2] = 0
    /\ Spread(1, Plain) = 9 /\ Spread(1, adjustment) = 4
    /\ Spread(2, Plain) = 5 /\ Spread(2, adjustment) = 0
-----------------------------------------------------------------------------
(* Reachability: TLC must refute each of these. *)

(* Under other delays than those of the round, an adjustment makes somebody wait longer. *)
DriftReach == \A r \in Receiver : Spread(r, adjustment) <= Spread(r, Plain)

(* From clock reading to the last arrival that it waits for, a sender is slower than without. *)
Latency(s, by) ==
  by[s] + Greatest({Greatest({Apparent(q, r) - by[q] : q \in HeardBy(r)}) : r \in HeardOf(s)})
SlowerSenderReach == AllEnd => \A s \in Sender : Latency(s, adjustment) <= Latency(s, Plain)

(* An adjustment falls. *)
FallReach == [][\A s \in Sender : adjustment'[s] >= adjustment[s]]_adjustment
=============================================================================
