----------------------------- MODULE TraceColumns -----------------------------
(***************************************************************************)
(* The rows of a recorded run of total order, column by column, and its    *)
(* network.  models/totalorder/trace_to_tla.py writes both.                *)
(*                                                                         *)
(* Times are ranks: order and successors are kept, 0 and -1 are themselves *)
(* (models/ranks.py says why this is sound).                               *)
(*                                                                         *)
(* Net.submitted, sent, arrived and delivered are the nodes all of whose   *)
(* events of that kind are recorded; Net.linked says that no packet is     *)
(* shown to arrive before it was sent.  What is not recorded is compared   *)
(* with nothing.                                                           *)
(***************************************************************************)
EXTENDS TraceReplay, Numbers

Absent == -1

(* The columns of a row.  Nodes and links count from 1; -1 is in a column that *)
(* says nothing.  BusyUntil is the clock plus the beacon interval.             *)
Kind == Row[1]       Node == Row[2]       Link == Row[3]      LinkSeq == Row[4]
Sender == Row[5]     Receiver == Row[6]   Number == Row[7]    Digest == Row[8]
Flags == Row[9]      Packet == Row[10]    Timestamp == Row[11] WrittenBarrier == Row[12]
Scattering == Row[13] Clock == Row[14]    BusyUntil == Row[15]

Data == Packet = "data"

(* Of a packet: whether it is sent again, and how often the node that put it on the link had begun anew. *)
Resent == Data /\ Flags \in Nat /\ Flags % 2 = 1
Life == Flags \div 2

(* Under loss there are three more. *)
AckBarrier == IF Net.loses THEN Row[16] ELSE Absent
LossRecord == Row[17] Greatest == Row[18]

(* Where sums of times can be told there are two more: the clock as it is, and for how long an answer was held. *)
Local == Row[Len(Row) - 1]
Held == Row[Len(Row)]

(* What the sender of a packet and its taker see alike: its number on the link, and all that it carries. *)
Content == IF Net.loses THEN SubSeq(Row, 4, 12) \o SubSeq(Row, 16, 18) ELSE SubSeq(Row, 4, 12)

(* A message, whoever holds it; and as a switch passes it on, with what it is and whether it is sent again. *)
Message == <<Sender, Receiver, Number, Digest, Timestamp>>
Passed == Message \o <<Packet, Resent>>

(* Neither data nor beacons: they go from host to host as data do, and carry no barrier. *)
Controls == {"ack", "adjust", "adjusted"}
Control == Packet \in Controls

(* A barrier that a host leaves empty is the timestamp, for the next node to write (TO-BAR-FILL). *)
IsHost(n) == n \in Net.hosts
Barrier == IF Net.fills /\ WrittenBarrier = Absent /\ Data /\ ~ Resent /\ IsHost(Net.source[Link])
           THEN Timestamp ELSE WrittenBarrier
Environment == Net.environment

SenderOf(message) == message[1]
ReceiverOf(message) == message[2]
TimestampOf(message) == message[5]

MaxOver(S) == IF S = {} THEN 0 ELSE CHOOSE x \in S : \A y \in S : y <= x
Without(s, i) == SubSeq(s, 1, i - 1) \o SubSeq(s, i + 1, Len(s))
KeyBelow(a, b) == \E i \in DOMAIN a : a[i] < b[i] /\ \A j \in 1 .. i - 1 : a[j] = b[j]
OnItsRoute == Receiver \in DOMAIN Net.next[Node] /\ Net.next[Node][Receiver] = Link

(* The action that the row is; `came` says that this packet has arrived before. *)
SentAction ==
  IF IsHost(Node)
  THEN IF Packet = "beacon" THEN "HostBeacon" ELSE IF Packet = "ack" THEN "Acknowledge"
       ELSE IF Control THEN "Adjust" ELSE IF Resent THEN "Resend" ELSE "Scatter"
  ELSE IF Packet = "beacon" THEN "SwitchBeacon" ELSE IF Control THEN "ForwardControl" ELSE "ForwardData"

ArrivedAction ==
  IF IsHost(Node)
  THEN IF Packet = "beacon" THEN "ArriveBeacon" ELSE IF Control THEN "ArriveControl" ELSE "Arrive"
  ELSE IF Packet = "beacon" THEN "TakeBeacon" ELSE IF Control THEN "TakeControl" ELSE "TakeData"

Action(came) ==
  CASE Packet \notin Net.packets -> "Stray"
    [] Kind = "submitted" -> "Submit"
    [] Kind = "sent" -> SentAction
    [] Kind = "arrived" -> IF came THEN "ArriveAgain" ELSE ArrivedAction
    [] Kind = "delivered" -> "Deliver"
    [] Kind = "lost" -> "Lose"
    [] Kind = "refused" -> "Refuse"
    [] Kind = "crashed" -> "Crash"
    [] Kind = "restarted" -> "Restart"
    [] Kind = "ended" -> IF Flags = 3 THEN "Settle" ELSE "Stop"
=============================================================================
