------------------------------ MODULE TraceOrder ------------------------------
(***************************************************************************)
(* Total order by barriers as an observer outside sees it: what is handed  *)
(* over, put on links, lost on them, what arrives, and what is delivered.  *)
(* What nodes hold inside is in no row and compared with nothing: what a   *)
(* node may send or deliver follows from what it was given and from what   *)
(* has arrived.                                                            *)
(*                                                                         *)
(* The actions bear the names of BarrierOrder's, where taking a message    *)
(* and forwarding it are one step; here they are two, as other nodes act   *)
(* between them.  The rules are the operators that BarrierOrder is given.  *)
(* Environments A, B and C; TraceLoss goes on to D.  A link may lose       *)
(* packets, and never repeats or reorders them.                            *)
(***************************************************************************)
EXTENDS TraceRounds

CONSTANTS         \* the rules; see Rules
  Stamp(_, _, _), DataBarrier(_), BeaconBarrier(_, _), Register(_, _), Aggregate(_),
  Counted(_, _), Deliverable(_, _), Precedence(_, _)

VARIABLES
  handed,    \* handed[h] is the set of messages handed over at h that have not left
  given,     \* given[h] is the set of <<scattering, timestamp>> of which some messages have not left
  last,      \* last[h] is the greatest timestamp that h has given; 0 for none
  promised,  \* promised[l] is the greatest barrier put on link l; 0 for none
  said,      \* said[l] is the greatest ack barrier put on link l; -1 for none, as without loss
  idle,      \* idle[l] is the clock from which on link l is idle again; -1 while it carried no data
  flight,    \* flight[l] is the sequence of packets on link l, oldest first
  expected,  \* expected[l] is the least number that has not arrived from link l, nor been overtaken
  repeated,  \* repeated[l]: the last packet from l had arrived before
  newest,    \* newest[l] is the newest barrier to have arrived from l; 0 for none
  scattered, \* the messages that have left their senders and are not delivered; see ByArrivals
  passing,   \* passing[n] is the sequence of messages that arrived at switch n and have not left
  buffer,    \* buffer[h] is the set of messages that arrived at h and are not delivered
  anew,      \* the nodes that have begun anew: what they know is not known
  delivered  \* delivered[h] is the last message delivered at h; <<>> for none
seen == <<handed, given, last, promised, said, idle, flight, expected, repeated, newest, scattered, passing,
          buffer, anew, delivered>>
vars == <<reading, seen, rounds>>
-----------------------------------------------------------------------------
(* The nodes of which all that has arrived is recorded, since they began. *)
Known == Net.arrived \ anew

(* Whether deliveries can be told from what arrived; else from what was sent, where that is recorded. *)
ByArrivals == Net.hosts \subseteq Net.arrived
BySendings == Net.linked /\ Net.hosts \subseteq Net.submitted /\ Net.hosts \subseteq Net.sent

Key(message) == Precedence(TimestampOf(message), SenderOf(message))

(* No timestamp that host h gives from now on is below: the greatest barrier *)
(* that it has sent, and above the greatest ack barrier.                     *)
Promised(h) == MaxOver({promised[l] : l \in Net.egress[h]} \cup {said[l] + 1 : l \in Net.egress[h]})

(* The minimum over all ingress links of a node, which is the barrier of a receiver. *)
LeastOf(n) == Aggregate([k \in Net.ingress[n] |-> newest[k]])

(* Whether the barriers of a host have passed a timestamp; where no data reach it, they never do. *)
IsPassed(timestamp, h) == Net.ingress[h] # {} /\ Deliverable(timestamp, LeastOf(h))

(* The barrier that a switch may put on its egress link l. *)
SwitchBarrier(l) ==
  Aggregate([k \in Counted(Net.reaching[l], Net.ingress[Net.source[l]]) |-> newest[k]])
-----------------------------------------------------------------------------
(***************************************************************************)
(* What a row must keep: clauses under their names, and what else makes it *)
(* a row of this network.                                                  *)
(***************************************************************************)
(* What is put on a link, whoever puts it there. *)
CarriedKeeps ==
  LET l == Link  b == Barrier IN
  [BarriersNeverFall |-> b = Absent \/ b >= promised[l],                        \* TO-BAR-RISE
   BarrierPromiseHolds |->                                                      \* TO-BAR-LINK
     Data /\ ~ (Net.loses /\ Resent) => Timestamp >= promised[l],
   RestartKeepsBarriers |->                                                     \* TO-RESTART
     Node \in anew => b \notin 0 .. promised[l] - 1 /\ AckBarrier \notin 0 .. said[l] - 1,
   BarriersOnDataOnly |-> Environment = "A" /\ ~ Control => Data /\ b # Absent, \* TO-ENV-A
   BarriersOnBeaconsOnly |->                                                    \* TO-ENV-B
     Environment = "B" /\ ~ Control => (Data <=> b = Absent),
   BeaconsOnlyWhenIdle |->                                                      \* TO-ENV-C
     Environment = "C" /\ ~ Control =>
       b # Absent /\ (Data \/ Clock = Absent \/ Clock >= idle[l])]

(* The messages handed over that this row may be: one, or none. *)
Waiting ==
  {m \in handed[Node] : m.receiver = Receiver /\ m.number = Number /\ m.digest = Digest}

(* The timestamp of the messages of a scattering that have left: one, or none. *)
TimestampsGiven(scattering) == {g[2] : g \in {p \in given[Node] : p[1] = scattering}}

(* What the next timestamp of host h is strictly above: its last one and, where replies come after what *)
(* they answer, all that it has delivered.                                                             *)
Floor(h) ==
  IF Net.causal /\ delivered[h] # <<>> THEN MaxOver({last[h], TimestampOf(delivered[h])}) ELSE last[h]

ScatterKeeps ==
  LET h == Node  t == Timestamp
      known == h \in Net.submitted /\ Waiting # {}
      message == CHOOSE m \in Waiting : TRUE
      earlier == IF known THEN TimestampsGiven(message.scattering) ELSE {}
      first == known /\ earlier = {}
  IN
  [SentAsSubmitted |-> h \in Net.submitted => known /\ Sender = h,
   OnItsRoute |-> OnItsRoute,
   OneTimestampPerScattering |-> earlier \subseteq {t},                          \* TO-SCATTER
   TimestampsRise |-> first =>                                                  \* TO-MONO
     /\ t >= Stamp(message.clock, last[h], 0)
     /\ Clock = Absent \/ t <= Stamp(Clock, Floor(h), Promised(h)),
   RepliesOrderedAfterDelivered |->                                             \* TO-CAUSAL
     first /\ Net.causal /\ delivered[h] # <<>> => t > TimestampOf(delivered[h]),
   HostBarrierIsItsPromise |->                                                  \* TO-BAR-HOST
     /\ Barrier \in {Absent, DataBarrier(t)}
     /\ earlier = {} => t >= Promised(h),
   FirstSwitchFillsBarrier |-> Net.fills => WrittenBarrier = Absent]            \* TO-BAR-FILL
  @@ StampKeeps(first, last[h], Promised(h))
  @@ CarriedKeeps

HostBeaconKeeps ==
  LET h == Node  b == Barrier IN
  [HostBarrierIsItsPromise |->                                                  \* TO-BAR-HOST
     b = Absent \/ IF Clock = Absent THEN b >= last[h] ELSE b = BeaconBarrier(Clock, last[h])]
  @@ PromiseKeeps(last[h], Promised(h))
  @@ CarriedKeeps

SwitchKeeps ==
  LET l == Link  b == Barrier
      due == SwitchBarrier(l)
      least == LeastOf(Node)
      free == b = Absent \/ Net.reaching[l] = {} \/ Node \notin Known
  IN
  [SwitchBarrierIsMinimum |-> free \/ (b <= due /\ b >= least),                 \* TO-BAR-MIN
   OnlyReachingLinksCount |-> free \/ b >= due \/ b < least]                    \* TO-BAR-PART
  @@ CarriedKeeps

(* The timestamps of first transmissions that arrived at the switch for this link and have not left. *)
StillInside ==
  {TimestampOf(m) : m \in {passing[Node][i] : i \in {i \in DOMAIN passing[Node] :
     LET m == passing[Node][i] IN
     /\ m[6] = "data" /\ ~ m[7]
     /\ ReceiverOf(m) \in DOMAIN Net.next[Node] /\ Net.next[Node][ReceiverOf(m)] = Link}}}

SwitchBeaconKeeps ==
  [BeaconsNeverOvertakeData |->                                                 \* TO-SW-PATH
     Barrier = Absent \/ Node \notin Known \/ \A t \in StillInside : t >= Barrier,
   BeaconsWithNewMinimumOnly |->                                                \* TO-BEACON-MIN
     Net.withholds => \/ Barrier > promised[Link] \/ AckBarrier > said[Link]
                      \/ Net.loses /\ LossRecord > 0]
  @@ SwitchKeeps

(* Where the message stands among those that pass the switch. *)
Passages == {i \in DOMAIN passing[Node] : passing[Node][i] = Passed}

ForwardKeeps ==
  [SentAsArrived |-> Node \in Known => Passages # {},
   OnItsRoute |-> OnItsRoute]
  @@ SwitchKeeps

(* Where the packet that arrives stands among those on its link: one place, or none. *)
Places == {i \in DOMAIN flight[Link] : flight[Link][i] = Content}

ArriveKeeps ==
  [ArrivedAsSent |-> Net.linked /\ Net.source[Link] \in Net.sent => Places # {},
   OnItsRoute |-> Packet # "beacon" /\ IsHost(Node) => Receiver = Node]

DeliverKeeps ==
  LET h == Node
      key == Key(Message)
      arrivals == h \in Known
  IN
  [DeliveredOnceAsSent |->                                                      \* TO-ONCE
     /\ Receiver = h
     /\ arrivals => Message \in buffer[h]
     /\ ~ ByArrivals /\ BySendings => Message \in scattered,
   DeliveredInTotalOrder |->                                                    \* TO-ORDER
     /\ delivered[h] = <<>> \/ KeyBelow(Key(delivered[h]), key)
     /\ \A m \in buffer[h] : ~ KeyBelow(Key(m), key),
   DeliverBelowBarrier |->                                                      \* TO-DELIVER
     arrivals => IsPassed(Timestamp, h)]

(* At the end of a run that has settled.  In environment A the last messages wait for ever, and so does what is at or *)
(* above the barrier of who has stopped. *)
SettleKeeps ==
  [OneTimestampPerScattering |->                                                \* TO-SCATTER
     \A h \in (Net.submitted \cap Net.sent) \ anew : handed[h] = {},
   ArrivedIsDelivered |->                                                       \* TO-COMPLETE
     /\ \A n \in Known \cap Net.sent : passing[n] = <<>>
     /\ \A h \in Known \cap Net.delivered : \A m \in buffer[h] :
          (Environment = "A" \/ anew # {}) /\ ~ IsPassed(TimestampOf(m), h)]
-----------------------------------------------------------------------------
Keeps(action) ==
  CASE Kind = "sent" /\ Node \notin Net.sent -> <<>>
    [] Kind = "delivered" /\ Node \notin Net.delivered \ anew -> <<>>
    [] Kind = "sent" /\ Node \in anew -> CarriedKeeps
    [] action = "Scatter" -> ScatterKeeps
    [] action = "HostBeacon" -> HostBeaconKeeps
    [] action \in {"ForwardData", "ForwardControl"} -> ForwardKeeps
    [] action = "SwitchBeacon" -> SwitchBeaconKeeps
    [] action \in {"Arrive", "ArriveBeacon", "ArriveControl", "TakeData", "TakeBeacon", "TakeControl"} ->
         ArriveKeeps
    [] action = "Deliver" -> DeliverKeeps
    [] action \in {"Stray", "Resend", "Acknowledge"} -> [Exists |-> FALSE]
    [] action = "Adjust" -> [OnItsRoute |-> OnItsRoute] @@ RoundKeeps @@ CarriedKeeps
    [] action = "Refuse" -> [NothingIsRefused |-> repeated[Link]]
    [] action = "Settle" -> SettleKeeps
    [] OTHER -> <<>>

(* What a broken clause asks of the row: the bound, where it is one number. *)
Wanted(clause) ==
  CASE clause \in {"SwitchBarrierIsMinimum", "OnlyReachingLinksCount"} -> SwitchBarrier(Link)
    [] clause \in {"BarriersNeverFall", "BarrierPromiseHolds"} -> promised[Link]
    [] clause = "DeliverBelowBarrier" -> LeastOf(Node)
    [] OTHER -> Absent
-----------------------------------------------------------------------------
(* What the observer remembers. *)
Submit ==
  /\ handed' = [handed EXCEPT ![Node] = @ \cup
       {[receiver |-> Receiver, number |-> Number, digest |-> Digest,
         scattering |-> Scattering, clock |-> Clock]}]
  /\ UNCHANGED <<given, last, promised, said, idle, flight, expected, repeated, newest, scattered, passing,
                 buffer, anew, delivered>>

(* A packet is put on its link. *)
Put ==
  /\ flight' = [flight EXCEPT ![Link] = Append(@, Content)]
  /\ promised' = IF Barrier > promised[Link] THEN [promised EXCEPT ![Link] = Barrier] ELSE promised
  /\ said' = IF AckBarrier > said[Link] THEN [said EXCEPT ![Link] = AckBarrier] ELSE said
  /\ idle' = IF Data /\ Environment \in {"C", "D9"} THEN [idle EXCEPT ![Link] = BusyUntil] ELSE idle
  /\ UNCHANGED <<expected, repeated, newest, buffer, anew, delivered>>

(* A scattering is given its timestamp when the first of its messages leaves. *)
Give(message) ==
  LET h == Node
      left == handed[h] \ {message}
      whole == \A m \in left : m.scattering # message.scattering
      others == {g \in given[h] : g[1] # message.scattering}
  IN
  /\ handed' = [handed EXCEPT ![h] = left]
  /\ given' = [given EXCEPT ![h] = IF whole THEN others ELSE others \cup {<<message.scattering, Timestamp>>}]

Scatter ==
  /\ IF Waiting = {} THEN UNCHANGED <<handed, given>> ELSE Give(CHOOSE m \in Waiting : TRUE)
  /\ last' = [last EXCEPT ![Node] = MaxOver({@, Timestamp})]
  /\ scattered' = IF ByArrivals THEN scattered ELSE scattered \cup {Message}
  /\ Put /\ UNCHANGED passing

Forward ==
  /\ passing' = IF Passages = {} THEN passing
                ELSE [passing EXCEPT ![Node] = Without(@, CHOOSE i \in Passages : TRUE)]
  /\ Put /\ UNCHANGED <<handed, given, last, scattered>>

(* A beacon, or what is sent again: nothing that was handed over leaves. *)
Send == Put /\ UNCHANGED <<handed, given, last, scattered, passing>>

(* What stood before the packet on its link is overtaken, and so lost. *)
Take ==
  LET l == Link
      place == CHOOSE i \in Places : TRUE
  IN
  /\ flight' = IF Places = {} THEN flight ELSE [flight EXCEPT ![l] = SubSeq(@, place + 1, Len(@))]
  /\ expected' = [expected EXCEPT ![l] = LinkSeq + 1]
  /\ repeated' = [repeated EXCEPT ![l] = FALSE]
  /\ newest' = IF Barrier = Absent THEN newest ELSE [newest EXCEPT ![l] = Register(@, Barrier)]
  /\ UNCHANGED <<handed, given, last, promised, said, idle, scattered, anew, delivered>>

TakeBarrier == Take /\ UNCHANGED <<passing, buffer>>

TakeData ==
  /\ passing' = [passing EXCEPT ![Node] = Append(@, Passed)]
  /\ Take /\ UNCHANGED buffer

Arrive ==
  /\ buffer' = [buffer EXCEPT ![Node] = @ \cup {Message}]
  /\ Take /\ UNCHANGED passing

(* The network has made a copy, which nobody may take for another packet. *)
ArriveAgain ==
  /\ repeated' = [repeated EXCEPT ![Link] = TRUE]
  /\ UNCHANGED <<handed, given, last, promised, said, idle, flight, expected, newest, scattered, passing,
                 buffer, anew, delivered>>

Deliver ==
  /\ buffer' = [buffer EXCEPT ![Node] = @ \ {Message}]
  /\ scattered' = scattered \ {Message}
  /\ delivered' = [delivered EXCEPT ![Node] = Message]
  /\ UNCHANGED <<handed, given, last, promised, said, idle, flight, expected, repeated, newest, passing, anew>>

Lose ==
  /\ flight' = [flight EXCEPT ![Link] = SelectSeq(@, LAMBDA packet : packet # Content)]
  /\ UNCHANGED <<handed, given, last, promised, said, idle, expected, repeated, newest, scattered, passing,
                 buffer, anew, delivered>>

(* Nothing of what a node knew is known any more; what it has said holds on. *)
BeginAnew ==
  /\ anew' = anew \cup {Node}
  /\ idle' = [l \in DOMAIN idle |-> IF Net.source[l] = Node THEN Absent ELSE idle[l]]
  /\ UNCHANGED <<handed, given, last, promised, said, flight, expected, repeated, newest, scattered, passing,
                 buffer, delivered>>

Remember(action) ==
  CASE action = "Submit" -> Submit
    [] action = "Scatter" -> Scatter
    [] action \in {"HostBeacon", "SwitchBeacon", "Resend", "Acknowledge", "Adjust"} -> Send
    [] action \in {"ForwardData", "ForwardControl"} -> Forward
    [] action = "Arrive" -> Arrive
    [] action \in {"TakeData", "TakeControl"} -> TakeData
    [] action \in {"ArriveBeacon", "TakeBeacon", "ArriveControl", "ArriveDuplicate"} -> TakeBarrier
    [] action = "ArriveAgain" -> ArriveAgain
    [] action = "Deliver" -> Deliver
    [] action = "Lose" -> Lose
    [] action \in {"Crash", "Restart"} -> BeginAnew
    [] OTHER -> UNCHANGED seen
-----------------------------------------------------------------------------
Init ==
  /\ BeginReading
  /\ NoRounds
  /\ LET nodes == DOMAIN Net.ingress
         links == DOMAIN Net.source
     IN
     /\ handed = [n \in nodes |-> {}]
     /\ given = [n \in nodes |-> {}]
     /\ last = [n \in nodes |-> 0]
     /\ promised = [l \in links |-> 0]
     /\ said = [l \in links |-> Absent]
     /\ idle = [l \in links |-> Absent]
     /\ flight = [l \in links |-> <<>>]
     /\ expected = [l \in links |-> 0]
     /\ repeated = [l \in links |-> FALSE]
     /\ newest = [l \in links |-> 0]
     /\ scattered = {}
     /\ passing = [n \in nodes |-> <<>>]
     /\ buffer = [n \in nodes |-> {}]
     /\ anew = {}
     /\ delivered = [n \in nodes |-> <<>>]

ReadRow ==
  /\ Reading
  /\ LET action == Action(Kind = "arrived" /\ LinkSeq < expected[Link])
         broken == BrokenOf(Keeps(action))
     IN  IF broken = {} THEN Accept(action) /\ Remember(action) /\ RememberRound
         ELSE Reject(action, broken, Wanted) /\ UNCHANGED <<seen, rounds>>

Next == ReadRow \/ ((Finish \/ Over) /\ UNCHANGED <<seen, rounds>>)

Spec == Init /\ [][Next]_vars
=============================================================================
