------------------------------- MODULE Mutants -------------------------------
(***************************************************************************)
(* Damaged rules, and literal readings of the source document that differ  *)
(* from the corrected rules.  Each takes the place of one rule by one line *)
(* of a .cfg (`Aggregate <- MaxOf`).  The last section replaces defined    *)
(* operators of BarrierOrder in the same way, for clauses that no rule can *)
(* break alone.                                                            *)
(***************************************************************************)
EXTENDS Integers, Sequences

LOCAL Max(a, b) == IF a >= b THEN a ELSE b
LOCAL Min(a, b) == IF a <= b THEN a ELSE b
LOCAL LeastOf(S) == IF S = {} THEN 0 ELSE CHOOSE x \in S : \A y \in S : x <= y
LOCAL Spoken(barriers) == {barriers[l] : l \in DOMAIN barriers} \ {0}
-----------------------------------------------------------------------------
(* Stamp *)
ClockOnly(clock, last, promised) == Max(clock, 1)
ClockOrLastAgain(clock, last, promised) == Max(Max(clock, 1), Max(last, promised))
NotAbovePromised(clock, last, promised) == Max(clock, last + 1)
LastOnly(clock, last, promised) == Max(last + 1, promised)

(* DataBarrier *)
TimestampPlusOne(timestamp) == timestamp + 1
TimestampMinusOne(timestamp) == timestamp - 1

(* BeaconBarrier; LastTimestamp is a literal reading of environment B. *)
ClockPlusOne(clock, last) == Max(clock, last) + 1
LastTimestamp(clock, last) == last
ClockAlone(clock, last) == clock

(* Register; LeastEver is a literal reading: the earlier minimum takes part. *)
Stale(held, arrived) == IF held = 0 THEN arrived ELSE held
LeastEver(held, arrived) == IF held = 0 THEN arrived ELSE Min(held, arrived)
GreatestEver(held, arrived) == Max(held, arrived)

(* Aggregate; FirstOf is the barrier of one link, whichever, for good. *)
MaxOf(barriers) ==
  LET greatest == CHOOSE l \in DOMAIN barriers :
                    \A k \in DOMAIN barriers : barriers[l] >= barriers[k]
  IN  barriers[greatest]
MinOfSpoken(barriers) == LeastOf(Spoken(barriers))
FirstOf(barriers) == barriers[CHOOSE l \in DOMAIN barriers : TRUE]
MinPlusOne(barriers) ==
  LET least == LeastOf({barriers[l] : l \in DOMAIN barriers}) IN
  IF least = 0 THEN 0 ELSE least + 1

(* Counted; AllIngress is a literal reading: one minimum for the whole switch. *)
AllIngress(reaching, ingress) == ingress
AllButOne(reaching, ingress) ==
  IF reaching = {} THEN {}
  ELSE LET one == CHOOSE l \in reaching : TRUE IN
       IF reaching = {one} THEN reaching ELSE reaching \ {one}

(* Deliverable *)
AtOrBelow(timestamp, barrier) == timestamp <= barrier
Always(timestamp, barrier) == TRUE
TwoBelow(timestamp, barrier) == timestamp + 1 < barrier

(* Precedence; TimestampOnly is the literal reading: ties in order of arrival. *)
TimestampOnly(timestamp, sender) == <<timestamp>>
SenderFirst(timestamp, sender) == <<sender, timestamp>>
SenderFalling(timestamp, sender) == <<timestamp, -sender>>
-----------------------------------------------------------------------------
(* Place, in the receive buffer: in order of arrival, or twice. *)
InOrderOfArrival(buffer, m) == Append(buffer, m)
Twice(buffer, m) == buffer \o <<m, m>>

(* CopyTimestamp: each copy of a scattering has a timestamp of its own. *)
TimestampPerCopy(timestamp, index) == timestamp + index - 1

(* BeaconsCarry, DataCarries: carriers of another environment. *)
BeaconsAlways == TRUE
DataAlways == TRUE

(* Actions that are never taken: what must happen in the end does not. *)
Never == FALSE
NeverAt(node) == FALSE
=============================================================================
