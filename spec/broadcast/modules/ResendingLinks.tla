--------------------------- MODULE ResendingLinks ---------------------------
(***************************************************************************)
(* Perfect links over datagrams that are lost, delayed, reordered and      *)
(* duplicated: packets are numbered, sent again until they are             *)
(* acknowledged, and known again by what the receiver remembers.  The      *)
(* rules that the source document argues about, or leaves open, are        *)
(* operator constants.                                                     *)
(*                                                                         *)
(* Source: source document 004, perfect links.  Refines PerfectLinks.      *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Process,
  Script,                 \* Script[p] is the sequence of the receivers of the messages that p is handed
  MostCrashed,            \* how many processes may crash
  Window,                 \* most packets of a sender that one destination has not acknowledged
  Number(_, _),           \* Number(made, q): of the next packet to q; made[r] packets were made for r so far
  ResentAs(_, _),         \* ResentAs(number, next): the number that a packet is sent again with
  MayGo(_, _, _),         \* MayGo(its, all, window): whether another packet may be sent to a destination: how many of
                          \* its packets, and of all, are not acknowledged, and the window
  KeyOf(_),               \* KeyOf(p): under which key a receiver remembers what it delivered from p
  Remember(_, _),         \* Remember(record, number): the record with that number, too
  Answers(_),             \* Answers(new): whether a packet, new or not, is acknowledged
  AnswersRefused(_),      \* AnswersRefused(q): whether q acknowledges what it had no room to store
  Removes(_, _, _, _),    \* Removes(number, to, acknowledged, by): whether that acknowledgement ends that packet
  MayGiveUp(_)            \* MayGiveUp(crashed): whether a packet is dropped, its destination having crashed or not

VARIABLES
  numbered,  \* numbered[p][i] is the number of the packet that p has made of message i of its script, 0 before
  pending,   \* pending[p] is the set of the messages of p that are not acknowledged, as indices of its script
  channel,   \* the packets under way: a set, so that they arrive in any order
  record,    \* record[q][k] is what q remembers of what it delivered under key k: a prefix, and numbers beyond it
  copies,    \* copies[p][i] is how often message i of p was delivered
  crashed
vars == <<numbered, pending, channel, record, copies, crashed>>

Sent(p) == {i \in DOMAIN Script[p] : numbered[p][i] > 0}
To(p, i) == Script[p][i]
Made(p) == [q \in Process |-> Cardinality({i \in Sent(p) : To(p, i) = q})]
Unacknowledged(p, q) == Cardinality({i \in pending[p] : To(p, i) = q})
Known(r, number) == number <= r.prefix \/ number \in r.beyond

Data(p, i, number) == [kind |-> "DATA", from |-> p, to |-> To(p, i), number |-> number, message |-> i]
Ack(packet) == [kind |-> "ACK", from |-> packet.to, to |-> packet.from, number |-> packet.number, message |-> 0]
-----------------------------------------------------------------------------
Init ==
  /\ numbered = [p \in Process |-> [i \in DOMAIN Script[p] |-> 0]]
  /\ pending = [p \in Process |-> {}]
  /\ channel = {}
  /\ record = [p \in Process |-> [q \in Process |-> [prefix |-> 0, beyond |-> {}]]]
  /\ copies = [p \in Process |-> [i \in DOMAIN Script[p] |-> 0]]
  /\ crashed = {}

(* Messages for one destination are sent in the order in which they were handed over; destinations do not wait for *)
(* each other.                                                                                                       *)
Send(p, i) ==
  /\ p \notin crashed
  /\ i \notin Sent(p)
  /\ \A j \in 1 .. i - 1 : To(p, j) = To(p, i) => j \in Sent(p)
  /\ MayGo(Unacknowledged(p, To(p, i)), Cardinality(pending[p]), Window)
  /\ LET n == Number(Made(p), To(p, i)) IN
     /\ numbered' = [numbered EXCEPT ![p][i] = n]
     /\ pending' = [pending EXCEPT ![p] = @ \cup {i}]
     /\ channel' = channel \cup {Data(p, i, n)}
  /\ UNCHANGED <<record, copies, crashed>>

(* BC-PL-RESEND.  While a copy is under way another changes nothing: it could be duplicated as well. *)
Resend(p, i) ==
  /\ p \notin crashed
  /\ i \in pending[p]
  /\ LET packet == Data(p, i, ResentAs(numbered[p][i], Number(Made(p), To(p, i)))) IN
     /\ packet \notin channel
     /\ channel' = channel \cup {packet}
  /\ UNCHANGED <<numbered, pending, record, copies, crashed>>

(* What arrives may stay in the channel, too: then it was duplicated. *)
Arrive(packet, stays) ==
  /\ packet \in channel
  /\ packet.kind = "DATA"
  /\ packet.to \notin crashed
  /\ LET q == packet.to
         k == KeyOf(packet.from)
         new == ~ Known(record[q][k], packet.number) IN
     /\ record' = IF new THEN [record EXCEPT ![q][k] = Remember(@, packet.number)] ELSE record
     /\ copies' = IF new THEN [copies EXCEPT ![packet.from][packet.message] = @ + 1] ELSE copies
     /\ channel' = (IF stays THEN channel ELSE channel \ {packet})
                     \cup (IF Answers(new) THEN {Ack(packet)} ELSE {})
  /\ UNCHANGED <<numbered, pending, crashed>>

(* The receiver has no room for what arrives, as a bounded pool of handlers may have none. *)
Refuse(packet) ==
  /\ packet \in channel
  /\ packet.kind = "DATA"
  /\ packet.to \notin crashed
  /\ channel' = (channel \ {packet}) \cup (IF AnswersRefused(packet.to) THEN {Ack(packet)} ELSE {})
  /\ UNCHANGED <<numbered, pending, record, copies, crashed>>

Acknowledge(packet) ==
  /\ packet \in channel
  /\ packet.kind = "ACK"
  /\ packet.to \notin crashed
  /\ LET p == packet.to IN
     pending' = [pending EXCEPT ![p] =
                   {i \in @ : ~ Removes(numbered[p][i], To(p, i), packet.number, packet.from)}]
  /\ channel' = channel \ {packet}
  /\ UNCHANGED <<numbered, record, copies, crashed>>

Lose(packet) ==
  /\ packet \in channel
  /\ channel' = channel \ {packet}
  /\ UNCHANGED <<numbered, pending, record, copies, crashed>>

GiveUp(p, i) ==
  /\ i \in pending[p]
  /\ MayGiveUp(To(p, i) \in crashed)
  /\ pending' = [pending EXCEPT ![p] = @ \ {i}]
  /\ UNCHANGED <<numbered, channel, record, copies, crashed>>

Crash(p) ==
  /\ p \notin crashed
  /\ Cardinality(crashed) < MostCrashed
  /\ crashed' = crashed \cup {p}
  /\ UNCHANGED <<numbered, pending, channel, record, copies>>

(* It only keeps plain TLC from calling the end of a bounded run a deadlock. *)
Rest == UNCHANGED vars

Sends == \E p \in Process : \E i \in DOMAIN Script[p] : Send(p, i)
Resends == \E p \in Process : \E i \in pending[p] : Resend(p, i)
Arrives == \E packet \in channel, stays \in BOOLEAN : Arrive(packet, stays)
Refuses == \E packet \in channel : Refuse(packet)
IsAcknowledged == \E packet \in channel : Acknowledge(packet)
IsLost == \E packet \in channel : Lose(packet)
GivesUp == \E p \in Process : \E i \in pending[p] : GiveUp(p, i)

Next ==
  \/ Sends
  \/ Resends
  \/ Arrives
  \/ Refuses
  \/ IsAcknowledged
  \/ IsLost
  \/ GivesUp
  \/ \E p \in Process : Crash(p)
  \/ Rest

Spec == Init /\ [][Next]_vars
-----------------------------------------------------------------------------
(***************************************************************************)
(* Fair loss: what is sent again and again arrives again and again.        *)
(***************************************************************************)
Numbers == 1 .. Cardinality(UNION {{<<p, i>> : i \in DOMAIN Script[p]} : p \in Process})
EverUnderWay == UNION {{Data(p, i, n) : i \in DOMAIN Script[p], n \in Numbers} : p \in Process}

Fairness ==
  /\ \A p \in Process : \A i \in DOMAIN Script[p] : WF_vars(Send(p, i)) /\ WF_vars(Resend(p, i))
  /\ \A packet \in EverUnderWay : SF_vars(Arrive(packet, FALSE)) /\ SF_vars(Acknowledge(Ack(packet)))

FairSpec == Spec /\ Fairness
-----------------------------------------------------------------------------
Handable == UNION {{<<p, To(p, i), i>> : i \in DOMAIN Script[p]} : p \in Process}

Links == INSTANCE PerfectLinks WITH
  handed <- {x \in Handable : x[3] \in Sent(x[1])},
  arrived <- {x \in Handable : copies[x[1]][x[3]] > 0}

RefinesPerfectLinks == Links!Spec
RefinesFairLinks == Links!FairSpec

TypeOK ==
  /\ \A p \in Process : pending[p] \subseteq Sent(p)
  /\ \A packet \in channel : packet.kind \in {"DATA", "ACK"} /\ packet.from \in Process /\ packet.to \in Process
  /\ crashed \subseteq Process

(* BC-PL-RELIABLE: what is sent is delivered in the end, if both are correct. *)
SentIsDelivered ==
  \A p \in Process : \A i \in DOMAIN Script[p] :
    (i \in Sent(p)) ~> (copies[p][i] > 0 \/ p \in crashed \/ To(p, i) \in crashed)

(* What BC-PL-RELIABLE needs in every state: none but the sender can bring it again. *)
UndeliveredIsPending ==
  \A p \in Process \ crashed : \A i \in Sent(p) :
    copies[p][i] = 0 /\ To(p, i) \notin crashed => i \in pending[p]

(* BC-PL-ONCE *)
LinkDeliversOnce == \A p \in Process : \A i \in DOMAIN Script[p] : copies[p][i] <= 1

(* BC-PL-REAL *)
LinkDeliversSent == \A p \in Process : \A i \in DOMAIN Script[p] : copies[p][i] > 0 => i \in Sent(p)

(* BC-PL-PSEQ: numbers from 1 for each destination, and a packet keeps its own. *)
LinkNumbersApart ==
  /\ \A p \in Process : \A i \in Sent(p) :
       numbered[p][i] = Cardinality({j \in 1 .. i : To(p, j) = To(p, i)})
  /\ \A packet \in channel : packet.kind = "DATA" => packet.number = numbered[packet.from][packet.message]

(* BC-PL-RESEND: what is pending for a correct process is under way again, and comes to an end. *)
UnacknowledgedIsResent ==
  \A p \in Process : \A i \in DOMAIN Script[p] :
    (i \in pending[p] /\ p \notin crashed)
      ~> (i \notin pending[p] \/ p \in crashed \/ To(p, i) \in crashed)

(* BC-PL-MEMORY: each gap is a packet that still comes, so that every prefix collapses; and the window bounds what *)
(* is kept for a destination.                                                                                      *)
DeliveredPrefixCollapses ==
  /\ \A q \in Process \ crashed : \A p \in Process :
       LET r == record[q][KeyOf(p)] IN
       /\ r.prefix + 1 \notin r.beyond
       /\ \A n \in r.beyond : \A gap \in r.prefix + 1 .. n :
            gap \in r.beyond \/ \E i \in Sent(p) : To(p, i) = q /\ numbered[p][i] = gap
  /\ \A p, q \in Process : Unacknowledged(p, q) <= Window

(* What BC-PL-RELIABLE needs besides: those that have crashed hold up nobody else. *)
CrashedStopNobody ==
  \A p \in Process \ crashed : \A q \in Process \ crashed :
    (\A i \in pending[p] : To(p, i) \in crashed) => MayGo(0, Cardinality(pending[p]), Window)

(* Reachability: TLC must refute these. *)
NoLateCopyReach ==
  ~ \E packet \in channel : packet.kind = "DATA" /\ packet.message \notin pending[packet.from]
                            /\ copies[packet.from][packet.message] > 0
NoGapReach == \A q, p \in Process : record[q][p].beyond = {}
=============================================================================
