--------------------------- MODULE AdjustmentRules ---------------------------
(***************************************************************************)
(* The rules of Adjustment and of AdjustmentRounds: of each the corrected  *)
(* form first, then literal readings of the source document and damaged    *)
(* rules.                                                                  *)
(***************************************************************************)
EXTENDS Integers

LOCAL Max(a, b) == IF a >= b THEN a ELSE b

(* BeaconReading; LocalReading is literal: the local physical time. *)
AdjustedReading(local, adjusted) == adjusted
LocalReading(local, adjusted) == local

(* AdjustedBeacon; the others are literal, each true of a clock that does not fall. *)
AboveEveryPromise(reading, last, promised) == Max(reading, Max(last, promised))
UpToLast(reading, last, promised) == Max(reading, last)
ReadingAlone(reading, last, promised) == reading
-----------------------------------------------------------------------------
(* The rules of a round; without a word, the first of each is the corrected one. *)
LOCAL Greatest(S) == CHOOSE x \in S : \A y \in S : y <= x
LOCAL Least(S) == CHOOSE x \in S : \A y \in S : x <= y

(* FirstTimestamp: the plain clock, or what stage three can be read as. *)
PlainClock(local, inForce) == local
AdjustedClock(local, inForce) == local + inForce

(* Base, of the arrivals; EarliestArrival is literal: "the principle is the same". *)
LatestArrival(arrivals) == Greatest(arrivals)
EarliestArrival(arrivals) == Least(arrivals)

(* Aligned *)
ShiftedToBase(first, arrival, base) == first + (base - arrival)
ShiftedBack(first, arrival, base) == first - (base - arrival)

(* Returned *)
TheGreatest(aligned) == Greatest(aligned)
TheLeast(aligned) == Least(aligned)

(* RoundTrip, from the time gone since message 1, of which the receiver held it so long,   *)
(* and the delay of message 1; TwiceOneWay is literal.                                     *)
WithoutHold(gone, hold, there) == gone - hold
TwiceOneWay(gone, hold, there) == 2 * there
HoldIncluded(gone, hold, there) == gone

(* Difference; LocalLessThird is literal: S2304, claims F1 and F3. *)
ThirdLessLocal(third, local) == third - local
LocalLessThird(third, local) == local - third

(* Chosen, of the differences *)
LeastDifference(differences) == Least(differences)
GreatestDifference(differences) == Greatest(differences)

(* InForceNext; AddedUp is a literal reading of stage three. *)
Replaced(inForce, measured) == measured
AddedUp(inForce, measured) == inForce + measured

(* MeasuredOver; Everybody is literal: the minimum is over all receivers. *)
OtherHost(s, r) == s # r
Everybody(s, r) == TRUE
=============================================================================
