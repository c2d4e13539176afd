--------------------------- MODULE FailureClauses ---------------------------
(***************************************************************************)
(* What Failures must keep, a clause an operator under the clause's name;  *)
(* and what TLC must refute, so that no instance is empty.                 *)
(***************************************************************************)
EXTENDS Failures
-----------------------------------------------------------------------------
Abstract == INSTANCE TotalOrder
DeliveredInTotalOrder == Abstract!DeliveredInTotalOrder   \* TO-ORDER
DeliveredOnceAsSent == Abstract!DeliveredOnceAsSent       \* TO-ONCE

TypeOK ==
  /\ Abstract!TypeOK
  /\ clock \in [Sender -> Time]
  /\ \A h \in Host : buffer[h] \cup void[h] \subseteq Abstract!Delivery
  /\ ack \in [Link -> Nat] /\ barrier \in [Link -> Nat]
  /\ lost \in 0 .. MostLost /\ InFlight(Link) <= MostInFlight
  /\ removed \subseteq Frozen /\ silent \cup unheard \subseteq Link /\ crashed \subseteq Host

(* Whether m will never come to r, though it is for r. *)
Lacks(r, m) == m \notin Received(r) /\ (m.sender \in Known(r) \/ m \in void[r])
Sent == UNION {{Message(s, n) : n \in DOMAIN sent[s]} : s \in Sender}
ReceiversOf(m) == sent[m.sender][m.number].receivers

(* TO-FAIL, its safety: live receivers deliver of a failed host exactly what  *)
(* is at or below the cut-off, each that has heard of it.                      *)
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
NobodyStopped ==
  \A m \in Sent : m.sender \in Live /\ m.number \notin recalled[m.sender]
    => \A r \in ReceiversOf(m) \cap Live : m \in Done(r)
FailureStopsNobody == <>[]NobodyStopped

(* The same where packets travel: nothing of Progress goes round in circles there, so that a fair *)
(* behaviour comes to rest, done or not.  TLC then finds shortest counterexamples, and faster.    *)
RestedStopsNobody == NobodyStopped \/ ENABLED <<Progress>>_vars
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
