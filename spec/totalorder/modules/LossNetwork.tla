----------------------------- MODULE LossNetwork -----------------------------
(***************************************************************************)
(* Links that lose packets, and what a node keeps of each: how a packet is  *)
(* taken, forwarded, queued or lost.  No variables: the state of the links  *)
(* is a value that LossOrder keeps.                                         *)
(*                                                                         *)
(* Source: source document 000 (patent text), environments D and E.         *)
(*                                                                         *)
(* A packet speaks of the messages whose routes take its link.  Barrier b:  *)
(* each of them strictly below b was put on the link earlier, or is at or   *)
(* below the loss record.  Ack barrier a: each at or below a was received.  *)
(* Loss record r: each that is lost on the way here, and not made good, is  *)
(* at or below r; 0 for none.  Greatest g: none put on the link is above g. *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Host,           \* numbers
  Switch,         \* numbers, others than the hosts'
  Link,           \* pairs <<source, target>> of hosts and switches
  Route,          \* Route[<<s, r>>] is the sequence of links from s to r, where one is
  Slow,           \* the links that hold packets; on the others a packet arrives, or is lost, at once
  MostQueued,     \* the number of packets on a slow link, at most
  MostLost,       \* the number of packets that links lose, at most
  BarrierOn,      \* the kinds of packets that carry a barrier: of "data", "beacon", "second"
  AckOn,          \* the kinds of packets that carry an ack barrier
  BeaconMin       \* whether a switch withholds beacons that say nothing new

CONSTANTS         \* the rules; see LossRules
  AckNumber(_),             \* what a receiver acknowledges, from the numbers of a sender's messages that it holds
  NoticedRecord(_, _, _),   \* the record of a gap, from the least barrier of the node, the largest of
                            \* the losing link, and the greatest that the packet after the gap tells
  PassedRecord(_, _, _, _), \* the record that a node takes from a packet: from the carried one, and the same
  Register(_, _),       \* the newest barrier of a link, from the one held and the one that arrived
  FlagOnBeacons,        \* whether beacons carry the loss record
  CounterSpansBeacons,  \* whether the loss counter of a link counts beacons too
  LastHopWatched,       \* whether a receiver has a loss counter on its links
  GapBeforeUse,         \* whether a switch reads the counter before it forwards the packet
  OwnAckEnds,           \* whether a link's record ends with its own ack barrier, or with the least of the node
  NewestRecord,         \* whether the record that came last replaces those that came before
  TellsOwn,             \* whether the greatest timestamp that a data packet tells counts its own
  KeepsFlags            \* whether receivers keep the flag of each message

ASSUME NodesAreNumbers == Host \subseteq Nat /\ Switch \subseteq Nat /\ Host \cap Switch = {}
ASSUME LinksJoinNodes == Link \subseteq (Host \cup Switch) \X (Host \cup Switch) /\ Slow \subseteq Link
ASSUME RoutesLead ==
  \A p \in DOMAIN Route :
    /\ Route[p][1][1] = p[1] /\ Route[p][Len(Route[p])][2] = p[2]
    /\ \A i \in DOMAIN Route[p] : Route[p][i] \in Link
    /\ \A i \in 1 .. Len(Route[p]) - 1 :
         Route[p][i][2] = Route[p][i + 1][1] /\ Route[p][i][2] \in Switch
ASSUME KindsAreKnown == BarrierOn \cup AckOn \subseteq {"data", "beacon", "second"}
-----------------------------------------------------------------------------
Max(a, b) == IF a >= b THEN a ELSE b
Least(S) == CHOOSE x \in S : \A y \in S : x <= y
Greatest(S) == CHOOSE x \in S : \A y \in S : y <= x
Absent == -1   \* the barrier or ack barrier of a packet that has none

Ingress == [n \in Host \cup Switch |-> {l \in Link : l[2] = n}]
HostEgress == {l \in Link : l[1] \in Host}
SwitchEgress == {l \in Link : l[1] \in Switch}
Receiver == {r \in Host : Ingress[r] # {}}

(* The pairs <<s, r>> whose messages take the link. *)
Over == [l \in Link |-> {p \in DOMAIN Route : \E i \in DOMAIN Route[p] : Route[p][i] = l}]

(* The links that come just before l on some route. *)
Reaching ==
  [l \in Link |->
    {k \in Ingress[l[1]] :
      \E p \in DOMAIN Route : \E i \in 1 .. Len(Route[p]) - 1 : Route[p][i] = k /\ Route[p][i + 1] = l}]

(* The link that a message from s to r takes after link l. *)
Onward ==
  [p \in DOMAIN Route |-> [l \in {Route[p][i] : i \in 1 .. Len(Route[p]) - 1} |->
    LET i == CHOOSE i \in DOMAIN Route[p] : Route[p][i] = l IN Route[p][i + 1]]]

(***************************************************************************)
(* Where acknowledgements travel, one answers each data message that        *)
(* arrives, and goes back as data go: by its route, counted, and lost as    *)
(* any packet.  Elsewhere it is a step of the sender (see LossOrder).       *)
(***************************************************************************)
AcksTravel == FALSE
AcksCounted == TRUE    \* whether the loss counter of a link counts them
AcksTell == TRUE       \* whether they carry the loss record and the greatest timestamp
DuplicatesAcked == TRUE \* whether a message that came already is acknowledged, too
TimesOut == TRUE       \* whether a sender resends without a reason; else after two equal acknowledgements alone

(* The greatest timestamp that this history puts on link l. *)
PutOn(l, history) ==
  LET here == {i \in DOMAIN history : \E r \in history[i].receivers : <<l[1], r>> \in Over[l]}
  IN  IF here = {} THEN 0 ELSE history[Greatest(here)].timestamp

BeaconKinds == (BarrierOn \cup AckOn) \ {"data"}
Counts(kind) == IF kind = "ack" THEN AcksCounted ELSE kind = "data" \/ CounterSpansBeacons

(***************************************************************************)
(* What the target of a link holds of it: the newest barrier and ack        *)
(* barrier, the loss record, the greatest timestamp told, and whether       *)
(* packets were lost that no packet after them has shown yet.  All four     *)
(* only rise.  A record that the node's ack barrier has reached says        *)
(* nothing any more, and is kept as 0: fewer states, not another rule.      *)
(* `carried` is the record that came last, where NewestRecord says so.      *)
(***************************************************************************)
Silent == [barrier |-> 0, ack |-> 0, record |-> 0, carried |-> 0, greatest |-> 0, gap |-> FALSE]

(* What a node makes of the links that count. *)
AggregateAck(S) == Least(S)
Barrier(at, links) == Least({at[k].barrier : k \in links})             \* TO-BAR-MIN
Ack(at, links) == AggregateAck({at[k].ack : k \in links})              \* TO-ACK-MIN
Record(at, links) == Greatest({Max(at[k].record, at[k].carried) : k \in links})            \* TO-FLAG-SW, TO-FLAG-RX

(* A packet that says this; at or below the ack barrier of its sender a record says nothing. *)
Packet(kind, barrier, ack, record, greatest) ==
  [kind |-> kind,
   record |-> IF kind # "ack" \/ AcksTell THEN record ELSE 0,
   greatest |-> IF kind # "ack" \/ AcksTell THEN greatest ELSE 0,
   barrier |-> IF kind \in BarrierOn THEN barrier ELSE Absent,
   ack |-> IF kind \in AckOn THEN ack ELSE Absent]

(* What a switch says on link l. *)
SwitchPacket(at, l, kind) ==
  LET links == Reaching[l]
      ack == Ack(at, links)
      record == Record(at, links)
  IN  Packet(kind, Barrier(at, links), ack,
             IF (kind = "data" \/ FlagOnBeacons) /\ record > ack THEN record ELSE 0,
             Greatest({at[k].greatest : k \in links}))

(* Whether packet p says more than what was told; and what is told after it. *)
IsNews(told, p) ==
  p.barrier > told.barrier \/ p.ack > told.ack \/ p.record > told.record \/ p.greatest > told.greatest
Tells(w, l, p) ==
  IF ~ BeaconMin \/ l[1] \in Host THEN w
  ELSE [w EXCEPT !.told[l] = [@ EXCEPT !.barrier = Max(@, p.barrier), !.ack = Max(@, p.ack),
                                       !.record = Max(@, p.record), !.greatest = Max(@, p.greatest)]]

(* The registers, before a gap is noticed; and the record of what a gap shows. *)
Registered(at, l, p) ==
  [at EXCEPT ![l] = [@ EXCEPT !.barrier = IF p.barrier = Absent THEN @ ELSE Register(@, p.barrier),
                              !.ack = Max(@, p.ack),
                              !.greatest = IF l[2] \in Switch THEN Max(@, p.greatest) ELSE 0]]

Records(at, now, l, p, noticing, passing) ==
  LET ingress == Ingress[l[2]]
      largest == Max(at[l].barrier, p.barrier)
      gap == at[l].gap /\ Counts(p.kind) /\ (l[2] \in Switch \/ LastHopWatched)
      noticed ==                                                       \* TO-SWLOSS, TO-LASTHOP
        IF noticing /\ gap THEN NoticedRecord(Barrier(now, ingress), largest, p.greatest) ELSE 0
      passed ==
        IF passing /\ p.record # 0
        THEN PassedRecord(p.record, Barrier(now, ingress), largest, p.greatest) ELSE 0
      full == [now EXCEPT
                 ![l] = [@ EXCEPT !.record = Max(@, IF NewestRecord THEN noticed ELSE Max(noticed, passed)),
                                  !.carried = IF NewestRecord /\ passing THEN passed ELSE @,
                                  !.gap = @ /\ ~ (noticing /\ Counts(p.kind))]]
      slowest == Least({now[k].ack : k \in ingress})
      over == {k \in ingress :
                 full[k].record # 0 /\ full[k].record <= IF OwnAckEnds THEN now[k].ack ELSE slowest}
  IN  IF over = {} THEN full
      ELSE [k \in Link |-> IF k \in over THEN [full[k] EXCEPT !.record = 0] ELSE full[k]]

(* What is held when packet p has arrived on link l, in one step (TO-LOSSCTR). *)
Taken(at, l, p) == Records(at, Registered(at, l, p), l, p, GapBeforeUse \/ l[2] \in Host, TRUE)

(* The other order: what the gap shows is recorded after the packet has gone on. *)
NoticedLate(was, at, l, p) == IF GapBeforeUse THEN at ELSE Records(was, at, l, p, TRUE, FALSE)
-----------------------------------------------------------------------------
(***************************************************************************)
(* The state of the network, apart from the senders: what is held, the      *)
(* receive buffers with the messages whose flag is kept, the queues of slow *)
(* links, the number of packets lost, and what acknowledgements have told;  *)
(* with what these are made of: by pair the scatterings `to` the receiver,  *)
(* and by link the greatest timestamp that its host has `put` on it.        *)
(* Arrived and Carried are the sets of states that may follow when packet p *)
(* has arrived on link l, and when it is put on it.  Data goes on at once,  *)
(* up to a slow link, a loss, or its receiver.                              *)
(***************************************************************************)
RECURSIVE Carried(_, _, _)

DataPacket(p, message, receiver) ==
  [kind |-> "data", barrier |-> p.barrier, ack |-> p.ack, record |-> p.record, greatest |-> p.greatest,
   message |-> message, receiver |-> receiver]

Buffered(w, r, p) ==
  IF p.message \in w.buffer[r] \/ \E i \in DOMAIN w.delivered[r] : w.delivered[r][i] = p.message
  THEN w                                                               \* TO-ONCE
  ELSE [w EXCEPT !.buffer[r] = @ \cup {p.message},
                 !.flagged[r] = IF KeepsFlags /\ p.record # 0 THEN @ \cup {p.message} ELSE @]

(* What is acknowledged to the sender of these messages: the last of them up to which all are held. *)
UpTo(numbers, holding) ==
  LET place(n) == Cardinality({i \in numbers : i <= n})                 \* TO-SEQ
      number == AckNumber({place(n) : n \in holding})                   \* TO-DUPACK
  IN  Greatest({0} \cup {n \in numbers : place(n) <= number})

AckPacket(p, sender, receiver, number) ==
  [kind |-> "ack", barrier |-> p.barrier, ack |-> p.ack, record |-> p.record, greatest |-> p.greatest,
   sender |-> sender, receiver |-> receiver, number |-> number]

(* What follows when r has taken a message of s, once it is buffered. *)
Answering(w, s, r) ==
  LET l == Route[<<r, s>>][1]
      mine == {m \in w.buffer[r] \cup {w.delivered[r][i] : i \in DOMAIN w.delivered[r]} : m.sender = s}
      number == UpTo(w.to[<<s, r>>], {m.number : m \in mine})
  IN  Carried(w, l, AckPacket(Packet("ack", 0, 0, 0, w.put[l]), r, s, number))

(* What follows when s has taken an acknowledgement of r; one that came late says nothing. *)
Told(w, s, r, number) ==
  LET p == <<s, r>>
      equal == ~ TimesOut /\ number = w.acked[p] /\ \E n \in w.to[p] : n > number
  IN  [w EXCEPT !.acked[p] = Max(@, number),
                !.equal = IF equal THEN @ \cup {p} ELSE IF number > w.acked[p] THEN @ \ {p} ELSE @]

Arrived(w, l, p) ==
  LET now == Taken(w.held, l, p)
      at == [w EXCEPT !.held = now]
      onward == Onward[<<IF p.kind = "data" THEN p.message.sender ELSE p.sender, p.receiver>>][l]
  IN  CASE p.kind \notin {"data", "ack"} -> {[at EXCEPT !.held = NoticedLate(w.held, now, l, p)]}
        [] l[2] \in Host /\ p.kind = "ack" -> {Told(at, l[2], p.sender, p.number)}
        [] l[2] \in Host /\ p.kind = "data" ->
             LET in == Buffered(at, l[2], p) IN
             IF AcksTravel /\ (DuplicatesAcked \/ in.buffer # at.buffer) THEN Answering(in, p.message.sender, l[2])
             ELSE {in}
        [] OTHER ->
             LET said == SwitchPacket(now, onward, p.kind)
                 q == IF p.kind = "data" THEN DataPacket(said, p.message, p.receiver)
                      ELSE AckPacket(said, p.sender, p.receiver, p.number)
                 counted == IF p.kind = "data" THEN [at EXCEPT !.held[l].greatest = Max(@, p.message.timestamp)] ELSE at
             IN  IF GapBeforeUse THEN Carried(IF TellsOwn THEN at ELSE counted, onward, q)
                 ELSE {[v EXCEPT !.held = NoticedLate(w.held, v.held, l, p)] : v \in Carried(at, onward, q)}

(* A gap in a queue: what follows was put on the link after a packet that was lost. *)
Gap == [kind |-> "gap"]
Missing(w, l, p) ==
  IF ~ Counts(p.kind) THEN w
  ELSE IF l \in Slow THEN [w EXCEPT !.channel[l] = Append(@, Gap)]
  ELSE [w EXCEPT !.held[l].gap = TRUE]

Carried(before, l, p) ==
  LET w == Tells(before, l, p) IN
  IF Len(w.channel[l]) >= MostQueued THEN {} ELSE
  (IF w.lost < w.most THEN {Missing([w EXCEPT !.lost = @ + 1], l, p)} ELSE {})
  \cup (IF l \in Slow THEN {[w EXCEPT !.channel[l] = Append(@, p)]} ELSE Arrived(w, l, p))

(* What follows when the target of a slow link takes the head of its queue. *)
HeadTaken(w, l) ==
  LET rest == [w EXCEPT !.channel[l] = Tail(@)] IN
  IF Head(w.channel[l]) = Gap THEN {[rest EXCEPT !.held[l].gap = TRUE]}
  ELSE Arrived(rest, l, Head(w.channel[l]))
=============================================================================
