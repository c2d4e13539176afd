------------------------------ MODULE LossOrder ------------------------------
(***************************************************************************)
(* Total order by barriers under loss: senders number and resend, receivers *)
(* acknowledge, every link counts what it loses, and while a loss is not    *)
(* made good receivers deliver by the ack barrier.  Refines TotalOrder.     *)
(*                                                                         *)
(* Source: source document 000 (patent text), environments D and E, the     *)
(* rules as RULES.md corrects them.  LossNetwork has the links and what is  *)
(* kept of them.  README.md says how the behaviours are reduced, and what   *)
(* that leaves out.                                                         *)
(***************************************************************************)
EXTENDS LossNetwork

CONSTANTS
  Destinations,   \* Destinations[h] is the set of receiver sets that h scatters to
  MostSent,       \* MostSent[s] is the number of scatterings after which s is silent
  Time,           \* the readings of clocks; 0 is before them all
  Stamps,         \* the timestamps that are given
  LossUntil,      \* packets are lost only while some clock reads this or less
  MostRestarts,   \* the number of times that switches restart, at most
  HostFlags       \* whether a host may say what it knows to be lost

CONSTANTS         \* the rules; see LossRules
  AckInit(_, _, _),     \* a sender's ack barrier, from outstanding and acknowledged timestamps and the
                        \* least timestamp that it could still give
  ResentBarrier(_, _),  \* the barrier of a resent message, from its timestamp and the clock
  MayDeliver(_, _, _, _, _), \* whether a message is delivered, from its timestamp, barrier, ack barrier,
                        \* whether the loss state lasts, and whether the message was flagged
  RestartIsGap          \* whether a switch that restarted takes the first packet of a link as a gap

Sender == {h \in Host : Destinations[h] # {}}

ASSUME SomebodyScatters == Sender # {} /\ DOMAIN Destinations = Host
ASSUME ScatteringsHaveRoutes == \A s \in Sender : \A R \in Destinations[s] : \A r \in R : <<s, r>> \in DOMAIN Route
ASSUME TimeIsPositive == Time \subseteq Nat \ {0} /\ 1 \in Time /\ Stamps \subseteq Time

VARIABLES
  clock,     \* clock[s] is the local clock of sender s
  sent,      \* sent[h] is the sequence of h's scatterings, oldest first
  pending,   \* pending[s] is the sequence of receivers whose copy of s's last scattering has not left
  acked,     \* acked[<<s, r>>] is the last scattering of s that, with all before, s knows r to have
  held,      \* held[l] is what the target of link l holds of it; see Silent
  told,      \* told[l] is what switches last put on link l, where beacons are withheld
  buffer,    \* buffer[h] is the set of messages received and not delivered
  flagged,   \* flagged[h] is the part of buffer[h] that came with a loss flag, where flags are kept
  channel,   \* channel[l] is the sequence in flight on link l, oldest first
  delivered, \* delivered[h] is the sequence of h's deliveries, oldest first
  lost,      \* how many packets were lost
  equal,     \* the pairs <<s, r>> of which s got two equal acknowledgements, where it waits for them
  restarts   \* how often a switch restarted
network == <<held, told, buffer, flagged, channel, lost, acked, equal>>
senders == <<clock, sent, pending>>
vars == <<senders, network, delivered, restarts>>
-----------------------------------------------------------------------------
RECURSIVE Ascending(_)
Ascending(S) == IF S = {} THEN <<>> ELSE <<Least(S)>> \o Ascending(S \ {Least(S)})

Done(r) == {delivered[r][i] : i \in DOMAIN delivered[r]}
Received(r) == buffer[r] \cup Done(r)
Message(s, n) == [sender |-> s, number |-> n, timestamp |-> sent[s][n].timestamp]
Among(history, r) == {n \in DOMAIN history : r \in history[n].receivers}
To(s, r) == Among(sent[s], r)

(* The messages of a pair are numbered one by one. *)
PairNumber(s, r, n) == Cardinality({i \in To(s, r) : i <= n})          \* TO-SEQ

(* What r acknowledges to s: a number of the pair, told here as that of the scattering. *)
Answered(r) == Received(r)
Acknowledged(s, r) == UpTo(To(s, r), {m.number : m \in {m \in Answered(r) : m.sender = s}})

Outstanding(s, r) == {n \in To(s, r) : n > acked[<<s, r>>]}

Last(history) == IF history = <<>> THEN 0 ELSE history[Len(history)].timestamp

(* The ack barrier of a sender that has scattered this history. *)
AckBarrier(s, history) ==
  LET known(i, r) == i <= acked[<<s, r>>]
      waiting == {i \in DOMAIN history : \E r \in history[i].receivers : ~ known(i, r)}
      answered == {i \in DOMAIN history : \E r \in history[i].receivers : known(i, r)}
      next == IF Last(history) = clock[s] THEN clock[s] + 1 ELSE clock[s]
  IN  AckInit({history[i].timestamp : i \in waiting}, {history[i].timestamp : i \in answered}, next)

(* What a sender may say of its own losses. *)
HostRecords(s) ==
  {0} \cup IF HostFlags                                                \* TO-FLAG-HOST
           THEN UNION {{sent[s][n].timestamp : n \in Outstanding(s, r)} : r \in Receiver}
           ELSE {}

HostPackets(s, l, history, earlier, kind, barrier) ==
  {Packet(kind, barrier, AckBarrier(s, history), record, PutOn(l, earlier)) : record \in HostRecords(s)}

First(r) == CHOOSE m \in buffer[r] : \A n \in buffer[r] :
              \/ m.timestamp < n.timestamp
              \/ m.timestamp = n.timestamp /\ m.sender <= n.sender
CanDeliver(r) ==
  /\ buffer[r] # {}
  /\ LET ack == Ack(held, Ingress[r]) IN
     MayDeliver(First(r).timestamp, Barrier(held, Ingress[r]), ack, Record(held, Ingress[r]) > ack,
                First(r) \in flagged[r])
Settled == \A r \in Receiver : ~ CanDeliver(r)

WorldAfter(sends) ==
  [held |-> held, told |-> told, buffer |-> buffer, flagged |-> flagged, channel |-> channel,
   lost |-> lost, most |-> IF \E s \in Sender : clock[s] <= LossUntil THEN MostLost ELSE lost,
   delivered |-> delivered, acked |-> acked, equal |-> equal,
   to |-> IF AcksTravel THEN [p \in DOMAIN Route |-> Among(sends[p[1]], p[2])] ELSE <<>>,
   put |-> IF AcksTravel THEN [l \in HostEgress |-> PutOn(l, sends[l[1]])] ELSE <<>>]
World == WorldAfter(sent)

(* The network goes on to one of the worlds. *)
Goes(worlds) ==
  \E w \in worlds :
    /\ held' = w.held /\ told' = w.told /\ buffer' = w.buffer /\ flagged' = w.flagged
    /\ channel' = w.channel /\ lost' = w.lost /\ acked' = w.acked /\ equal' = w.equal
-----------------------------------------------------------------------------
Init ==
  /\ clock = [s \in Sender |-> 1]
  /\ sent = [h \in Host |-> <<>>]
  /\ pending = [s \in Sender |-> <<>>]
  /\ acked = [p \in DOMAIN Route |-> 0]
  /\ held = [l \in Link |-> Silent]
  /\ told = [l \in Link |-> Silent]
  /\ buffer = [h \in Host |-> {}]
  /\ flagged = [h \in Host |-> {}]
  /\ channel = [l \in Link |-> <<>>]
  /\ delivered = [h \in Host |-> <<>>]
  /\ lost = 0 /\ equal = {}
  /\ restarts = 0

(***************************************************************************)
(* What goes on by itself chooses from a set: the readings, worlds, numbers *)
(* or messages that may come next.  Nothing is enabled where they are all   *)
(* empty (Resting), and an action is taken out by an empty set for its own. *)
(***************************************************************************)
Readings(s) == {t \in Time : t = clock[s] + 1 /\ pending[s] = <<>> /\ Settled}
Tick(s) ==
  /\ \E t \in Readings(s) : clock' = [clock EXCEPT ![s] = t]
  /\ UNCHANGED <<sent, pending, network, delivered, restarts>>

(* A data packet leaves s for r; before it there were the earlier scatterings. *)
Put(s, r, m, history, earlier, barrier) ==
  LET l == Route[<<s, r>>][1] IN
  UNION {Carried(WorldAfter([sent EXCEPT ![s] = history]), l, DataPacket(p, m, r)) :
           p \in HostPackets(s, l, history, IF TellsOwn THEN history ELSE earlier, "data", barrier)}

(* A sender scatters at a clock not used yet; the first copy leaves, the others are pending. *)
Scatter(s, receivers) ==
  LET t == clock[s]
      order == Ascending(receivers)
      m == [sender |-> s, number |-> Len(sent[s]) + 1, timestamp |-> t]
  IN
  /\ pending[s] = <<>> /\ Len(sent[s]) < MostSent[s] /\ t \in Stamps
  /\ Last(sent[s]) < t                                                 \* TO-MONO
  /\ Settled
  /\ sent' = [sent EXCEPT ![s] = Append(@, [timestamp |-> t, receivers |-> receivers])]
  /\ pending' = [pending EXCEPT ![s] = Tail(order)]
  /\ Goes(Put(s, Head(order), m, sent'[s], sent[s], t))
  /\ UNCHANGED <<clock, delivered, restarts>>

(* The next copy of a scattering leaves. *)
Copies(s) ==
  IF pending[s] = <<>> \/ ~ Settled THEN {}
  ELSE Put(s, Head(pending[s]), Message(s, Len(sent[s])), sent[s], sent[s], clock[s])
NextCopy(s) ==
  /\ Goes(Copies(s))
  /\ pending' = [pending EXCEPT ![s] = Tail(@)]
  /\ UNCHANGED <<clock, sent, delivered, restarts>>

(* A message that is not acknowledged is sent again, with its old timestamp: at any time, as a time-out may end at *)
(* any time, or the oldest after two equal acknowledgements.                                                       *)
Due(p) ==
  IF TimesOut THEN Outstanding(p[1], p[2])
  ELSE {n \in Outstanding(p[1], p[2]) : p \in equal /\ \A i \in Outstanding(p[1], p[2]) : n <= i}
Resendings(p) ==
  LET s == p[1] IN
  IF s \notin Sender \/ pending[s] # <<>> \/ ~ Settled THEN {}
  ELSE (UNION {{[w EXCEPT !.equal = @ \ {p}] :
                   w \in Put(s, p[2], Message(s, n), sent[s], sent[s],
                             ResentBarrier(sent[s][n].timestamp, clock[s]))} : \* TO-RETX-BAR
                 n \in Due(p)}) \ {World}                              \* TO-RETX
Resend(p) ==
  /\ Goes(Resendings(p))
  /\ UNCHANGED <<senders, delivered, restarts>>

(* An acknowledgement comes back, not necessarily the newest. *)
Answers(p) ==
  IF AcksTravel \/ p[1] \notin Sender \/ pending[p[1]] # <<>> \/ ~ Settled THEN {}
  ELSE {n \in Outstanding(p[1], p[2]) : n <= Acknowledged(p[1], p[2])}
Learn(p) ==
  /\ \E n \in Answers(p) : acked' = [acked EXCEPT ![p] = n]
  /\ UNCHANGED <<senders, held, told, buffer, flagged, channel, lost, equal, delivered, restarts>>

HostTells(l) ==
  LET s == l[1]
      packets == UNION {HostPackets(s, l, sent[s], sent[s], kind, clock[s]) : kind \in BeaconKinds}
  IN  IF s \notin Sender \/ pending[s] # <<>> \/ ~ Settled THEN {}
      ELSE (UNION {Carried(World, l, p) : p \in packets}) \ {World}
HostBeacon(l) ==
  /\ Goes(HostTells(l))
  /\ UNCHANGED <<senders, delivered, restarts>>

(* A switch puts a beacon on a link, at any time, or where it has something new to say. *)
SwitchTells(l) ==
  LET packets == {p \in {SwitchPacket(held, l, kind) : kind \in BeaconKinds} :
                    BeaconMin => IsNews(told[l], p)}                   \* TO-BEACON-MIN
  IN  IF ~ Settled THEN {} ELSE (UNION {Carried(World, l, p) : p \in packets}) \ {World}
SwitchBeacon(l) ==
  /\ Goes(SwitchTells(l))
  /\ UNCHANGED <<senders, delivered, restarts>>

(* The target of a slow link takes the oldest packet of its queue. *)
Takings(l) == IF channel[l] = <<>> \/ ~ Settled THEN {} ELSE HeadTaken(World, l)
Take(l) ==
  /\ Goes(Takings(l))
  /\ UNCHANGED <<senders, delivered, restarts>>

(* A switch forgets all that it held, and numbers its packets from the start, so that *)
(* what was lost on its egress links before is never shown.                          *)
Restart(x) ==
  /\ restarts < MostRestarts /\ Settled /\ restarts' = restarts + 1
  /\ held' = [l \in Link |->
                CASE l[2] = x -> [Silent EXCEPT !.gap = RestartIsGap]
                  [] l[1] = x -> [held[l] EXCEPT !.gap = FALSE]
                  [] OTHER -> held[l]]
  /\ told' = [l \in Link |-> IF l[1] = x THEN Silent ELSE told[l]]
  /\ UNCHANGED <<senders, buffer, flagged, channel, lost, acked, equal, delivered>>

(* A receiver delivers; nothing else happens while one can. *)
Deliveries(r) == IF CanDeliver(r) THEN {First(r)} ELSE {}
Deliver(r) ==
  /\ \E m \in Deliveries(r) :
       /\ delivered' = [delivered EXCEPT ![r] = Append(@, m)]
       /\ buffer' = [buffer EXCEPT ![r] = @ \ {m}]
       /\ flagged' = [flagged EXCEPT ![r] = @ \ {m}]
  /\ UNCHANGED <<senders, held, told, channel, lost, acked, equal, restarts>>

(* Everything that goes on as long as it changes anything. *)
Progress ==
  \/ \E s \in Sender : Tick(s) \/ NextCopy(s)
  \/ \E p \in DOMAIN Route : Resend(p) \/ Learn(p)
  \/ \E l \in HostEgress : HostBeacon(l)
  \/ \E l \in SwitchEgress : SwitchBeacon(l)
  \/ \E l \in Slow : Take(l)
  \/ \E r \in Receiver : Deliver(r)

Resting ==
  /\ \A s \in Sender : Readings(s) = {} /\ Copies(s) = {}
  /\ \A p \in DOMAIN Route : Answers(p) = {} /\ Resendings(p) = {}
  /\ \A l \in HostEgress : HostTells(l) = {}
  /\ \A l \in SwitchEgress : SwitchTells(l) = {}
  /\ \A l \in Slow : Takings(l) = {}
  /\ \A r \in Receiver : Deliveries(r) = {}

(* It only keeps plain TLC from calling the end of a bounded time a deadlock. *)
Rest == UNCHANGED vars

Next ==
  \/ Progress
  \/ \E s \in Sender : \E receivers \in Destinations[s] : Scatter(s, receivers)
  \/ \E x \in Switch : Restart(x)
  \/ Rest

Spec == Init /\ [][Next]_vars
=============================================================================
