------------------------------- MODULE TraceLoss -------------------------------
(***************************************************************************)
(* TraceOrder under loss: environment D, message structures 5 to 9, as     *)
(* RULES.md has them.  What an ingress link has said is three registers    *)
(* more, which only rise: ack barrier, loss record and what is greatest.   *)
(* A gap in the numbers of a link raises its record to the greatest that   *)
(* the packet behind the gap speaks of; so does the first packet of a node *)
(* that has begun anew, which had lost what it held.                       *)
(*                                                                         *)
(* Left out: what is done about failures, and switches of more than one    *)
(* processor.  Where clocks are adjusted, they are not known, and compared *)
(* with nothing.                                                           *)
(***************************************************************************)
EXTENDS TraceOrder

VARIABLES
  acks,         \* acks[l] is the greatest ack barrier to have arrived from l; 0 for none
  records,      \* records[l] is the loss record of l; 0 for none
  most,         \* most[l] is that of who takes the greatest that l ever spoke of for what a gap shows
  lives,        \* lives[l] is how often the node at the other end had begun anew
  shown,        \* shown[l] is that part of it which gaps in the numbers of l have shown
  greatest,     \* greatest[l] is the greatest timestamp that l has spoken of; 0 for none
  reached,      \* reached[l] is the greatest timestamp of the data put on l, or spoken of on it
  told,         \* told[l] is the greatest loss record put on l
  numbers,      \* numbers[h][r] is the number of messages that h has sent to r
  outstanding,  \* outstanding[h] is the set of messages of h whose acknowledgement has not arrived at h
  again,        \* again[h] is the set of those of them that h has sent again
  wanted,       \* wanted[h][r]: the number of the last acknowledgement of r that came to h, -1 for none; and
                \* the message that two equal ones ask for, 0 for none, until when
  missing,      \* the messages that were sent and have not arrived at their receivers
  held,         \* held[h][s] are the numbers of the messages of s that have arrived at h
  owed,         \* owed[h][s] is the number of arrivals from s that h has not acknowledged
  waited        \* the number of messages that are handed over and not delivered
spoken == <<reached, told>>
heard == <<acks, records, most, lives, shown, greatest>>
messages == <<numbers, outstanding, again, wanted, missing, held, owed, waited>>
lossSeen == <<spoken, heard, messages>>
lossVars == <<vars, lossSeen>>
-----------------------------------------------------------------------------
NumberOf(message) == message[3]

Max(a, b) == IF a >= b THEN a ELSE b

(* The substitute for Register: links may lose what they promised last. *)
GreatestOf(earlier, arrived) == Max(earlier, arrived)

(* Whether all that is sent and arrives is recorded, so that what is missing is known. *)
Tracked == Net.linked /\ Net.hosts \subseteq Net.sent /\ Net.hosts \subseteq Known

(* What node n may say on its link l; and what its ingress links tell a receiver. *)
CountedFor(l) == Counted(Net.reaching[l], Net.ingress[Net.source[l]])
LeastAck(links) == Aggregate([k \in links |-> acks[k]])
GreatestRecord(links) == MaxOver({records[k] : k \in links})
MostRecord(links) == MaxOver({most[k] : k \in links})
GreatestShown(links) == MaxOver({shown[k] : k \in links})
GreatestOver(links) == MaxOver({greatest[k] : k \in links})

(* A record at or below the ack barrier is made good, and sent as none. *)
RecordDue(links) == IF GreatestRecord(links) > LeastAck(links) THEN GreatestRecord(links) ELSE 0

(* The messages on whose acknowledgement an ack barrier of host h on link l waits. *)
Waiters(h, l) == {m \in outstanding[h] : Net.next[h][ReceiverOf(m)] = l}

(* Of those that were sent again, the timestamps on that link; this row's, too. *)
SentAgain(h, l) ==
  {TimestampOf(m) : m \in {m \in again[h] : Net.next[h][ReceiverOf(m)] = l}}
    \cup (IF Resent THEN {Timestamp} ELSE {})

(* The least timestamp that host h can still give, and its barrier where it gives none. *)
NextPossible(h) == Stamp(Clock, Floor(h), Promised(h))
Current(h) == Max(BeaconBarrier(Clock, last[h]), Promised(h))

(* May a message be delivered by what the links have said? *)
DeliverableUnderLoss(t, h) ==
  \/ t <= LeastAck(Net.ingress[h])
  \/ RecordDue(Net.ingress[h]) = 0 /\ IsPassed(t, h)
-----------------------------------------------------------------------------
(* Barrier and ack barrier: whether a packet carries each. *)
Carries == <<Barrier # Absent, AckBarrier # Absent>>
DataCarries == <<Environment \in {"D5", "D6", "D9"}, Environment \in {"D5", "D9"}>>
BeaconsCarry ==
  CASE Environment = "D5" -> {}
    [] Environment = "D6" -> {<<FALSE, TRUE>>}
    [] Environment = "D7" -> {<<TRUE, FALSE>>, <<FALSE, TRUE>>}
    [] OTHER -> {<<TRUE, TRUE>>}

(* Who has begun anew may not know yet what its data should carry. *)
Less == \A i \in 1 .. 2 : Carries[i] => DataCarries[i]
Structured ==
  /\ LossRecord # Absent /\ Greatest # Absent
  /\ CASE Packet = "data" -> Carries = DataCarries \/ (Node \in anew /\ Less)
    [] Packet = "beacon" ->
            /\ Carries \in BeaconsCarry
            /\ Environment = "D9" => Clock = Absent \/ Clock >= idle[Link]
       [] OTHER -> Carries = <<FALSE, FALSE>>

PutKeeps ==
  LET l == Link IN
  [AckBarriersNeverFall |-> AckBarrier = Absent \/ AckBarrier >= said[l],
   AckBarrierPromiseHolds |->                                                   \* TO-ACK-MEAN
     /\ Tracked /\ AckBarrier # Absent =>
          \A m \in missing : l \in Net.route[SenderOf(m)][ReceiverOf(m)] => TimestampOf(m) > AckBarrier
     /\ Data /\ ~ Resent => Timestamp > Max(said[l], AckBarrier),
   LossCounterSpansLink |-> Greatest = Absent \/ Greatest >= reached[l],         \* TO-LOSSCTR
   GreatestIsAboveItsRecord |-> Greatest >= LossRecord,
   StructureAllOnData |-> Environment = "D5" => Structured,                     \* TO-FMT-5
   StructureAckBarrierOnBeacon |-> Environment = "D6" => Structured,            \* TO-FMT-6
   StructureTwoBeacons |-> Environment = "D7" => Structured,                    \* TO-FMT-7
   StructureOneBeacon |-> Environment = "D8" => Structured,                     \* TO-FMT-8
   StructureAllOnDataAndIdleBeacons |-> Environment = "D9" => Structured]       \* TO-FMT-9

HostPutKeeps ==
  LET h == Node
      waiters == {TimestampOf(m) : m \in Waiters(h, Link)} \cup (IF Data THEN {Timestamp} ELSE {})
      knows == AckBarrier # Absent /\ h \in Known
  IN
  [AckBarrierBelowOutstanding |->                                                \* TO-ACK-INIT
     knows => \A t \in waiters : AckBarrier < t,
   IdleAckBarrierRises |->                                                      \* TO-ACK-IDLE
     knows /\ waiters = {} /\ Clock # Absent /\ Packet = "beacon" => AckBarrier = NextPossible(h) - 1,
   HostSetsLossFlag |->                                                         \* TO-FLAG-HOST
     IF ~ Net.hostFlags THEN LossRecord \in {0, Absent}
     ELSE h \in Known =>
       /\ LossRecord >= MaxOver(SentAgain(h, Link))
       /\ LossRecord > 0 => /\ LossRecord <= MaxOver({told[Link]} \cup SentAgain(h, Link))
                            /\ \E t \in waiters : t <= LossRecord]
  @@ PutKeeps

LossScatterKeeps ==
  [MessageNumbersConsecutive |-> Number = numbers[Node][Receiver] + 1]          \* TO-SEQ
  @@ ScatterKeeps @@ HostPutKeeps

ResendKeeps ==
  [MessageNumbersConsecutive |-> Number <= numbers[Node][Receiver],             \* TO-SEQ
   LostIsResent |->                                                             \* TO-RETX
     Node \in Known =>
       /\ Message \in outstanding[Node]
       /\ LET asked == wanted[Node][Receiver] IN
          asked.number # Number \/ Clock = Absent \/ asked.until = Absent \/ Clock < asked.until,
   ResentCarriesCurrentBarrier |->                                              \* TO-RETX-BAR
     Barrier = Absent \/ IF Clock = Absent THEN Barrier >= last[Node] ELSE Barrier = Current(Node),
   OnItsRoute |-> OnItsRoute]
  @@ CarriedKeeps @@ HostPutKeeps

LossHostBeaconKeeps ==
  [HostBarrierIsItsPromise |->                                                  \* TO-BAR-HOST
     Barrier = Absent \/ IF Clock = Absent THEN Barrier >= last[Node] ELSE Barrier = Current(Node)]
  @@ PromiseKeeps(last[Node], Promised(Node)) @@ CarriedKeeps @@ HostPutKeeps

AcknowledgeKeeps ==
  [AcknowledgementsCumulative |->                                               \* TO-DUPACK
     Node \in Known /\ Receiver \in Net.hosts => Number = held[Node][Receiver].upto,
   SentAsArrived |-> Sender = Node,
   OnItsRoute |-> OnItsRoute]
  @@ CarriedKeeps @@ HostPutKeeps

SwitchPutKeeps ==
  LET links == CountedFor(Link)
      free == Net.reaching[Link] = {} \/ Node \notin Known
      ack == LeastAck(links)
      record == GreatestRecord(links)
  IN
  [SwitchAckBarrierIsMinimum |-> free \/ AckBarrier \in {Absent, ack},          \* TO-ACK-MIN
   SwitchNoticesLoss |->                                                        \* TO-SWLOSS
     free \/ LossRecord \in record .. MostRecord(links) \/ (record <= ack /\ LossRecord < record),
   SwitchSetsLossFlag |->                                                       \* TO-FLAG-SW
     free \/ /\ told[Link] > ack => LossRecord >= told[Link]
             /\ LossRecord > 0 => LossRecord > ack,
   BeaconsCarryLossFlag |->                                                     \* TO-FLAG-BEACON
     free \/ Packet # "beacon" \/ record <= ack \/ LossRecord > 0,
   LossCounterSpansLink |->                                                     \* TO-LOSSCTR
     /\ Greatest >= reached[Link]
     /\ free \/ GreatestShown(links) <= ack \/ LossRecord >= GreatestShown(links)]
  @@ PutKeeps

LossDeliverKeeps ==
  LET h == Node
      knows == h \in Known
      record == RecordDue(Net.ingress[h])
      ack == LeastAck(Net.ingress[h])
  IN
  [DeliverBelowBarrier |->                                                      \* TO-DELIVER
     knows /\ record = 0 => Timestamp <= ack \/ IsPassed(Timestamp, h),
   FlaggedDeliverAtAckBarrier |-> knows /\ record # 0 => Timestamp <= ack,       \* TO-FLAG-RX
   ReceiverNoticesLoss |->                                                      \* TO-LASTHOP
     knows /\ GreatestShown(Net.ingress[h]) > ack => Timestamp <= ack,
   OrderSurvivesLoss |->                                                        \* TO-LOSS-SAFE
     delivered[h] = <<>> \/ KeyBelow(Key(delivered[h]), Key(Message))]
  @@ DeliverKeeps

(* The first that is not acknowledged of what host h sent to each receiver. *)
Oldest(h) ==
  {m \in outstanding[h] : \A n \in outstanding[h] : ReceiverOf(n) = ReceiverOf(m) => NumberOf(n) >= NumberOf(m)}

(* What the links have said must have been acted on.  Where the last messages wait at their barriers, as  *)
(* in structures 5 and 6, or the loss state lasts as acknowledgements have no way back, they may wait on. *)
LossSettleKeeps ==
  [ArrivedIsDelivered |->                                                       \* TO-COMPLETE
     /\ \A n \in Known \cap Net.sent : passing[n] = <<>>
     /\ \A h \in Known \cap Net.delivered : \A m \in buffer[h] :
          ~ DeliverableUnderLoss(TimestampOf(m), h),
   AcknowledgementsCumulative |->                                               \* TO-DUPACK
     \A h \in Net.hosts \cap Known \cap Net.sent : \A s \in Net.hosts :
       owed[h][s] <= 0 \/ Net.next[h][s] = 0,                                      \* nor is there a way back
   LostIsResent |->                                                             \* TO-RETX
     /\ Tracked /\ anew = {} => missing = {}
     /\ \A h \in Net.hosts \cap Known \cap Net.sent :
          \A m \in Oldest(h) : m \in again[h] \/ ReceiverOf(m) \in anew,
   OrderSurvivesLoss |->                                                        \* TO-LOSS-SAFE
     Environment # "D5" /\ anew = {} /\ Net.hosts \subseteq Net.submitted \cap Net.delivered => waited = 0]
  @@ SettleKeeps

LossKeeps(action) ==
  CASE Kind = "sent" /\ Node \notin Net.sent -> <<>>
    [] Kind = "delivered" /\ Node \notin Net.delivered \ anew -> <<>>
    [] Kind = "sent" /\ Node \in anew -> CarriedKeeps @@ PutKeeps
    [] action = "Scatter" -> LossScatterKeeps
    [] action = "Resend" -> ResendKeeps
    [] action = "HostBeacon" -> LossHostBeaconKeeps
    [] action = "Acknowledge" -> AcknowledgeKeeps
    [] action \in {"ForwardData", "ForwardControl"} -> SwitchPutKeeps @@ ForwardKeeps
    [] action = "SwitchBeacon" -> SwitchPutKeeps @@ SwitchBeaconKeeps
    [] action = "Adjust" -> [OnItsRoute |-> OnItsRoute] @@ RoundKeeps @@ CarriedKeeps @@ HostPutKeeps
    [] Kind = "arrived" /\ action \notin {"ArriveAgain", "Stray"} -> ArriveKeeps
    [] action = "Deliver" -> LossDeliverKeeps
    [] action = "Stray" -> [Exists |-> FALSE]
    [] action = "Refuse" -> [NothingIsRefused |-> repeated[Link]]
    [] action = "Settle" -> LossSettleKeeps
    [] OTHER -> <<>>

LossWanted(clause) ==
  CASE clause = "SwitchAckBarrierIsMinimum" -> LeastAck(CountedFor(Link))
    [] clause \in {"BeaconsCarryLossFlag", "SwitchNoticesLoss"} -> RecordDue(CountedFor(Link))
    [] clause = "SwitchSetsLossFlag" -> told[Link]
    [] clause = "AckBarriersNeverFall" -> said[Link]
    [] clause = "LossCounterSpansLink" -> reached[Link]
    [] clause \in {"FlaggedDeliverAtAckBarrier", "ReceiverNoticesLoss"} -> LeastAck(Net.ingress[Node])
    [] OTHER -> Wanted(clause)
-----------------------------------------------------------------------------
(* What the observer remembers beside what TraceOrder's does. *)
Speak ==
  /\ reached' = [reached EXCEPT ![Link] = MaxOver({@, Greatest, IF Data THEN Timestamp ELSE 0})]
  /\ told' = [told EXCEPT ![Link] = Max(@, LossRecord)]
  /\ UNCHANGED heard

(* The record first: what the packet says otherwise does not hold for what was lost. *)
Hear ==
  LET l == Link
      isGap == LinkSeq > expected[l] \/ Life > lives[l]
      gap == IF isGap THEN Greatest ELSE 0
  IN
  /\ shown' = [shown EXCEPT ![l] = Max(@, gap)]
  /\ records' = [records EXCEPT ![l] = MaxOver({@, gap, LossRecord})]
  /\ most' = [most EXCEPT ![l] = MaxOver({@, LossRecord} \cup IF isGap THEN {greatest[l], Greatest} ELSE {})]
  /\ lives' = [lives EXCEPT ![l] = Max(@, Life)]
  /\ acks' = [acks EXCEPT ![l] = Max(@, AckBarrier)]
  /\ greatest' = [greatest EXCEPT ![l] = Max(@, Greatest)]
  /\ UNCHANGED spoken

(* What an acknowledgement covers; of a number that was never sent none says anything. *)
Covered(m) == ReceiverOf(m) = Sender /\ NumberOf(m) <= Number /\ Number <= numbers[Node][Sender]

(* The second of two equal acknowledgements asks for the next message, if it was sent once only. *)
AskedFor ==
  LET old == wanted[Node][Sender]
      to == {m \in outstanding[Node] : ReceiverOf(m) = Sender}
      next == {m \in to : NumberOf(m) = Number + 1}
      asks == /\ Number = old.last /\ old.number = 0
              /\ next # {} /\ next \cap again[Node] = {} /\ \A m \in to : NumberOf(m) > Number
  IN
  IF Sender \notin Net.hosts \/ Number > numbers[Node][Sender] THEN wanted
  ELSE [wanted EXCEPT ![Node][Sender] =
         [number |-> IF asks THEN Number + 1 ELSE IF old.number <= Number THEN 0 ELSE old.number,
          until |-> IF asks THEN BusyUntil ELSE old.until,
          last |-> Number]]

OneMoreOwed == owed' = [owed EXCEPT ![Node][Sender] = @ + 1]

LossRemember(action) ==
  CASE action = "Scatter" ->
         /\ numbers' = [numbers EXCEPT ![Node][Receiver] = Max(@, Number)]
         /\ outstanding' = [outstanding EXCEPT ![Node] = @ \cup {Message}]
         /\ missing' = missing \cup {Message}
         /\ Speak /\ UNCHANGED <<again, wanted, held, owed, waited>>
    [] action = "Resend" ->
         /\ again' = [again EXCEPT ![Node] = @ \cup ({Message} \cap outstanding[Node])]
         /\ wanted' = IF wanted[Node][Receiver].number = Number
                      THEN [wanted EXCEPT ![Node][Receiver].number = 0] ELSE wanted
         /\ Speak /\ UNCHANGED <<numbers, outstanding, missing, held, owed, waited>>
    [] action = "Acknowledge" ->
         /\ owed' = [owed EXCEPT ![Node][Receiver] = @ - 1]
         /\ Speak /\ UNCHANGED <<numbers, outstanding, again, wanted, missing, held, waited>>
    [] Kind = "sent" -> Speak /\ UNCHANGED messages
    [] action = "ArriveControl" /\ Packet = "ack" ->
         /\ outstanding' = [outstanding EXCEPT ![Node] = {m \in @ : ~ Covered(m)}]
         /\ again' = [again EXCEPT ![Node] = {m \in @ : ~ Covered(m)}]
         /\ wanted' = AskedFor
         /\ Hear /\ UNCHANGED <<numbers, missing, held, owed, waited>>
    [] action = "Arrive" /\ Sender \in Net.hosts ->
         /\ missing' = missing \ {Message}
         /\ held' = [held EXCEPT ![Node][Sender] = With(@, {Number})]
         /\ OneMoreOwed /\ Hear /\ UNCHANGED <<numbers, outstanding, again, wanted, waited>>
    [] action = "ArriveDuplicate" ->
         OneMoreOwed /\ Hear /\ UNCHANGED <<numbers, outstanding, again, wanted, missing, held, waited>>
    [] Kind = "arrived" /\ action # "ArriveAgain" -> Hear /\ UNCHANGED messages
    [] action \in {"Submit", "Deliver"} ->
         /\ waited' = IF action = "Submit" THEN waited + 1 ELSE waited - 1
         /\ UNCHANGED <<spoken, heard, numbers, outstanding, again, wanted, missing, held, owed>>
    \* A switch that begins anew covers by its record what it put on its links.
    [] action = "Restart" ->
         /\ reached' = [l \in DOMAIN reached |-> IF Net.source[l] = Node /\ ~ IsHost(Node) THEN 0 ELSE reached[l]]
         /\ UNCHANGED <<told, heard, messages>>
    [] OTHER -> UNCHANGED lossSeen

LossAction ==
  LET action == Action(Kind = "arrived" /\ LinkSeq < expected[Link]) IN
  IF action = "Arrive" /\ Node \in Known /\ Sender \in Net.hosts /\ Has(held[Node][Sender], Number)
  THEN "ArriveDuplicate"
  ELSE action
-----------------------------------------------------------------------------
LossInit ==
  /\ Init
  /\ LET nodes == DOMAIN Net.ingress
         links == DOMAIN Net.source
     IN
     /\ acks = [l \in links |-> 0]
     /\ records = [l \in links |-> 0]
     /\ most = [l \in links |-> 0]
     /\ lives = [l \in links |-> 0]
     /\ shown = [l \in links |-> 0]
     /\ greatest = [l \in links |-> 0]
     /\ reached = [l \in links |-> 0]
     /\ told = [l \in links |-> 0]
     /\ numbers = [n \in nodes |-> [m \in nodes |-> 0]]
     /\ outstanding = [n \in nodes |-> {}]
     /\ again = [n \in nodes |-> {}]
     /\ wanted = [n \in nodes |-> [m \in nodes |-> [number |-> 0, until |-> Absent, last |-> Absent]]]
     /\ missing = {}
     /\ held = [n \in nodes |-> [m \in nodes |-> NoNumber]]
     /\ owed = [n \in nodes |-> [m \in nodes |-> 0]]
     /\ waited = 0

ReadLossRow ==
  /\ Reading
  /\ LET action == LossAction
         broken == BrokenOf(LossKeeps(action))
     IN  IF broken = {} THEN Accept(action) /\ Remember(action) /\ RememberRound /\ LossRemember(action)
         ELSE Reject(action, broken, LossWanted) /\ UNCHANGED <<seen, rounds, lossSeen>>

LossNext == ReadLossRow \/ ((Finish \/ Over) /\ UNCHANGED <<seen, rounds, lossSeen>>)

LossSpec == LossInit /\ [][LossNext]_lossVars
=============================================================================
