------------------------------ MODULE LossOrder ------------------------------
(***************************************************************************)
(* Total order by barriers under loss: senders number and resend, receivers *)
(* acknowledge, every link counts what it loses, and while a loss is not    *)
(* made good receivers deliver by the ack barrier.  Refines TotalOrder.     *)
(*                                                                         *)
(* Source: source document 000 (patent text), environment D, with the       *)
(* message structure of figure 9: data messages and beacons both carry      *)
(* barrier, ack barrier and loss flag.                                      *)
(*                                                                         *)
(* The meaning of an ack barrier b: every data message with a timestamp at  *)
(* or below b has been received.  One switch stands between senders and     *)
(* receivers, and a link holds nothing: what was put on it arrives, or is   *)
(* lost, in the same step.  README.md says why, and what is left out.       *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
  Sender,         \* numbers; each has one link, to the switch
  Receiver,       \* numbers, others than the senders'; each has one link, from the switch
  Destinations,   \* Destinations[h] is the set of receiver sets that h scatters to
  MostSent,       \* MostSent[s] is the number of scatterings after which s is silent
  MostLost,       \* the number of packets that links lose, at most
  Time            \* the timestamps and the readings of clocks; 0 is before them all

CONSTANTS         \* the rules; see LossRules
  AckInit(_, _, _),     \* a sender's ack barrier, from outstanding and acknowledged timestamps and its clock
  LossRecord(_, _, _),  \* the record of a loss, from the least barrier of the node, the largest
                        \* of the losing link, and the greatest that any link has into its source
  FlagOnBeacons,        \* whether beacons carry the loss flag
  CounterSpansBeacons,  \* whether the loss counter of a link counts beacons too
  LastHopWatched,       \* whether a receiver has a loss counter on its link
  ResentBarrier(_, _),  \* the barrier of a resent message, from its timestamp and the clock
  Register(_, _),       \* the newest barrier of a link, from the one held and the one that arrived
  AckReached(_, _)      \* whether a timestamp may be delivered by an ack barrier

Host == Sender \cup Receiver   \* each has one link, which goes by the host's number

ASSUME HostsAreNumbers == Host \subseteq Nat /\ Sender \cap Receiver = {}
ASSUME SendersScatter == \A h \in Host : Destinations[h] \subseteq (SUBSET Receiver) \ {{}}
ASSUME ReceiversDoNot == \A r \in Receiver : Destinations[r] = {}
ASSUME TimeIsPositive == Time \subseteq Nat \ {0} /\ 1 \in Time

VARIABLES
  clock,     \* clock[s] is the local clock of sender s
  sent,      \* sent[h] is the sequence of h's scatterings, oldest first
  pending,   \* pending[s] is the sequence of receivers whose copy of s's last scattering has not left
  acked,     \* acked[s][r] is the number up to which s knows that r has all that it scattered to r
  held,      \* held[h] is what the target of h's link holds of it; see Silent
  buffer,    \* buffer[h] is the set of messages received and not delivered
  delivered, \* delivered[h] is the sequence of h's deliveries, oldest first
  lost       \* how many packets were lost
vars == <<clock, sent, pending, acked, held, buffer, delivered, lost>>
-----------------------------------------------------------------------------
Max(a, b) == IF a >= b THEN a ELSE b
Least(S) == CHOOSE x \in S : \A y \in S : x <= y
Greatest(S) == CHOOSE x \in S : \A y \in S : y <= x

RECURSIVE Ascending(_)
Ascending(S) == IF S = {} THEN <<>> ELSE <<Least(S)>> \o Ascending(S \ {Least(S)})

(* Of a link: newest barrier and ack barrier; whether packets were lost that *)
(* its counter has not shown; the record of the loss state, 0 outside of it.  *)
Silent == [barrier |-> 0, ack |-> 0, gap |-> FALSE, record |-> 0]

Received(r) == buffer[r] \cup {delivered[r][i] : i \in DOMAIN delivered[r]}
Message(s, n) == [sender |-> s, number |-> n, timestamp |-> sent[s][n].timestamp]
To(s, r) == {n \in DOMAIN sent[s] : r \in sent[s][n].receivers}

(* What r acknowledges to s: the number up to which it has all. *)
Cumulative(s, r) ==
  Greatest({0} \cup {n \in To(s, r) : \A i \in To(s, r) : i <= n => Message(s, i) \in Received(r)})

Outstanding(s, r) == {n \in To(s, r) : n > acked[s][r]}

(* The ack barrier of a sender that has scattered this history. *)
AckBarrier(s, history) ==
  LET known == {<<n, r>> \in (DOMAIN history) \X Receiver :
                  r \in history[n].receivers /\ n <= acked[s][r]}
      unknown == {<<n, r>> \in (DOMAIN history) \X Receiver :
                  r \in history[n].receivers /\ n > acked[s][r]}
  IN  AckInit({history[c[1]].timestamp : c \in unknown}, {history[c[1]].timestamp : c \in known}, clock[s])

(* What sender s puts on its link. *)
Packet(s, history, data, barrier) ==
  [data |-> data, barrier |-> barrier, ack |-> AckBarrier(s, history), flag |-> FALSE,
   greatest |-> barrier]

(* What the switch puts on a link, where it holds `at` of its ingress links. *)
Forwarded(at, data) ==
  [data |-> data,
   barrier |-> Least({at[s].barrier : s \in Sender}),                  \* TO-BAR-MIN
   ack |-> Least({at[s].ack : s \in Sender}),                          \* TO-ACK-MIN
   flag |-> (data \/ FlagOnBeacons) /\ \E s \in Sender : at[s].record # 0,
   greatest |-> Greatest({at[s].barrier : s \in Sender})]

Counts(p) == p.data \/ CounterSpansBeacons

(***************************************************************************)
(* What is held of the links when packet p arrives on link l at a node with *)
(* these ingress links: registers first, then the record of a loss that the *)
(* counter or the flag shows, then the end of loss states whose record the  *)
(* least ack barrier has reached.                                           *)
(***************************************************************************)
Taken(at, l, ingress, watched, p) ==
  LET now == [at EXCEPT ![l].barrier = Register(@, p.barrier), ![l].ack = Max(@, p.ack),
                        ![l].gap = @ /\ ~ Counts(p)]
      noticed == p.flag \/ (watched /\ Counts(p) /\ at[l].gap)         \* TO-SWLOSS, TO-LASTHOP
      fresh == LossRecord(Least({now[k].barrier : k \in ingress}),
                          Max(at[l].barrier, p.barrier), Max(at[l].barrier, p.greatest))
      record(k) == IF k = l /\ noticed THEN fresh ELSE now[k].record   \* TO-FLAG-SW, TO-FLAG-RX
      reached == Least({now[k].ack : k \in ingress})
  IN  [h \in Host |->
        IF h \in ingress
        THEN [now[h] EXCEPT !.record = IF reached >= record(h) THEN 0 ELSE record(h)]
        ELSE now[h]]

AtSwitch(at, s, p) == Taken(at, s, Sender, TRUE, p)
AtReceiver(at, r, p) == Taken(at, r, {r}, LastHopWatched, p)
Missing(at, l, p) == [at EXCEPT ![l].gap = @ \/ Counts(p)]

First(r) == CHOOSE m \in buffer[r] : \A n \in buffer[r] :
              \/ m.timestamp < n.timestamp
              \/ m.timestamp = n.timestamp /\ m.sender <= n.sender
CanDeliver(r) ==
  /\ buffer[r] # {}
  /\ LET t == First(r).timestamp IN
     IF held[r].record = 0 THEN t < held[r].barrier ELSE AckReached(t, held[r].ack)
Settled == \A r \in Receiver : ~ CanDeliver(r)
-----------------------------------------------------------------------------
Init ==
  /\ clock = [s \in Sender |-> 1]
  /\ sent = [h \in Host |-> <<>>]
  /\ pending = [s \in Sender |-> <<>>]
  /\ acked = [s \in Sender |-> [r \in Receiver |-> 0]]
  /\ held = [h \in Host |-> Silent]
  /\ buffer = [h \in Host |-> {}]
  /\ delivered = [h \in Host |-> <<>>]
  /\ lost = 0

Tick(s) ==
  /\ Settled /\ pending[s] = <<>> /\ clock[s] + 1 \in Time
  /\ clock' = [clock EXCEPT ![s] = @ + 1]
  /\ UNCHANGED <<sent, pending, acked, held, buffer, delivered, lost>>

(***************************************************************************)
(* Packet p with message m leaves s for r.  It arrives, or it is lost on    *)
(* the link to the switch, or on the link to the receiver.                  *)
(***************************************************************************)
Put(s, r, m, p) ==
  LET passed == AtSwitch(held, s, p)
      q == Forwarded(passed, TRUE)
  IN
  \/ /\ held' = AtReceiver(passed, r, q)
     /\ buffer' = IF m \in Received(r) THEN buffer ELSE [buffer EXCEPT ![r] = @ \cup {m}]
     /\ UNCHANGED lost
  \/ /\ lost < MostLost /\ lost' = lost + 1
     /\ held' \in {Missing(held, s, p), Missing(passed, r, q)}
     /\ UNCHANGED buffer

(***************************************************************************)
(* A sender scatters at a clock that it has not used yet; the first copy    *)
(* leaves, and the others are pending.                                      *)
(***************************************************************************)
Scatter(s, receivers) ==
  LET t == clock[s]
      n == Len(sent[s]) + 1
      order == Ascending(receivers)
  IN
  /\ Settled /\ pending[s] = <<>> /\ n <= MostSent[s]
  /\ \A i \in DOMAIN sent[s] : sent[s][i].timestamp < t                \* TO-MONO
  /\ sent' = [sent EXCEPT ![s] = Append(@, [timestamp |-> t, receivers |-> receivers])]
  /\ pending' = [pending EXCEPT ![s] = Tail(order)]
  /\ Put(s, Head(order), [sender |-> s, number |-> n, timestamp |-> t], Packet(s, sent'[s], TRUE, t))
  /\ UNCHANGED <<clock, acked, delivered>>

(* The next copy of a scattering leaves. *)
NextCopy(s) ==
  /\ Settled /\ pending[s] # <<>>
  /\ pending' = [pending EXCEPT ![s] = Tail(@)]
  /\ Put(s, Head(pending[s]), Message(s, Len(sent[s])), Packet(s, sent[s], TRUE, clock[s]))
  /\ UNCHANGED <<clock, sent, acked, delivered>>

(* A message that is not acknowledged is sent again, with its old timestamp. *)
Resend(s, r) ==
  /\ Settled /\ pending[s] = <<>>
  /\ \E n \in Outstanding(s, r) :
       Put(s, r, Message(s, n),
           Packet(s, sent[s], TRUE, ResentBarrier(sent[s][n].timestamp, clock[s])))  \* TO-RETX-BAR
  /\ UNCHANGED <<clock, sent, pending, acked, delivered>>

(* An acknowledgement comes back to s, not necessarily the newest. *)
Learn(s, r) ==
  /\ Settled /\ pending[s] = <<>>
  /\ \E n \in To(s, r) :
       /\ acked[s][r] < n /\ n <= Cumulative(s, r)
       /\ acked' = [acked EXCEPT ![s][r] = n]
  /\ UNCHANGED <<clock, sent, pending, held, buffer, delivered, lost>>

HostBeacon(s) ==
  LET p == Packet(s, sent[s], FALSE, clock[s]) IN
  /\ Settled /\ pending[s] = <<>>
  /\ \/ held' = AtSwitch(held, s, p) /\ UNCHANGED lost
     \/ lost < MostLost /\ lost' = lost + 1 /\ held' = Missing(held, s, p)
  /\ UNCHANGED <<clock, sent, pending, acked, buffer, delivered>>

SwitchBeacon(r) ==
  LET p == Forwarded(held, FALSE) IN
  /\ Settled
  /\ \/ held' = AtReceiver(held, r, p) /\ UNCHANGED lost
     \/ lost < MostLost /\ lost' = lost + 1 /\ held' = Missing(held, r, p)
  /\ UNCHANGED <<clock, sent, pending, acked, buffer, delivered>>

(* A receiver delivers; nothing else happens while one can. *)
Deliver(r) ==
  /\ CanDeliver(r)
  /\ delivered' = [delivered EXCEPT ![r] = Append(@, First(r))]
  /\ buffer' = [buffer EXCEPT ![r] = @ \ {First(r)}]
  /\ UNCHANGED <<clock, sent, pending, acked, held, lost>>

(* Beacons can always be sent, so that there is no end at which TLC would see a deadlock. *)
Next ==
  \/ \E s \in Sender : Tick(s) \/ NextCopy(s) \/ HostBeacon(s)
  \/ \E s \in Sender : \E receivers \in Destinations[s] : Scatter(s, receivers)
  \/ \E s \in Sender, r \in Receiver : Resend(s, r) \/ Learn(s, r)
  \/ \E r \in Receiver : SwitchBeacon(r) \/ Deliver(r)

Spec == Init /\ [][Next]_vars

(***************************************************************************)
(* Everything but scattering goes on as long as it changes anything.  With  *)
(* bounded time and loss every such step is one of finitely many, so that   *)
(* fairness of their union is fairness of each.                             *)
(***************************************************************************)
Progress ==
  \/ \E s \in Sender : Tick(s) \/ NextCopy(s) \/ HostBeacon(s)
  \/ \E s \in Sender, r \in Receiver : Resend(s, r) \/ Learn(s, r)
  \/ \E r \in Receiver : SwitchBeacon(r) \/ Deliver(r)

BoundedFairSpec == Spec /\ WF_vars(Progress)
=============================================================================
