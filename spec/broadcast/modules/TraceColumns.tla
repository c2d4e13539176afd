----------------------------- MODULE TraceColumns -----------------------------
(***************************************************************************)
(* The rows of a recorded run of the broadcast stack, column by column,    *)
(* and its network.  models/broadcast/trace_to_tla.py writes both.         *)
(*                                                                         *)
(* Net.submitted, begun, sent, arrived and delivered are the processes all *)
(* of whose events of that kind are recorded; Net.linked says that no      *)
(* packet is shown to arrive before it was sent, nor a message to be       *)
(* delivered before its creator began with it.  What is not recorded is    *)
(* compared with nothing.                                                  *)
(***************************************************************************)
EXTENDS TraceReplay, Numbers

Absent == -1

(* The columns of a row.  Processes and links count from 1; -1 is in a column *)
(* that says nothing.                                                         *)
Kind == Row[1]      Node == Row[2]      Link == Row[3]    LinkSeq == Row[4]
Sender == Row[5]    Receiver == Row[6]  Number == Row[7]  Digest == Row[8]
Flags == Row[9]     Packet == Row[10]   Pseq == Row[11]   Count == Row[12]
ClockSum == Row[13] ClockWeighted == Row[14]

(* All that a packet carries; and what stays the same when it is sent again. *)
ContentOf(row) == SubSeq(row, 5, 14)
CarriedBy(row) == <<row[5], row[7], row[12], row[8], row[13], row[14]>>
Content == ContentOf(Row)
Carried == CarriedBy(Row)

Processes == DOMAIN Net.on
N == Cardinality(Processes)
Source == Net.source[Link]
Target == Net.target[Link]

(* The messages of a run that is begun with, or in a data packet. *)
Messages == Number .. Number + Count - 1
IsRun == Sender \in Processes /\ Number >= 1 /\ Count >= 1
Resent == Flags = 1

OverLinks == Net.level = "pl"
InOrder == Net.level \in {"fifo", "lcb"}
InCausalOrder == Net.level = "lcb"

(* Where a message stands among its creator's: at level pl they are counted by receiver. *)
To(receiver) == IF OverLinks THEN receiver ELSE 1
Numberings == IF OverLinks THEN Processes ELSE {1}
IsReceiver == IF OverLinks THEN Receiver \in Processes \ {Node} ELSE Receiver = Absent
-----------------------------------------------------------------------------
(* The action that the row is; `came` says that this packet has arrived before. *)
SentAction ==
  CASE Packet = "ack" -> "Answer"
    [] Packet = "data" /\ IsRun /\ Pseq >= 1 ->
         IF Resent THEN "Resend" ELSE IF Sender = Node THEN "Send" ELSE "Forward"
    [] OTHER -> "Stray"

ArrivedAction(came) ==
  CASE Packet = "ack" -> "Acknowledge"
    [] Packet = "data" /\ IsRun /\ Pseq >= 1 -> IF came THEN "ReceiveAgain" ELSE "Receive"
    [] OTHER -> "Stray"

Action(came) ==
  CASE Kind = "submitted" -> "Submit"
    [] Kind = "begun" -> IF IsRun THEN "Begin" ELSE "Stray"
    [] Kind = "sent" -> SentAction
    [] Kind = "arrived" -> ArrivedAction(came)
    [] Kind = "delivered" -> "Deliver"
    [] Kind = "lost" -> "Lose"
    [] Kind = "refused" -> "Refuse"
    [] Kind = "crashed" -> "Crash"
    [] Kind = "paused" -> "Pause"
    [] Kind = "resumed" -> "Resume"
    [] Kind = "ended" -> IF Flags = 3 THEN "Settle" ELSE "Stop"
=============================================================================
