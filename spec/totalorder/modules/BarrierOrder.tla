---------------------------- MODULE BarrierOrder ----------------------------
(***************************************************************************)
(* Best-effort total order by barriers, without loss: hosts put timestamps *)
(* and barriers on FIFO links, switches forward and keep the newest        *)
(* barrier of each ingress link, receivers hold arrived messages until     *)
(* they are below the barrier.  Refines TotalOrder.                        *)
(*                                                                         *)
(* Source: source document 000 (patent text), environments A (barriers in  *)
(* data messages), B (in beacons) and C (in both).                         *)
(*                                                                         *)
(* The meaning of a barrier b on a link: no data message with a timestamp  *)
(* strictly below b follows it on that link.  A host's sending and         *)
(* receiving side are apart: a host forwards nothing.  What the module     *)
(* leaves out is listed in README.md.                                      *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
  Host,           \* numbers; each host can send and receive
  Switch,         \* numbers, others than the hosts'
  Link,           \* pairs <<source, target>> of hosts and switches
  Route,          \* Route[<<s, r>>] is the sequence of links from s to r, where one is
  Destinations,   \* Destinations[h] is the set of receiver sets that h scatters to
  MostSent,       \* MostSent[h] is the number of scatterings after which h is silent
  FirstClock,     \* FirstClock[h] is the clock of h at the start
  ClockSteps,     \* by how much a clock may move: {1}, with -1 where it may be set back
  Time,           \* the timestamps; 0 is before them all
  Environment     \* "A", "B" or "C": which messages carry barriers

CONSTANTS         \* the rules; see Rules
  Stamp(_, _, _), DataBarrier(_), BeaconBarrier(_, _), Register(_, _), Aggregate(_),
  Counted(_, _), Deliverable(_, _), Precedence(_, _)

Pairs == {<<s, r>> \in Host \X Host : \E R \in Destinations[s] : r \in R}

ASSUME NodesAreNumbers == Host \subseteq Nat /\ Switch \subseteq Nat /\ Host \cap Switch = {}
ASSUME LinksJoinNodes == Link \subseteq (Host \cup Switch) \X (Host \cup Switch)
ASSUME RoutesLead ==
  \A p \in Pairs :
    /\ p \in DOMAIN Route
    /\ Route[p][1][1] = p[1] /\ Route[p][Len(Route[p])][2] = p[2]
    /\ \A i \in DOMAIN Route[p] : Route[p][i] \in Link
    /\ \A i \in 1 .. Len(Route[p]) - 1 :
         Route[p][i][2] = Route[p][i + 1][1] /\ Route[p][i][2] \in Switch
ASSUME TimeIsPositive == Time \subseteq Nat \ {0}
ASSUME EnvironmentIsKnown == Environment \in {"A", "B", "C"}

VARIABLES
  clock,     \* clock[h] is the local clock of host h
  sent,      \* sent[h] is the sequence of h's scatterings, oldest first
  channel,   \* channel[l] is the sequence in flight on link l, oldest first
  promised,  \* promised[l] is the last barrier put on link l; 0 for none
  newest,    \* newest[l] is what the target of l holds as its newest barrier; 0 for none
  buffer,    \* buffer[h] is the receive buffer, sorted by precedence
  delivered  \* delivered[h] is the sequence of h's deliveries, oldest first
vars == <<clock, sent, channel, promised, newest, buffer, delivered>>
-----------------------------------------------------------------------------
DataCarries == Environment \in {"A", "C"}
BeaconsCarry == Environment \in {"B", "C"}
HostFills == TRUE   \* FALSE where hosts leave it to their first switch (TO-BAR-FILL)
Absent == -1   \* the barrier of a data message that has none

Max(a, b) == IF a >= b THEN a ELSE b
MaxOver(S) == IF S = {} THEN 0 ELSE CHOOSE x \in S : \A y \in S : y <= x

RECURSIVE Ascending(_)
Ascending(S) ==
  IF S = {} THEN <<>>
  ELSE LET least == CHOOSE x \in S : \A y \in S : x <= y
       IN  <<least>> \o Ascending(S \ {least})

Ingress == [n \in Host \cup Switch |-> {l \in Link : l[2] = n}]
HostEgress == {l \in Link : l[1] \in Host}
SwitchEgress == {l \in Link : l[1] \in Switch}
HostIngress == {l \in Link : l[2] \in Host}
SwitchIngress == {l \in Link : l[2] \in Switch}

(* The links that come just before l on some route. *)
Reaching ==
  [l \in Link |->
    {k \in Ingress[l[1]] :
      \E p \in Pairs : \E i \in 1 .. Len(Route[p]) - 1 : Route[p][i] = k /\ Route[p][i + 1] = l}]

(* The link that a message from s to r takes after link l. *)
Onward ==
  [p \in Pairs |-> [l \in {Route[p][i] : i \in 1 .. Len(Route[p]) - 1} |->
    LET i == CHOOSE i \in DOMAIN Route[p] : Route[p][i] = l IN Route[p][i + 1]]]

Last(h) == IF sent[h] = <<>> THEN 0 ELSE sent[h][Len(sent[h])].timestamp
Promised(h) == MaxOver({promised[l] : l \in {k \in HostEgress : k[1] = h}})

(* What the next timestamp of h is strictly above. *)
Floor(h) == Last(h)

Beacon(barrier) == [kind |-> "beacon", barrier |-> barrier]
IsData(m) == m.kind = "data"

(* The timestamp of a scattering's copy of the given index. *)
CopyTimestamp(timestamp, index) == timestamp

(* The data messages that a scattering puts on link l, one a receiver. *)
Copies(l, h, number, timestamp, receivers) ==
  LET order == Ascending(receivers)
      copy(i) ==
        LET t == CopyTimestamp(timestamp, i) IN
        [kind |-> "data", sender |-> h, receiver |-> order[i], number |-> number,
         timestamp |-> t, barrier |-> IF DataCarries /\ HostFills THEN DataBarrier(t) ELSE Absent]
      here(m) == Route[<<h, m.receiver>>][1] = l
  IN  SelectSeq([i \in DOMAIN order |-> copy(i)], here)

(* The last barrier put on a link, after the messages ms. *)
PromisedAfter(held, ms) ==
  IF ms = <<>> \/ ms[Len(ms)].barrier = Absent THEN held ELSE ms[Len(ms)].barrier

KeyBelow(a, b) == \E i \in DOMAIN a : a[i] < b[i] /\ \A j \in 1 .. i - 1 : a[j] = b[j]
Key(m) == Precedence(m.timestamp, m.sender)

(* The buffer with m at its place: after all that m does not precede. *)
Place(queue, m) ==
  LET before(n) == ~ KeyBelow(Key(m), Key(n))
      after(n) == KeyBelow(Key(m), Key(n))
  IN  SelectSeq(queue, before) \o <<m>> \o SelectSeq(queue, after)

(* The barrier that a switch may put on its egress link l, given what it holds. *)
SwitchBarrier(l, held) ==
  Aggregate([k \in Counted(Reaching[l], Ingress[l[1]]) |-> held[k]])

(* The barrier of a receiver. *)
ReceiverBarrier(r) == Aggregate([k \in Ingress[r] |-> newest[k]])
-----------------------------------------------------------------------------
Init ==
  /\ clock = FirstClock
  /\ sent = [h \in Host |-> <<>>]
  /\ channel = [l \in Link |-> <<>>]
  /\ promised = [l \in Link |-> 0]
  /\ newest = [l \in Link |-> 0]
  /\ buffer = [h \in Host |-> <<>>]
  /\ delivered = [h \in Host |-> <<>>]

(***************************************************************************)
(* A clock moves, however far it is from the others.                       *)
(***************************************************************************)
Tick(h) ==
  /\ Destinations[h] # {}
  /\ \E step \in ClockSteps :
       clock[h] + step \in Time \cup {0} /\ clock' = [clock EXCEPT ![h] = @ + step]
  /\ UNCHANGED <<sent, channel, promised, newest, buffer, delivered>>

(***************************************************************************)
(* A host scatters: copies with one timestamp leave on the first links of  *)
(* their routes, in the order of the receivers.                            *)
(***************************************************************************)
Scatter(h, receivers) ==
  LET t == Stamp(clock[h], Floor(h), Promised(h))                      \* TO-MONO
      copies == [l \in Link |->
                  IF l[1] = h THEN Copies(l, h, Len(sent[h]) + 1, t, receivers) ELSE <<>>]
  IN
  /\ t \in Time /\ Len(sent[h]) < MostSent[h]
  /\ sent' = [sent EXCEPT ![h] =
                Append(@, [timestamp |-> t, receivers |-> receivers])] \* TO-SCATTER
  /\ channel' = [l \in Link |-> channel[l] \o copies[l]]
  /\ promised' = [l \in Link |-> PromisedAfter(promised[l], copies[l])] \* TO-BAR-HOST
  /\ UNCHANGED <<clock, newest, buffer, delivered>>

(***************************************************************************)
(* A host puts a beacon on a link that says something new.  One whose clock *)
(* was set back waits until it is at all that it promised, on whichever     *)
(* link; what its rule makes of that is for the clauses to judge.           *)
(***************************************************************************)
Waits(l) == Max(clock[l[1]], Last(l[1])) < Promised(l[1])

HostBeacon(l) ==
  LET h == l[1]
      barrier == BeaconBarrier(clock[h], Last(h))                      \* TO-BAR-HOST
  IN
  /\ BeaconsCarry                                                      \* TO-ENV-B, TO-ENV-C
  /\ ~ Waits(l) /\ barrier # promised[l]
  /\ channel' = [channel EXCEPT ![l] = Append(@, Beacon(barrier))]
  /\ promised' = [promised EXCEPT ![l] = barrier]
  /\ UNCHANGED <<clock, sent, newest, buffer, delivered>>

(***************************************************************************)
(* A switch takes the oldest message of an ingress link, registers its     *)
(* barrier, and forwards data at once, with its own barrier in it.         *)
(***************************************************************************)
Filled(l, m) ==
  IF DataCarries /\ ~ HostFills /\ l \in HostEgress
  THEN [m EXCEPT !.barrier = DataBarrier(m.timestamp)] ELSE m
Registered(l, m) ==
  IF m.barrier = Absent THEN newest ELSE [newest EXCEPT ![l] = Register(@, m.barrier)]

ForwardData(l) ==
  /\ channel[l] # <<>> /\ IsData(Head(channel[l]))
  /\ LET m == Filled(l, Head(channel[l]))                              \* TO-BAR-FILL
         onto == Onward[<<m.sender, m.receiver>>][l]
         held == Registered(l, m)
         copy == IF m.barrier = Absent THEN m
                 ELSE [m EXCEPT !.barrier = SwitchBarrier(onto, held)] \* TO-BAR-MIN
     IN
     /\ newest' = held
     /\ channel' = [channel EXCEPT ![l] = Tail(@), ![onto] = Append(@, copy)]
     /\ promised' = [promised EXCEPT ![onto] = PromisedAfter(@, <<copy>>)]
  /\ UNCHANGED <<clock, sent, buffer, delivered>>

(***************************************************************************)
(* A switch takes a beacon from an ingress link and registers its barrier. *)
(* Beacons of its own follow in SwitchBeacon.                              *)
(***************************************************************************)
TakeBeacon(l) ==
  /\ channel[l] # <<>> /\ ~ IsData(Head(channel[l]))
  /\ newest' = Registered(l, Head(channel[l]))
  /\ channel' = [channel EXCEPT ![l] = Tail(@)]
  /\ UNCHANGED <<clock, sent, promised, buffer, delivered>>

(***************************************************************************)
(* A switch puts a beacon on an egress link, at any time at which it has   *)
(* another barrier to tell than the last one.                              *)
(***************************************************************************)
SwitchBeacon(l) ==
  LET barrier == SwitchBarrier(l, newest) IN                           \* TO-BAR-MIN
  /\ BeaconsCarry                                                      \* TO-ENV-B, TO-ENV-C
  /\ barrier # promised[l]
  /\ channel' = [channel EXCEPT ![l] = Append(@, Beacon(barrier))]
  /\ promised' = [promised EXCEPT ![l] = barrier]
  /\ UNCHANGED <<clock, sent, newest, buffer, delivered>>

(***************************************************************************)
(* The oldest message of a link arrives at a host: data goes to its place  *)
(* in the receive buffer, and a barrier is registered.                     *)
(***************************************************************************)
Arrive(l) ==
  /\ channel[l] # <<>>
  /\ LET m == Head(channel[l]) IN
     /\ newest' = Registered(l, m)
     /\ channel' = [channel EXCEPT ![l] = Tail(@)]
     /\ buffer' = IF IsData(m)
                  THEN [buffer EXCEPT ![l[2]] = Place(@,
                         [sender |-> m.sender, number |-> m.number, timestamp |-> m.timestamp])]
                  ELSE buffer
  /\ UNCHANGED <<clock, sent, promised, delivered>>

(***************************************************************************)
(* A receiver delivers the first message of its buffer once it is below    *)
(* the barrier.                                                            *)
(***************************************************************************)
Deliver(r) ==
  /\ buffer[r] # <<>>
  /\ Deliverable(Head(buffer[r]).timestamp, ReceiverBarrier(r))        \* TO-DELIVER
  /\ delivered' = [delivered EXCEPT ![r] = Append(@, Head(buffer[r]))]
  /\ buffer' = [buffer EXCEPT ![r] = Tail(@)]
  /\ UNCHANGED <<clock, sent, channel, promised, newest>>

(***************************************************************************)
(* Nothing moves any more.  It only keeps plain TLC from calling the end   *)
(* of a bounded time a deadlock.                                           *)
(***************************************************************************)
Rest ==
  /\ \A h \in Host : Destinations[h] = {} \/ \A step \in ClockSteps : clock[h] + step \notin Time
  /\ \A l \in Link : channel[l] = <<>>
  /\ UNCHANGED vars

Next ==
  \/ \E h \in Host : Tick(h)
  \/ \E h \in Host : \E receivers \in Destinations[h] : Scatter(h, receivers)
  \/ \E l \in HostEgress : HostBeacon(l)
  \/ \E l \in SwitchIngress : ForwardData(l)
  \/ \E l \in SwitchIngress : TakeBeacon(l)
  \/ \E l \in SwitchEgress : SwitchBeacon(l)
  \/ \E l \in HostIngress : Arrive(l)
  \/ \E r \in Host : Deliver(r)
  \/ Rest

Spec == Init /\ [][Next]_vars

(* Clocks go on, links carry, hosts and switches send beacons, receivers deliver. *)
Fairness ==
  /\ \A h \in Host : WF_vars(Tick(h)) /\ WF_vars(Deliver(h))
  /\ \A l \in SwitchIngress : WF_vars(ForwardData(l)) /\ WF_vars(TakeBeacon(l))
  /\ \A l \in HostIngress : WF_vars(Arrive(l))
  /\ \A l \in HostEgress : WF_vars(HostBeacon(l))
  /\ \A l \in SwitchEgress : WF_vars(SwitchBeacon(l))

FairSpec == Spec /\ Fairness

(***************************************************************************)
(* The same where time is bounded: every step but scattering is then one   *)
(* of finitely many, so that fairness of their union is fairness of each.  *)
(* TLC checks it in a fraction of the time.                                *)
(***************************************************************************)
Progress ==
  \/ \E h \in Host : Tick(h) \/ Deliver(h)
  \/ \E l \in SwitchIngress : ForwardData(l) \/ TakeBeacon(l)
  \/ \E l \in HostIngress : Arrive(l)
  \/ \E l \in HostEgress : HostBeacon(l)
  \/ \E l \in SwitchEgress : SwitchBeacon(l)

BoundedFairSpec == Spec /\ WF_vars(Progress)
=============================================================================
