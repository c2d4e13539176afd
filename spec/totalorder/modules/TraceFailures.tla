----------------------------- MODULE TraceFailures -----------------------------
(***************************************************************************)
(* Total order where failures are handled, as an observer outside sees it: *)
(* who has been given up, and what was recalled, is in no row.  So nothing *)
(* is asked of what switches combine and of what senders wait for; but     *)
(* that barriers do not fall, not after a restart either; that deliveries  *)
(* keep their order; and, once all has settled, that those who stayed up   *)
(* have delivered what they should.                                        *)
(*                                                                         *)
(* In these runs Clock is the time of the row, and BusyUntil that time and *)
(* the time-out: every node that goes on sends beacons, so a host stays up *)
(* to which something arrived within the time-out of the end.              *)
(***************************************************************************)
EXTENDS TraceColumns

CONSTANTS
  Precedence(_, _)  \* see Rules

VARIABLES
  handed,     \* handed[h] is a function from <<receiver, number>> to digest and scattering of what was handed over at
              \* h, and whether h did not know then that the receiver has failed
  knows,      \* knows[h] are the hosts of which h was told that they have failed
  came,       \* came[h][s] are the numbers of the messages of s that have arrived at h
  delivered,  \* delivered[h][s] are the numbers of the messages of s that h has delivered
  lastKey, \* lastKey[h] is the precedence of the last message delivered at h; <<>> for none
  highest,    \* highest[h][s] is the greatest timestamp of s that h has delivered; -1 for none
  cut,        \* cut[s] is the least timestamp of s that was told to be discarded; -1 for none
  stopped,    \* the nodes that have ever crashed
  anew,       \* the nodes that have begun anew
  failed,     \* something has crashed, or been cut
  heardUntil, \* heardUntil[n] is the time-out after the last arrival at n; -1 for none
  promised,   \* promised[l] is the greatest barrier put on link l; -1 for none
  said        \* said[l] is the greatest ack barrier put on link l; -1 for none
failSeen == <<handed, knows, came, delivered, lastKey, highest, cut, stopped, anew, failed, heardUntil, promised, said>>
failVars == <<reading, failSeen>>
-----------------------------------------------------------------------------
(* Whether what became of a scattering can be told. *)
AllIsTold == Net.hosts \subseteq Net.submitted \cap Net.delivered \cap Net.arrived

Key == Precedence(Timestamp, Sender)

CarriedKeeps ==
  [BarriersNeverFall |-> Barrier = Absent \/ Barrier >= promised[Link],         \* TO-BAR-RISE
   RestartKeepsBarriers |->                                                     \* TO-RESTART
     Node \in anew => Barrier \notin 0 .. promised[Link] - 1 /\ AckBarrier \notin 0 .. said[Link] - 1]

DeliverKeeps ==
  LET h == Node
      this == <<h, Number>>
      told == Sender \in Net.submitted
  IN
  [DeliveredOnceAsSent |->                                                      \* TO-ONCE
     /\ Receiver = h /\ Sender \in Net.hosts
     /\ ~ Has(delivered[h][Sender], Number)
     /\ told => this \in DOMAIN handed[Sender] /\ handed[Sender][this].digest = Digest,
   DeliveredInTotalOrder |-> lastKey[h] = <<>> \/ KeyBelow(lastKey[h], Key)] \* TO-ORDER

(* At the end of a run that has settled, after a failure. *)
Up == {h \in Net.hosts \ stopped : heardUntil[h] > Clock}

IsDelivered(s, to) == Has(delivered[to[1]][s], to[2])
Undelivered(s) == {to \in DOMAIN handed[s] : to[1] \in Up /\ ~ IsDelivered(s, to)}
NeverCame(s) == {to \in DOMAIN handed[s] : /\ handed[s][to].owed /\ to[1] \in Net.hosts
                                           /\ ~ Has(came[to[1]][s], to[2]) /\ ~ IsDelivered(s, to)}
Beside(s, to) == {other \in DOMAIN handed[s] : handed[s][other].scattering = handed[s][to].scattering}

FailSettleKeeps ==
  [ScatteringIsAllOrNothing |->                                                 \* TO-ATOMIC
     AllIsTold => \A s \in Net.hosts : \A to \in Undelivered(s) \cup NeverCame(s) :
       \A other \in Beside(s, to) : other[1] \in Up => ~ IsDelivered(s, other),
   FailureStopsNobody |->                                                       \* TO-FAIL
     AllIsTold =>
       /\ \A s \in Up : \A to \in Undelivered(s) : \E other \in Beside(s, to) : other[1] \notin Up
       /\ \A h \in Up, s \in Net.hosts : cut[s] = Absent \/ highest[h][s] < cut[s]]

FailAction ==
  CASE Kind = "sent" /\ Packet = "notice" -> "Tell"
    [] Kind = "arrived" /\ Packet = "notice" -> "ArriveControl"
    [] OTHER -> Action(FALSE)

FailKeeps(action) ==
  CASE Kind = "sent" /\ Node \in Net.sent -> CarriedKeeps
    [] Kind = "delivered" /\ Node \in Net.delivered -> DeliverKeeps
    [] action = "Settle" /\ failed -> FailSettleKeeps
    [] OTHER -> <<>>

FailWanted(clause) == IF clause = "BarriersNeverFall" THEN promised[Link] ELSE Absent
-----------------------------------------------------------------------------
(* What the observer remembers. *)
Hand ==
  /\ LET what == [digest |-> Digest, scattering |-> Scattering, owed |-> Receiver \notin knows[Node]]
     IN  handed' = [handed EXCEPT ![Node] = (<<Receiver, Number>> :> what) @@ @]
  /\ UNCHANGED <<knows, came, delivered, lastKey, highest, cut, stopped, anew, failed, heardUntil, promised, said>>

Speak ==
  /\ promised' = IF Barrier > promised[Link] THEN [promised EXCEPT ![Link] = Barrier] ELSE promised
  /\ said' = IF AckBarrier > said[Link] THEN [said EXCEPT ![Link] = AckBarrier] ELSE said
  /\ cut' = IF Packet = "notice" /\ Number = 0 /\ Sender \in Net.hosts /\ Timestamp # Absent
            THEN [cut EXCEPT ![Sender] = IF @ = Absent \/ Timestamp < @ THEN Timestamp ELSE @]
            ELSE cut
  /\ UNCHANGED <<handed, knows, came, delivered, lastKey, highest, stopped, anew, failed, heardUntil>>

Hear ==
  /\ heardUntil' = [heardUntil EXCEPT ![Node] = BusyUntil]
  /\ LET own == Receiver = Node /\ Sender \in Net.hosts
     IN
     /\ knows' = IF own /\ Packet = "notice" /\ Number = 0 THEN [knows EXCEPT ![Node] = @ \cup {Sender}] ELSE knows
     /\ came' = IF own /\ Data /\ Number >= 1
                THEN [came EXCEPT ![Node][Sender] = With(@, {Number})]
                ELSE came
  /\ UNCHANGED <<handed, delivered, lastKey, highest, cut, stopped, anew, failed, promised, said>>

Deliver ==
  /\ delivered' = [delivered EXCEPT ![Node][Sender] = With(@, {Number})]
  /\ highest' = [highest EXCEPT ![Node][Sender] = IF Timestamp > @ THEN Timestamp ELSE @]
  /\ lastKey' = [lastKey EXCEPT ![Node] = Key]
  /\ UNCHANGED <<handed, knows, came, cut, stopped, anew, failed, heardUntil, promised, said>>

(* A node, or a link alone. *)
Fail ==
  /\ failed' = (failed \/ Kind = "crashed")
  /\ stopped' = IF Kind = "crashed" /\ Link = Absent THEN stopped \cup {Node} ELSE stopped
  /\ anew' = IF Kind = "restarted" /\ Link = Absent THEN anew \cup {Node} ELSE anew
  /\ UNCHANGED <<handed, knows, came, delivered, lastKey, highest, cut, heardUntil, promised, said>>

FailRemember ==
  CASE Kind = "submitted" -> Hand
    [] Kind = "sent" -> Speak
    [] Kind = "arrived" -> Hear
    [] Kind = "delivered" /\ Sender \in Net.hosts /\ Number >= 1 -> Deliver
    [] Kind \in {"crashed", "restarted"} -> Fail
    [] OTHER -> UNCHANGED failSeen
-----------------------------------------------------------------------------
FailInit ==
  /\ BeginReading
  /\ LET nodes == DOMAIN Net.ingress
         links == DOMAIN Net.source
     IN
     /\ handed = [n \in nodes |-> <<>>]
     /\ knows = [n \in nodes |-> {}]
     /\ came = [n \in nodes |-> [s \in nodes |-> NoNumber]]
     /\ delivered = [n \in nodes |-> [s \in nodes |-> NoNumber]]
     /\ lastKey = [n \in nodes |-> <<>>]
     /\ highest = [n \in nodes |-> [s \in nodes |-> Absent]]
     /\ cut = [n \in nodes |-> Absent]
     /\ stopped = {} /\ anew = {} /\ failed = FALSE
     /\ heardUntil = [n \in nodes |-> Absent]
     /\ promised = [l \in links |-> Absent]
     /\ said = [l \in links |-> Absent]

ReadFailRow ==
  /\ Reading
  /\ LET action == FailAction
         broken == BrokenOf(FailKeeps(action))
     IN  IF broken = {} THEN Accept(action) /\ FailRemember
         ELSE Reject(action, broken, FailWanted) /\ UNCHANGED failSeen

FailNext == ReadFailRow \/ ((Finish \/ Over) /\ UNCHANGED failSeen)

FailSpec == FailInit /\ [][FailNext]_failVars
=============================================================================
