---------------------------- MODULE FailureState ----------------------------
(***************************************************************************)
(* The network, the rules and the state of Failures, and what is read off  *)
(* the state.                                                              *)
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

(* Packets on FIFO links, and switches that do not restart: few at a time, for few states. *)
PacketsTravel == FALSE
MostInFlight == 1
MostLost == 0            \* how many packets links lose, at most
RepeatsBeacons == TRUE   \* whether a beacon that was lost is sent again though nothing is new
RepeatsAnswers == TRUE   \* whether a host answers what it has answered, when it comes again
TakesGivenUp == FALSE    \* whether what was under way on a link that is given up is taken after that

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
ASSUME TravelIsPastNoRestart == PacketsTravel => MostRestarts = 0 /\ ~ KeepsBarriers /\ Cardinality(Beacons) = 1
ASSUME TimeIsPositive == Time \subseteq Nat \ {0} /\ 1 \in Time /\ Stamps \subseteq Time

Back(l) == <<l[2], l[1]>>
First == [h \in Host |-> CHOOSE l \in Link : l[1] = h]
SwitchEgress == {l \in Link : l[1] \in Switch}

(* The nodes, and the hosts, whose routes to the target of l take l; and the link on which a switch sends to a node. *)
RECURSIVE NodesBehind(_)
NodesBehind(l) == {l[1]} \cup UNION {NodesBehind(k) : k \in {j \in Link : j[2] = l[1] /\ j # Back(l)}}
Behind == [l \in Link |-> NodesBehind(l) \cap Host]
Onwards == [x \in Switch, node \in Host \cup Switch |->
  IF x = node THEN <<>> ELSE CHOOSE l \in Link : l[1] = x /\ node \in NodesBehind(Back(l))]

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
  mislaid,   \* what was lost, where it is not sent again: notices <<l, f, r>>, and answers
  flying,    \* flying[l] is the sequence of packets on link l, oldest first, where packets travel
  told,      \* told[l] is the last ack barrier put on link l, where beacons are not repeated
  heard,     \* the notices <<l, f, r>> whose answer has come, where packets travel
  lost,      \* how many packets were lost
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
travelling == <<flying, told, heard, lost>>
failing == <<given, removed, cut, mislaid, crashed>>
vars == <<sending, waiting, holding, links, failing, travelling>>
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

(* A packet is put on link l, where there is room. *)
RECURSIVE InFlight(_)
InFlight(S) == IF S = {} THEN 0 ELSE LET l == CHOOSE l \in S : TRUE IN Len(flying[l]) + InFlight(S \ {l})
HasRoom == InFlight(Link) < MostInFlight
OnTheWay == UNION {{flying[l][i] : i \in DOMAIN flying[l]} : l \in Link}
=============================================================================
