------------------------------- MODULE TraceLoss -------------------------------
(***************************************************************************)
(* TraceOrder under loss: environment D, message structures 5 to 9, as     *)
(* RULES.md has them.  What an ingress link has said is three registers    *)
(* more, which only rise: ack barrier, loss record and what is greatest.   *)
(* A gap in the numbers of a link raises its record to the greatest that   *)
(* the packet behind the gap speaks of.                                    *)
(*                                                                         *)
(* Left out: failures, and switches of more than one processor.  Where     *)
(* clocks are adjusted, they are not known, and compared with nothing.     *)
(***************************************************************************)
EXTENDS TraceOrder

VARIABLES
  acks,         \* acks[l] is the greatest ack barrier to have arrived from l; 0 for none
  records,      \* records[l] is the loss record of l; 0 for none
  greatest,     \* greatest[l] is the greatest timestamp that l has spoken of; 0 for none
  reached,      \* reached[l] is the greatest timestamp of the data put on l, or spoken of on it
  numbers,      \* numbers[h][r] is the number of messages that h has sent to r
  outstanding,  \* outstanding[h] is the set of messages of h whose acknowledgement has not arrived at h
  missing       \* the messages that were sent and have not arrived at their receivers
lossSeen == <<acks, records, greatest, reached, numbers, outstanding, missing>>
lossVars == <<vars, lossSeen>>
-----------------------------------------------------------------------------
NumberOf(message) == message[3]

Max(a, b) == IF a >= b THEN a ELSE b

(* The substitute for Register: links may lose what they promised last. *)
GreatestOf(held, arrived) == Max(held, arrived)

(* Whether all that is sent and arrives is recorded, so that what is missing is known. *)
Tracked == Net.linked /\ Net.hosts \subseteq Net.sent /\ Net.hosts \subseteq Net.arrived

(* What node n may say on its link l; and what its ingress links tell a receiver. *)
CountedFor(l) == Counted(Net.reaching[l], Net.ingress[Net.source[l]])
LeastAck(links) == Aggregate([k \in links |-> acks[k]])
GreatestRecord(links) == MaxOver({records[k] : k \in links})
GreatestOver(links) == MaxOver({greatest[k] : k \in links})

(* A record at or below the ack barrier is made good, and sent as none. *)
RecordDue(links) == IF GreatestRecord(links) > LeastAck(links) THEN GreatestRecord(links) ELSE 0

(* The number up to which a receiver has all messages of a sender. *)
UpTo(receiver, sender) ==
  LET gaps == {NumberOf(m) : m \in {n \in missing : SenderOf(n) = sender /\ ReceiverOf(n) = receiver}}
  IN  IF gaps = {} THEN numbers[sender][receiver]
      ELSE (CHOOSE n \in gaps : \A i \in gaps : n <= i) - 1

(* The messages on whose acknowledgement an ack barrier of host h on link l waits. *)
Waiters(h, l) == {m \in outstanding[h] : Net.next[h][ReceiverOf(m)] = l}

(* The least timestamp that host h can still give, and its barrier where it gives none. *)
NextPossible(h) == Stamp(Clock, Floor(h), Promised(h))
Current(h) == Max(BeaconBarrier(Clock, last[h]), Promised(h))

(* May a message be delivered by what the links have said? *)
DeliverableUnderLoss(t, h) ==
  \/ t <= LeastAck(Net.ingress[h])
  \/ RecordDue(Net.ingress[h]) = 0 /\ Deliverable(t, LeastOf(h))
-----------------------------------------------------------------------------
(* Barrier and ack barrier: whether a packet carries each. *)
Carries == <<Barrier # Absent, AckBarrier # Absent>>
DataCarries == <<Environment \in {"D5", "D6", "D9"}, Environment \in {"D5", "D9"}>>
BeaconsCarry ==
  CASE Environment = "D5" -> {}
    [] Environment = "D6" -> {<<FALSE, TRUE>>}
    [] Environment = "D7" -> {<<TRUE, FALSE>>, <<FALSE, TRUE>>}
    [] OTHER -> {<<TRUE, TRUE>>}

Structured ==
  CASE Packet = "data" -> Carries = DataCarries
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
   GreatestIsAboveAllSent |-> Greatest >= reached[l] /\ Greatest >= LossRecord,
   StructureAllOnData |-> Environment = "D5" => Structured,                     \* TO-FMT-5
   StructureAckBarrierOnBeacon |-> Environment = "D6" => Structured,            \* TO-FMT-6
   StructureTwoBeacons |-> Environment = "D7" => Structured,                    \* TO-FMT-7
   StructureOneBeacon |-> Environment = "D8" => Structured,                     \* TO-FMT-8
   StructureAllOnDataAndIdleBeacons |-> Environment = "D9" => Structured]       \* TO-FMT-9

HostPutKeeps ==
  LET h == Node
      waiters == {TimestampOf(m) : m \in Waiters(h, Link)} \cup (IF Data THEN {Timestamp} ELSE {})
      knows == AckBarrier # Absent /\ h \in Net.arrived
  IN
  [AckBarrierBelowOutstanding |->                                                \* TO-ACK-INIT
     knows /\ waiters # {} => AckBarrier = (CHOOSE t \in waiters : \A u \in waiters : t <= u) - 1,
   IdleAckBarrierRises |->                                                      \* TO-ACK-IDLE
     knows /\ waiters = {} /\ Clock # Absent /\ Packet = "beacon" => AckBarrier = NextPossible(h) - 1,
   HostSetsLossFlag |->                                                         \* TO-FLAG-HOST
     LossRecord = 0 \/ (Net.hostFlags /\ LossRecord <= reached[Link])]
  @@ PutKeeps

LossScatterKeeps ==
  [MessageNumbersConsecutive |-> Number = numbers[Node][Receiver] + 1]          \* TO-SEQ
  @@ ScatterKeeps @@ HostPutKeeps

ResendKeeps ==
  [MessageNumbersConsecutive |-> Number <= numbers[Node][Receiver],             \* TO-SEQ
   LostIsResent |-> Node \in Net.arrived => Message \in outstanding[Node],      \* TO-RETX
   ResentCarriesCurrentBarrier |->                                              \* TO-RETX-BAR
     Barrier = Absent \/ IF Clock = Absent THEN Barrier >= last[Node] ELSE Barrier = Current(Node),
   OnItsRoute |-> OnItsRoute]
  @@ CarriedKeeps @@ HostPutKeeps

LossHostBeaconKeeps ==
  [HostBarrierIsItsPromise |->                                                  \* TO-BAR-HOST
     Barrier = Absent \/ IF Clock = Absent THEN Barrier >= last[Node] ELSE Barrier = Current(Node)]
  @@ CarriedKeeps @@ HostPutKeeps

AcknowledgeKeeps ==
  [AcknowledgementsCumulative |-> Tracked => Number = UpTo(Node, Receiver),     \* TO-DUPACK
   SentAsArrived |-> Sender = Node,
   OnItsRoute |-> OnItsRoute]
  @@ CarriedKeeps @@ HostPutKeeps

SwitchPutKeeps ==
  LET links == CountedFor(Link)
      free == Net.reaching[Link] = {} \/ Node \notin Net.arrived
      due == RecordDue(links)
  IN
  [SwitchAckBarrierIsMinimum |-> free \/ AckBarrier \in {Absent, LeastAck(links)},  \* TO-ACK-MIN
   SwitchSetsLossFlag |-> free \/ Packet = "beacon" \/ LossRecord >= due,       \* TO-FLAG-SW
   BeaconsCarryLossFlag |-> free \/ Packet # "beacon" \/ LossRecord >= due,     \* TO-FLAG-BEACON
   SwitchNoticesLoss |-> free \/ LossRecord <= due]                             \* TO-SWLOSS
  @@ PutKeeps

LossDeliverKeeps ==
  LET h == Node
      knows == h \in Net.arrived
      record == RecordDue(Net.ingress[h])
      ack == LeastAck(Net.ingress[h])
  IN
  [DeliverBelowBarrier |->                                                      \* TO-DELIVER
     knows /\ record = 0 => Timestamp <= ack \/ (Net.ingress[h] # {} /\ Deliverable(Timestamp, LeastOf(h))),
   FlaggedDeliverAtAckBarrier |-> knows /\ record # 0 => Timestamp <= ack]      \* TO-FLAG-RX
  @@ DeliverKeeps

(* What the links have said must have been acted on.  More cannot be asked: structures 5 and 6 leave the *)
(* last messages at their barriers, and the loss state lasts where acknowledgements have no way back.   *)
LossSettleKeeps ==
  [ArrivedIsDelivered |->                                                       \* TO-COMPLETE
     /\ \A n \in Net.arrived \cap Net.sent : passing[n] = <<>>
     /\ \A h \in Net.arrived \cap Net.delivered : \A m \in buffer[h] :
          ~ DeliverableUnderLoss(TimestampOf(m), h),
   LostIsResent |-> Tracked => missing = {}]                                    \* TO-RETX
  @@ SettleKeeps

LossKeeps(action) ==
  CASE Kind = "sent" /\ Node \notin Net.sent -> <<>>
    [] Kind = "delivered" /\ Node \notin Net.delivered -> <<>>
    [] action = "Scatter" -> LossScatterKeeps
    [] action = "Resend" -> ResendKeeps
    [] action = "HostBeacon" -> LossHostBeaconKeeps
    [] action = "Acknowledge" -> AcknowledgeKeeps
    [] action \in {"ForwardData", "ForwardControl"} -> SwitchPutKeeps @@ ForwardKeeps
    [] action = "SwitchBeacon" -> SwitchPutKeeps @@ SwitchBeaconKeeps
    [] action = "Adjust" -> [OnItsRoute |-> OnItsRoute] @@ CarriedKeeps @@ HostPutKeeps
    [] Kind = "arrived" /\ action \notin {"ArriveAgain", "Stray"} -> ArriveKeeps
    [] action = "Deliver" -> LossDeliverKeeps
    [] action = "Stray" -> [Exists |-> FALSE]
    [] action = "Refuse" -> [NothingIsRefused |-> repeated[Link]]
    [] action = "Settle" -> LossSettleKeeps
    [] OTHER -> <<>>

LossWanted(clause) ==
  CASE clause = "SwitchAckBarrierIsMinimum" -> LeastAck(CountedFor(Link))
    [] clause \in {"SwitchSetsLossFlag", "BeaconsCarryLossFlag", "SwitchNoticesLoss"} -> RecordDue(CountedFor(Link))
    [] clause = "AckBarriersNeverFall" -> said[Link]
    [] clause = "GreatestIsAboveAllSent" -> reached[Link]
    [] clause = "FlaggedDeliverAtAckBarrier" -> LeastAck(Net.ingress[Node])
    [] OTHER -> Wanted(clause)
-----------------------------------------------------------------------------
(* What the observer remembers beside what TraceOrder's does. *)
Speak ==
  /\ reached' = [reached EXCEPT ![Link] = MaxOver({@, Greatest, IF Data THEN Timestamp ELSE 0})]
  /\ UNCHANGED <<acks, records, greatest>>

(* The record first: what the packet says otherwise does not hold for what was lost. *)
Hear ==
  LET l == Link
      known == Max(greatest[l], Greatest)
      gap == IF LinkSeq > expected[l] THEN known ELSE 0
  IN
  /\ records' = [records EXCEPT ![l] = MaxOver({@, gap, LossRecord})]
  /\ acks' = [acks EXCEPT ![l] = Max(@, AckBarrier)]
  /\ greatest' = [greatest EXCEPT ![l] = known]
  /\ UNCHANGED reached

LossRemember(action) ==
  CASE action = "Scatter" ->
         /\ numbers' = [numbers EXCEPT ![Node][Receiver] = Max(@, Number)]
         /\ outstanding' = [outstanding EXCEPT ![Node] = @ \cup {Message}]
         /\ missing' = missing \cup {Message}
         /\ Speak
    [] Kind = "sent" -> Speak /\ UNCHANGED <<numbers, outstanding, missing>>
    [] action = "ArriveControl" /\ Packet = "ack" ->
         /\ outstanding' = [outstanding EXCEPT ![Node] =
              {m \in @ : ReceiverOf(m) # Sender \/ NumberOf(m) > Number}]
         /\ Hear /\ UNCHANGED <<numbers, missing>>
    [] action = "Arrive" -> missing' = missing \ {Message} /\ Hear /\ UNCHANGED <<numbers, outstanding>>
    [] Kind = "arrived" /\ action # "ArriveAgain" -> Hear /\ UNCHANGED <<numbers, outstanding, missing>>
    [] OTHER -> UNCHANGED lossSeen

LossAction ==
  LET action == Action(Kind = "arrived" /\ LinkSeq < expected[Link]) IN
  IF action = "Arrive" /\ Tracked /\ Message \notin missing THEN "ArriveDuplicate" ELSE action
-----------------------------------------------------------------------------
LossInit ==
  /\ Init
  /\ LET nodes == DOMAIN Net.ingress
         links == DOMAIN Net.source
     IN
     /\ acks = [l \in links |-> 0]
     /\ records = [l \in links |-> 0]
     /\ greatest = [l \in links |-> 0]
     /\ reached = [l \in links |-> 0]
     /\ numbers = [n \in nodes |-> [m \in nodes |-> 0]]
     /\ outstanding = [n \in nodes |-> {}]
     /\ missing = {}

ReadLossRow ==
  /\ Reading
  /\ LET action == LossAction
         broken == BrokenOf(LossKeeps(action))
     IN  IF broken = {} THEN Accept(action) /\ Remember(action) /\ LossRemember(action)
         ELSE Reject(action, broken, LossWanted) /\ UNCHANGED <<seen, lossSeen>>

LossNext == ReadLossRow \/ ((Finish \/ Over) /\ UNCHANGED <<seen, lossSeen>>)

LossSpec == LossInit /\ [][LossNext]_lossVars
=============================================================================
