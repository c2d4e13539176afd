----------------------------- MODULE IdleTimers -----------------------------
(***************************************************************************)
(* BarrierOrder in environment C with idle timers: a beacon leaves a link  *)
(* only when no data message has left for an interval.  Time on a link is  *)
(* counted by the ticks of the node that it leaves.                        *)
(*                                                                         *)
(* Source: source document 000 (patent text), environment C, paragraphs 2  *)
(* and 3.  Refines TotalOrder.                                             *)
(***************************************************************************)
EXTENDS BarrierClauses

CONSTANTS
  Interval,        \* in ticks
  BeaconDue(_, _)  \* whether a beacon is due, from the idle time of the link and that of the
                   \* node, which is the least of those of its egress links

ASSUME IdleBeaconsAlone == Environment = "C"

VARIABLE idle   \* idle[l] is how long no data message has left on l, up to the interval
idleVars == <<vars, idle>>

IdleInit == Init /\ idle = [l \in Link |-> 0]
-----------------------------------------------------------------------------
IdleOf(n) ==
  LET times == {idle[l] : l \in {k \in Link : k[1] = n}} IN CHOOSE x \in times : \A y \in times : x <= y
Due(l) == BeaconDue(idle[l], IdleOf(l[1]))

AfterTick(n) ==
  idle' = [l \in Link |-> IF l[1] = n /\ idle[l] < Interval THEN idle[l] + 1 ELSE idle[l]]
AfterData ==
  idle' = [l \in Link |->
            IF \E i \in Len(channel[l]) + 1 .. Len(channel'[l]) : IsData(channel'[l][i]) THEN 0
            ELSE idle[l]]

Ticks(h) == Tick(h) /\ AfterTick(h)
SwitchTicks(n) ==
  /\ \E l \in SwitchEgress : l[1] = n /\ idle[l] < Interval
  /\ AfterTick(n) /\ UNCHANGED vars
Scatters(h, receivers) == Scatter(h, receivers) /\ AfterData
ForwardsData(l) == ForwardData(l) /\ AfterData
PutsBeacon(l) == HostBeacon(l) /\ Due(l) /\ UNCHANGED idle             \* TO-ENV-C
SwitchPutsBeacon(l) == SwitchBeacon(l) /\ Due(l) /\ UNCHANGED idle     \* TO-ENV-C
TakesBeacon(l) == TakeBeacon(l) /\ UNCHANGED idle
Arrives(l) == Arrive(l) /\ UNCHANGED idle
Delivers(r) == Deliver(r) /\ UNCHANGED idle
Rests == Rest /\ UNCHANGED idleVars

IdleProgress ==
  \/ \E h \in Host : Ticks(h) \/ Delivers(h)
  \/ \E n \in Switch : SwitchTicks(n)
  \/ \E l \in HostEgress : PutsBeacon(l)
  \/ \E l \in SwitchIngress : ForwardsData(l) \/ TakesBeacon(l)
  \/ \E l \in SwitchEgress : SwitchPutsBeacon(l)
  \/ \E l \in HostIngress : Arrives(l)
IdleNext ==
  \/ IdleProgress
  \/ \E h \in Host : \E receivers \in Destinations[h] : Scatters(h, receivers)
  \/ Rests
IdleSpec == IdleInit /\ [][IdleNext]_idleVars /\ WF_idleVars(IdleProgress)
-----------------------------------------------------------------------------
(* TO-ENV-C: data messages carry barriers, and a beacon leaves an idle link only. *)
BeaconsOnlyWhenIdle ==
  [][\A l \in Link : \A i \in Added(l) :
       /\ IsData(channel'[l][i]) => channel'[l][i].barrier # Absent
       /\ ~ IsData(channel'[l][i]) => idle[l] >= Interval]_idleVars

(* Reachability: TLC must refute it.  A beacon leaves a host while another link of it is busy. *)
BusyElsewhereReach ==
  [][\A l \in HostEgress : \A i \in Added(l) :
       IsData(channel'[l][i]) \/ IdleOf(l[1]) >= Interval]_idleVars
=============================================================================
