----------------------------- MODULE Adjustment -----------------------------
(***************************************************************************)
(* BarrierOrder where timestamps are adjusted: an adjustment is added to   *)
(* the local clock, and is replaced at any time by any other, above it or  *)
(* below it, as the outcome of any round.  `clock` is the adjusted clock,  *)
(* which falls with the adjustment; a local clock never falls.             *)
(*                                                                         *)
(* Source: source document 000 (patent text), environment F, which is      *)
(* silent on what an adjustment does to barriers.  Refines TotalOrder.     *)
(***************************************************************************)
EXTENDS BarrierClauses

CONSTANTS
  Adjustments,            \* Adjustments[h]: those that a round may give h; 0 is in force at first
  BeaconReading(_, _),    \* which clock a beacon is taken from: local or adjusted
  AdjustedBeacon(_, _, _) \* the barrier of a beacon, from that reading, the last timestamp
                          \* and the greatest promise

ASSUME AdjustmentsAreDifferences == \A h \in Host : Adjustments[h] \subseteq Int

VARIABLE local   \* local[h] is the local clock of host h

adjusted == <<vars, local>>
-----------------------------------------------------------------------------
AdjustmentOf(h) == clock[h] - local[h]

AdjustedInit == Init /\ local = FirstClock

(* The local clock moves on, and the adjusted one with it. *)
Ticks(h) == Tick(h) /\ local' = [local EXCEPT ![h] = @ + (clock'[h] - clock[h])]

(* A round ends, and its adjustment is in force, whatever was promised under the one before. *)
Adjust(h) ==
  /\ \E a \in Adjustments[h] \ {AdjustmentOf(h)} :
       local[h] + a \in Time \cup {0} /\ clock' = [clock EXCEPT ![h] = local[h] + a]
  /\ UNCHANGED <<sent, channel, promised, newest, buffer, delivered, local>>

(***************************************************************************)
(* A host puts a beacon on a link, at any time at which it has another     *)
(* barrier to tell than the last one.                                      *)
(***************************************************************************)
BeaconAdjusted(l) ==
  LET h == l[1]
      barrier == AdjustedBeacon(BeaconReading(local[h], clock[h]), Last(h), Promised(h)) \* TO-ADJ-SAFE
  IN
  /\ BeaconsCarry
  /\ barrier # promised[l]
  /\ channel' = [channel EXCEPT ![l] = Append(@, Beacon(barrier))]
  /\ promised' = [promised EXCEPT ![l] = barrier]
  /\ UNCHANGED <<clock, sent, newest, buffer, delivered, local>>

(* All else is as it was. *)
Scatters(h, receivers) == Scatter(h, receivers) /\ UNCHANGED local
ForwardsData(l) == ForwardData(l) /\ UNCHANGED local
TakesBeacon(l) == TakeBeacon(l) /\ UNCHANGED local
PutsBeacon(l) == SwitchBeacon(l) /\ UNCHANGED local
Arrives(l) == Arrive(l) /\ UNCHANGED local
Delivers(r) == Deliver(r) /\ UNCHANGED local
Rests == (\A l \in Link : channel[l] = <<>>) /\ UNCHANGED adjusted

AdjustedNext ==
  \/ \E h \in Host : Ticks(h)
  \/ \E h \in Host : Adjust(h)
  \/ \E h \in Host : \E receivers \in Destinations[h] : Scatters(h, receivers)
  \/ \E l \in HostEgress : BeaconAdjusted(l)
  \/ \E l \in SwitchIngress : ForwardsData(l)
  \/ \E l \in SwitchIngress : TakesBeacon(l)
  \/ \E l \in SwitchEgress : PutsBeacon(l)
  \/ \E l \in HostIngress : Arrives(l)
  \/ \E r \in Host : Delivers(r)
  \/ Rests

AdjustedSpec == AdjustedInit /\ [][AdjustedNext]_adjusted
-----------------------------------------------------------------------------
(* TO-ADJ-SAFE: whatever the adjustments, timestamps rise, and no promise is broken or taken back. *)
AdjustmentKeepsPromises ==
  TimestampsRise /\ BarrierPromiseHolds /\ BarriersNeverFall /\ DeliveredInTotalOrder

(* A local clock never falls. *)
LocalClocksRise == [][\A h \in Host : local'[h] >= local[h]]_local
-----------------------------------------------------------------------------
(* Reachability: TLC must refute each of these. *)

(* An adjustment races with a beacon in flight: the adjusted clock falls below what it promises. *)
RaceReach ==
  \A l \in HostEgress : \A i \in DOMAIN channel[l] :
    IsData(channel[l][i]) \/ channel[l][i].barrier <= clock[l[1]] \/ channel[l][i].barrier <= Last(l[1])

(* A timestamp is lifted above the adjusted clock by a promise alone. *)
LiftedReach ==
  [][\A h \in Host :
       Len(sent'[h]) > Len(sent[h]) =>
         sent'[h][Len(sent'[h])].timestamp <= Max(clock[h], Last(h) + 1)]_vars
=============================================================================
