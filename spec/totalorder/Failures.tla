------------------------------ MODULE Failures ------------------------------
(***************************************************************************)
(* Reliable delivery where hosts, links and switches fail: receivers        *)
(* deliver by the ack barrier alone; a switch that hears nothing over a     *)
(* link gives it up and tells every host the cut-off of the hosts behind    *)
(* it; and when all have answered, the link counts in no minimum any more.  *)
(*                                                                         *)
(* Source: 1Pipe (SIGCOMM 2021), failure handling and restricted            *)
(* atomicity, as RULES.md has it; source document 000 (patent text) has     *)
(* ack barriers and nothing about failures.                                 *)
(*                                                                         *)
(* A link is given up at any moment, whether or not what is behind it has   *)
(* failed: no clock is trusted.  A copy of a scattering arrives at any      *)
(* moment or never; that stands for a crash in the midst of it, for loss    *)
(* and for resending.  A receiver delivers all that it may in one step.     *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Host,           \* numbers
  Switch,         \* numbers, others than the hosts'
  Link,           \* pairs <<source, target>>, both ways: a tree, each host a leaf
  Watched,        \* the links that their targets may give up: those that lead towards the root
  Destinations,   \* Destinations[h] is the set of receiver sets that h scatters to
  MostSent,       \* MostSent[h] is the number of scatterings after which h is silent
  Time,           \* the readings of clocks; 0 is before them all
  Stamps,         \* the timestamps that are given
  MostCrashed,    \* how many hosts crash, at most
  MostGivenUp,    \* how many links are given up, at most
  MostRestarts,   \* how often a switch restarts, at most
  KeepsBarriers,  \* whether barriers are kept beside the ack barriers, for rules that look at them
  Beacons,        \* of each kind of beacon what it carries: of "ack" and "barrier"
  AnswersTravel   \* whether answers are packets: a sender learns, or never, what was so when they left

CONSTANTS         \* the rules; see FailureRules
  CutOff(_, _),       \* the cut-off of a link, from its ack barrier and its barrier
  MayDeliver(_, _, _), \* whether a message is delivered, from its timestamp, ack barrier and barrier
  LowerHolds,         \* whether of two cut-offs of a host the lower one holds
  ClosesBack,         \* whether a node that gives a link up puts nothing on the link back any more
  RemovesAnswered,    \* whether a link counts until every host that has not failed has answered
  Recalls,            \* whether a scattering is recalled that a failed host had not acknowledged
  AnswersRecalled,    \* whether a host answers only when its recalled scatterings are settled
  NoticeResent,       \* whether notices are sent until they are answered
  RestartWaits,       \* whether a restarted switch tells nothing until every counted link has spoken
  SpeaksAlone,        \* whether a switch goes on to tell the time on a link to which no link is left that counts
  RestartTrusts,      \* whether it gives up links that have not spoken to it
  Speaks(_)           \* whether a link has spoken with a beacon that carries this

Sender == {h \in Host : Destinations[h] # {}}
Max(a, b) == IF a >= b THEN a ELSE b
Min(a, b) == IF a <= b THEN a ELSE b
Least(S) == CHOOSE x \in S : \A y \in S : x <= y
Greatest(S) == CHOOSE x \in S : \A y \in S : y <= x
None == Greatest(Time) + 2   \* the cut-off of a host that has not failed: above all there is

ASSUME NodesAreNumbers == Host \subseteq Nat /\ Switch \subseteq Nat /\ Host \cap Switch = {}
ASSUME LinksGoBothWays == \A l \in Link : <<l[2], l[1]>> \in Link
ASSUME HostsAreLeaves == \A h \in Host : Cardinality({l \in Link : l[1] = h}) = 1
ASSUME SwitchesWatch == \A l \in Watched : l \in Link /\ l[2] \in Switch
ASSUME TimeIsPositive == Time \subseteq Nat \ {0} /\ 1 \in Time /\ Stamps \subseteq Time

Back(l) == <<l[2], l[1]>>
First == [h \in Host |-> CHOOSE l \in Link : l[1] = h]
SwitchEgress == {l \in Link : l[1] \in Switch}

(* The hosts whose routes to the target of l take l. *)
RECURSIVE HostsBehind(_)
HostsBehind(l) ==
  IF l[1] \in Host THEN {l[1]}
  ELSE UNION {HostsBehind(k) : k \in {j \in Link : j[2] = l[1] /\ j # Back(l)}}
Behind == [l \in Link |-> HostsBehind(l)]

(* The links that data to l come over. *)
Reaching == [l \in SwitchEgress |-> {k \in Link : k[2] = l[1] /\ k # Back(l) /\ Behind[k] \cap Sender # {}}]

VARIABLES
  clock,     \* clock[s] is the local clock of sender s
  sent,      \* sent[h] is the sequence of h's scatterings, oldest first
  settled,   \* settled[s] has <<n, r>> when s need not wait for r's answer to scattering n any more
  recalled,  \* recalled[s] is the set of the scatterings of s that it has recalled
  answers,   \* the answers <<s, n, r, what>> that have left, where they travel
  void,      \* void[r] is the set of messages that were recalled at r
  buffer,    \* buffer[r] is the set of messages received and not delivered
  delivered, \* delivered[h] is the sequence of h's deliveries, oldest first
  ack,       \* ack[l] is the ack barrier that the target of link l holds of it
  barrier,   \* barrier[l] is its barrier, where barriers are kept
  given,     \* given[l] is the cut-off of the hosts behind link l, or None
  removed,   \* the links that count in no minimum any more
  cut,       \* cut[r][f] is the cut-off of host f that r was told, or None
  mislaid,   \* the notices <<l, f, r>> that were lost, where none is sent again
  crashed,   \* the hosts that have crashed
  unheard,   \* the links that have told no ack barrier since the switch they lead to restarted
  silent,    \* those of them that have not spoken
  restarts   \* how often a switch restarted
sending == <<clock, sent>>
holding == <<void, buffer, delivered>>
knowing == <<settled, recalled>>
waiting == <<knowing, answers>>
hearing == <<unheard, silent>>
links == <<ack, barrier, hearing, restarts>>
failing == <<given, removed, cut, mislaid, crashed>>
vars == <<sending, waiting, holding, links, failing>>
-----------------------------------------------------------------------------
Message(s, n) == [sender |-> s, number |-> n, timestamp |-> sent[s][n].timestamp]
Done(r) == {delivered[r][i] : i \in DOMAIN delivered[r]}
Received(r) == buffer[r] \cup Done(r)
Last(history) == IF history = <<>> THEN 0 ELSE history[Len(history)].timestamp

Frozen == {l \in Watched : given[l] # None}
Failed == UNION {Behind[l] : l \in Frozen}
Live == Host \ (Failed \cup crashed)
Known(r) == {f \in Host : cut[r][f] # None}

(* The scatterings of s that somebody who matters to s has not answered. *)
Outstanding(s) == {n \in DOMAIN sent[s] : \E r \in sent[s][n].receivers \ Known(s) : <<n, r>> \notin settled[s]}
AckBarrier(s) ==                                                       \* TO-ACK-INIT, TO-ACK-IDLE
  IF Outstanding(s) # {} THEN sent[s][Least(Outstanding(s))].timestamp - 1
  ELSE IF Last(sent[s]) = clock[s] THEN clock[s] ELSE clock[s] - 1

RECURSIVE InOrder(_)
InOrder(S) ==
  IF S = {} THEN <<>>
  ELSE LET m == CHOOSE m \in S : \A n \in S : \/ m.timestamp < n.timestamp
                                              \/ m.timestamp = n.timestamp /\ m.sender <= n.sender
       IN  <<m>> \o InOrder(S \ {m})

(* What r has once it holds these messages, and of its link these barriers. *)
Holds(r, messages, a, b) ==
  LET now == {m \in messages : MayDeliver(m.timestamp, a, b)} IN
  /\ buffer' = [buffer EXCEPT ![r] = messages \ now]
  /\ delivered' = [delivered EXCEPT ![r] = @ \o InOrder(now)]

LastLink(r) == Back(First[r])
-----------------------------------------------------------------------------
Init ==
  /\ clock = [s \in Sender |-> 1]
  /\ sent = [h \in Host |-> <<>>]
  /\ settled = [s \in Sender |-> {}]
  /\ recalled = [s \in Sender |-> {}]
  /\ answers = {}
  /\ void = [h \in Host |-> {}]
  /\ buffer = [h \in Host |-> {}]
  /\ delivered = [h \in Host |-> <<>>]
  /\ ack = [l \in Link |-> 0]
  /\ barrier = [l \in Link |-> 0]
  /\ given = [l \in Watched |-> None]
  /\ removed = {}
  /\ cut = [r \in Host |-> [f \in Host |-> None]]
  /\ mislaid = {}
  /\ crashed = {}
  /\ unheard = {} /\ silent = {}
  /\ restarts = 0

Tick(s) ==
  /\ s \notin crashed /\ clock[s] + 1 \in Time
  /\ clock' = [clock EXCEPT ![s] = @ + 1]
  /\ UNCHANGED <<sent, waiting, holding, links, failing>>

(* A sender scatters to those that it does not know to have failed. *)
Scatter(s, receivers) ==
  LET left == receivers \ Known(s) IN
  /\ s \notin crashed /\ left # {}
  /\ Len(sent[s]) < MostSent[s] /\ clock[s] \in Stamps
  /\ Last(sent[s]) < clock[s]                                          \* TO-MONO
  /\ sent' = [sent EXCEPT ![s] = Append(@, [timestamp |-> clock[s], receivers |-> left])]
  /\ UNCHANGED <<clock, waiting, holding, links, failing>>

(***************************************************************************)
(* A copy arrives.  It may have been on its way when its sender failed, and *)
(* links are FIFO: it comes earlier than the notice.                        *)
(***************************************************************************)
Arrive(s, n, r) ==
  /\ r \in sent[s][n].receivers /\ r \notin crashed /\ s \notin Known(r)
  /\ Message(s, n) \notin Received(r) \cup void[r]
  /\ Holds(r, buffer[r] \cup {Message(s, n)}, ack[LastLink(r)], barrier[LastLink(r)])
  /\ UNCHANGED <<sending, waiting, void, links, failing>>

(* A receiver answers; that one sent earlier is not taken again is a loss, too. *)
Answer(s, n, r) ==
  /\ AnswersTravel /\ r \notin crashed
  /\ \/ Message(s, n) \in Received(r) /\ answers' = answers \cup {<<s, n, r, "received">>}
     \/ Message(s, n) \in void[r] /\ answers' = answers \cup {<<s, n, r, "discarded">>}
  /\ UNCHANGED <<sending, knowing, holding, links, failing>>

(* A sender learns that a message was received, or a recalled one discarded. *)
Learn(s, n, r) ==
  /\ s \notin crashed /\ r \in sent[s][n].receivers \ Known(s) /\ <<n, r>> \notin settled[s]
  /\ IF AnswersTravel THEN <<s, n, r, IF n \in recalled[s] THEN "discarded" ELSE "received">> \in answers
     ELSE Message(s, n) \in IF n \in recalled[s] THEN void[r] ELSE Received(r)
  /\ settled' = [settled EXCEPT ![s] = @ \cup {<<n, r>>}]
  /\ UNCHANGED <<sending, recalled, answers, holding, links, failing>>

(* A receiver discards a recalled message, or will not take it (TO-ATOMIC). *)
TakeRecall(s, n, r) ==
  /\ n \in recalled[s] /\ r \in sent[s][n].receivers /\ r \notin crashed /\ s \notin Known(r)
  /\ Message(s, n) \notin void[r]
  /\ void' = [void EXCEPT ![r] = @ \cup {Message(s, n)}]
  /\ buffer' = [buffer EXCEPT ![r] = @ \ {Message(s, n)}]
  /\ UNCHANGED <<sending, waiting, delivered, links, failing>>

(* A beacon that carries this comes over link l, with these barriers. *)
Tells(l, carried, a, b) ==
  /\ ack' = IF "ack" \in carried THEN [ack EXCEPT ![l] = a] ELSE ack
  /\ barrier' = IF "barrier" \in carried THEN [barrier EXCEPT ![l] = b] ELSE barrier
  /\ unheard' = IF "ack" \in carried THEN unheard \ {l} ELSE unheard
  /\ silent' = IF Speaks(carried) THEN silent \ {l} ELSE silent

HostBeacon(s) ==
  /\ s \notin crashed /\ First[s] \notin Frozen
  /\ \E carried \in Beacons : Tells(First[s], carried, AckBarrier(s), IF KeepsBarriers THEN clock[s] ELSE 0)
  /\ UNCHANGED <<sending, waiting, holding, failing, restarts>>

(* The least timestamp that is missing at r: being in the loss state, r does not deliver by a barrier above it. *)
Missing(r) ==
  Least({None} \cup {sent[s][n].timestamp : <<s, n>> \in
    {<<s, n>> \in Sender \X (1 .. Greatest({MostSent[s] : s \in Sender})) :
      /\ n \in DOMAIN sent[s] /\ r \in sent[s][n].receivers /\ s \notin Known(r)
      /\ Message(s, n) \notin Received(r) \cup void[r]}})

(* A switch tells the minimum over the links that count on link l. *)
SwitchBeacon(l) ==
  LET counted == Reaching[l] \ removed
      alone == {Greatest(Time) : k \in {j \in {l} : SpeaksAlone /\ counted = {}}}
      a == Least({ack[k] : k \in counted} \cup alone)                   \* TO-ACK-MIN
      b == IF KeepsBarriers THEN Least({barrier[k] : k \in counted} \cup alone) ELSE 0
      most == IF KeepsBarriers /\ l[2] \in Host THEN Min(b, Missing(l[2])) ELSE b
  IN
  /\ Reaching[l] # {} /\ (counted # {} \/ SpeaksAlone) /\ l \notin Frozen /\ (ClosesBack => Back(l) \notin Frozen)
  /\ RestartWaits => counted \cap unheard = {}                         \* TO-RESTART
  /\ \E carried \in Beacons : Tells(l, carried, a, most)
  /\ <<ack', barrier'>> # <<ack, barrier>>
  /\ IF l[2] \in Host /\ l[2] \notin crashed THEN Holds(l[2], buffer[l[2]], ack'[l], barrier'[l])
     ELSE UNCHANGED <<buffer, delivered>>
  /\ UNCHANGED <<sending, waiting, void, failing, restarts>>

Crash(h) ==
  /\ h \notin crashed /\ Cardinality(crashed) < MostCrashed
  /\ crashed' = crashed \cup {h}
  /\ UNCHANGED <<sending, waiting, holding, links, given, removed, cut, mislaid>>

(***************************************************************************)
(* The node at the end of link l gives it up: its registers stay as they    *)
(* are, and hold every minimum down that they count in.                     *)
(***************************************************************************)
GiveUp(l) ==
  /\ l \notin Frozen /\ Cardinality(Frozen) < MostGivenUp
  /\ RestartTrusts \/ l \notin silent
  /\ given' = [given EXCEPT ![l] = CutOff(ack[l], barrier[l])]
  /\ UNCHANGED <<sending, waiting, holding, links, removed, cut, mislaid, crashed>>

(* What r makes of it that f has failed: as a receiver, and as a sender. *)
Takes(r, f, cutoff) ==
  LET above == {m \in buffer[r] : m.sender = f /\ m.timestamp > cutoff}
      unanswered == {n \in DOMAIN sent[r] : f \in sent[r][n].receivers /\ <<n, f>> \notin settled[r]}
  IN
  /\ cut' = [cut EXCEPT ![r][f] = cutoff]
  /\ buffer' = [buffer EXCEPT ![r] = @ \ above]                        \* TO-FAIL
  /\ IF r \in Sender /\ f \notin Known(r) /\ Recalls
     THEN /\ recalled' = [recalled EXCEPT ![r] = @ \cup unanswered]    \* TO-ATOMIC
          /\ settled' = [settled EXCEPT ![r] = {p \in @ : p[1] \notin unanswered \ recalled[r]}]
     ELSE UNCHANGED knowing

Answered(l, f, r) == cut[r][f] <= given[l]

(* A notice comes to a host that has not failed. *)
Notice(l, f, r) ==
  /\ l \in Frozen /\ f \in Behind[l] /\ r \in Host \ (Failed \cup crashed)
  /\ ~ Answered(l, f, r) /\ <<l, f, r>> \notin mislaid
  /\ LowerHolds \/ f \notin Known(r)
  /\ Takes(r, f, given[l])
  /\ UNCHANGED <<sending, answers, void, delivered, links, given, removed, mislaid, crashed>>

(* A notice is lost; where notices are sent again, that changes nothing. *)
LoseNotice(l, f, r) ==
  /\ ~ NoticeResent /\ l \in Frozen /\ f \in Behind[l] /\ r \in Live
  /\ ~ Answered(l, f, r)
  /\ mislaid' = mislaid \cup {<<l, f, r>>}
  /\ UNCHANGED <<sending, waiting, holding, links, given, removed, cut, crashed>>

(* When all have answered, a link that was given up counts no more. *)
Remove(l) ==
  /\ l \in Frozen \ removed
  /\ RemovesAnswered =>
       \A r \in Host \ Failed, f \in Behind[l] :
         /\ IF LowerHolds THEN Answered(l, f, r) ELSE f \in Known(r)
         /\ AnswersRecalled /\ r \in Sender => Outstanding(r) \cap recalled[r] = {}
  /\ removed' = removed \cup {l}
  /\ UNCHANGED <<sending, waiting, holding, links, given, cut, mislaid, crashed>>

(* A switch forgets what its links told it.  It has given up none: RULES.md says what is done otherwise. *)
Restart(x) ==
  LET into == {l \in Link : l[2] = x /\ Behind[l] \cap Sender # {}} IN
  /\ restarts < MostRestarts /\ into \cap Frozen = {}
  /\ restarts' = restarts + 1
  /\ ack' = [l \in Link |-> IF l \in into THEN 0 ELSE ack[l]]
  /\ barrier' = [l \in Link |-> IF l \in into THEN 0 ELSE barrier[l]]
  /\ unheard' = unheard \cup into /\ silent' = silent \cup into
  /\ UNCHANGED <<sending, waiting, holding, failing>>

(* Everything that goes on as long as it changes anything. *)
Progress ==
  \/ \E s \in Sender :
       \/ Tick(s) \/ HostBeacon(s)
       \/ \E n \in DOMAIN sent[s], r \in Host : Answer(s, n, r) \/ Learn(s, n, r) \/ TakeRecall(s, n, r)
       \/ s \in Live /\ \E n \in DOMAIN sent[s], r \in Host : Arrive(s, n, r)
  \/ \E l \in SwitchEgress : SwitchBeacon(l)
  \/ \E l \in Watched : \/ Behind[l] \subseteq crashed /\ GiveUp(l)
                        \/ Remove(l)
                        \/ \E f, r \in Host : Notice(l, f, r)

(* It only keeps plain TLC from calling the end of a bounded time a deadlock. *)
Rest == UNCHANGED vars

Next ==
  \/ Progress
  \/ \E s \in Sender : \E n \in DOMAIN sent[s], r \in Host : Arrive(s, n, r)
  \/ \E s \in Sender : \E receivers \in Destinations[s] : Scatter(s, receivers)
  \/ \E h \in Host : Crash(h)
  \/ \E l \in Watched : GiveUp(l) \/ \E f, r \in Host : LoseNotice(l, f, r)
  \/ \E x \in Switch : Restart(x)
  \/ Rest

Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Progress)
-----------------------------------------------------------------------------
Abstract == INSTANCE TotalOrder
DeliveredInTotalOrder == Abstract!DeliveredInTotalOrder   \* TO-ORDER
DeliveredOnceAsSent == Abstract!DeliveredOnceAsSent       \* TO-ONCE

TypeOK ==
  /\ Abstract!TypeOK
  /\ clock \in [Sender -> Time]
  /\ \A h \in Host : buffer[h] \cup void[h] \subseteq Abstract!Delivery
  /\ ack \in [Link -> Nat] /\ barrier \in [Link -> Nat]
  /\ removed \subseteq Frozen /\ silent \cup unheard \subseteq Link /\ crashed \subseteq Host

(* Whether m will never come to r, though it is for r. *)
Lacks(r, m) == m \notin Received(r) /\ (m.sender \in Known(r) \/ m \in void[r])
Sent == UNION {{Message(s, n) : n \in DOMAIN sent[s]} : s \in Sender}
ReceiversOf(m) == sent[m.sender][m.number].receivers

(* TO-FAIL, its safety: live receivers deliver of a failed host exactly what  *)
(* is at or below the cut-off, each that was told of it.                      *)
CutOffIsAgreed ==
  \A r \in Live : \A f \in Known(r) :
    /\ \A m \in Done(r) : m.sender = f => m.timestamp <= cut[r][f]
    /\ \A m \in Sent : m.sender = f /\ r \in ReceiversOf(m) /\ m.timestamp <= cut[r][f] /\ m \notin void[r]
                         => m \in Received(r)

(* TO-ATOMIC: what one live receiver delivers, none of the others lacks for ever. *)
ScatteringIsAllOrNothing ==
  \A m \in Sent : (\E r \in Live : m \in Done(r)) => \A q \in ReceiversOf(m) \cap Live : ~ Lacks(q, m)

(* The same, with what a host delivered and then failed, and of what a host   *)
(* had received when it failed.                                               *)
AllOrNothingWithFailed ==
  \A m \in Sent : (\E r \in Host : m \in Done(r)) =>
    \A q \in ReceiversOf(m) : ~ Lacks(q, m) /\ (q \notin Live => m \in Received(q))

(* Of live receivers and what failed ones delivered alone. *)
FailedDeliveredIsDelivered ==
  \A m \in Sent : (\E r \in Host : m \in Done(r)) => \A q \in ReceiversOf(m) \cap Live : ~ Lacks(q, m)

(* Where links are given up from both ends: the part of the network that the  *)
(* host with the least number is in agrees, as do those that the root has not *)
(* given up.                                                                  *)
FromRoot(l) == l[1] \in Host \/ Least(Host) \notin Behind[l]
RootPart == Host \ (crashed \cup UNION {Behind[l] : l \in {k \in Frozen : FromRoot(k)}})
PartsAgree ==
  \A m \in Sent : (\E r \in RootPart : m \in Done(r)) => \A q \in ReceiversOf(m) \cap RootPart : ~ Lacks(q, m)

(* TO-BAR-RISE and TO-RESTART: what a switch tells on a link never falls. *)
RestartKeepsBarriers == [][\A l \in SwitchEgress : ack'[l] >= ack[l] \/ (l[2] \in Switch /\ restarts' # restarts)]_vars

(***************************************************************************)
(* TO-FAIL: hosts that have not failed go on: under fairness they deliver   *)
(* all that one of them scatters and does not recall.                       *)
(***************************************************************************)
FailureStopsNobody ==
  <>[](\A m \in Sent : m.sender \in Live /\ m.number \notin recalled[m.sender]
         => \A r \in ReceiversOf(m) \cap Live : m \in Done(r))
-----------------------------------------------------------------------------
(* Reachability: TLC must refute each of these. *)

(* A message at or below the cut-off of a failed host is delivered, and one above it is not. *)
CutBetweenReach ==
  \A f \in Failed, r \in Live :
    ~ (f \in Known(r) /\ Len(sent[f]) = 2 /\ Done(r) # {} /\ sent[f][2].timestamp > cut[r][f] /\ removed # {})

(* A scattering is recalled at a receiver that had it. *)
RecallReach == [][\A r \in Host : void'[r] = void[r] \/ buffer'[r] = buffer[r]]_vars

(* After a removal a live host's message is delivered. *)
GoesOnReach ==
  ~ \E r \in Live : \E m \in Done(r) :
      removed # {} /\ m.sender \in Live /\ \E l \in Watched : given[l] < m.timestamp

(* A switch restarts, and a message is delivered later. *)
RestartedReach == [][restarts > 0 => delivered' = delivered]_vars
=============================================================================
