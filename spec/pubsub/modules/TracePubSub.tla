----------------------------- MODULE TracePubSub -----------------------------
(***************************************************************************)
(* Publish and subscribe as its clients see it, for recorded runs: calls,  *)
(* how they end, and what is delivered.  Of packets only what appliances   *)
(* tell one another that they want, requests that come, and answers.       *)
(*                                                                         *)
(* A call takes effect at one moment between its rows, or, where its end   *)
(* is unknown, at any moment after it was called, or never.  So of a       *)
(* subscription an observer knows when it surely is in force, and when it  *)
(* may be.  Times are ranks of recorded ones.  Which filter matches which  *)
(* topic comes with the run; one that names nothing is filter or topic 0.  *)
(*                                                                         *)
(* Source: the clauses, and RULES.md on calls.                             *)
(***************************************************************************)
EXTENDS TraceReplay, FiniteSets

VARIABLES
  published,  \* published[c] is a function from numbers of calls to what c published in them
  asked,      \* asked[c][f] is the sequence of the calls of c about filter f: whether it wants it, and at which level
  got,        \* got[c] is the set of publishers and numbers of the messages that were delivered to c
  highest,    \* highest[c] is a function from publisher, topic and level to the highest number first delivered to c
  told,       \* told[l] is the sequence of the filters that are wanted on link l, with when, and whether it was judged
  serial,     \* serial[l] is the highest serial of a want or drop on link l: what has none above says nothing new
  came,       \* came[c] is the number of the latest call of c of which a request came
  answered,   \* answered[c] is that of the latest one that was answered
  heard       \* heard[c] is that of the latest one of which an answer came to c, and what the first such one says
calls == <<published, asked>>
deliveries == <<got, highest>>
packets == <<told, serial, came, answered, heard>>
learnt == <<calls, deliveries, packets>>

Clients == 1 .. Net.clients
Links == 1 .. Net.links
Filters == 1 .. Len(Net.matches)
Matching(t) == {f \in Filters : t \in Net.matches[f]}

What == Row[1]
When == Row[2]
Who == Row[3]

Init ==
  /\ BeginReading
  /\ published = [c \in Clients |-> <<>>]
  /\ asked = [c \in Clients |-> [f \in 0 .. Len(Net.matches) |-> <<>>]]
  /\ got = [c \in Clients |-> {}]
  /\ highest = [c \in Clients |-> <<>>]
  /\ told = [l \in Links |-> <<>>]
  /\ serial = [l \in Links |-> 0]
  /\ came = [c \in Clients |-> 0]
  /\ answered = [c \in Clients |-> 0]
  /\ heard = [c \in Clients |-> [call |-> 0, outcome |-> "unknown"]]
-----------------------------------------------------------------------------
(***************************************************************************)
(* What is known of a subscription, by the calls about it so far.          *)
(***************************************************************************)
Wants(about) == {i \in DOMAIN about : about[i].wants}
Leaves(about) == {i \in DOMAIN about : ~ about[i].wants}

(* It may have been in force at t or later. *)
MayHold(about, t) ==
  \E i \in Wants(about) :
    /\ about[i].outcome # "refused"
    /\ \/ about[i].outcome = "unknown"
       \/ \A j \in Leaves(about) : j > i => about[j].outcome # "ok" \/ about[j].over >= t

(* It has been in force since a moment strictly below t, for sure. *)
SurelyHolds(about, t) ==
  /\ \A i \in Leaves(about) : about[i].outcome # "unknown"
  /\ \E i \in Wants(about) :
       /\ about[i].outcome = "ok" /\ about[i].over < t
       /\ \A j \in Leaves(about) : j < i \/ about[j].outcome = "refused"

(* The levels that it can have had at t or later: the one that it was given last, where nothing can have   *)
(* changed it since, or else any.                                                                          *)
LevelsSince(about, t) ==
  LET granted == {i \in Wants(about) : about[i].outcome = "ok"}
      settled == \A i \in Wants(about) : about[i].outcome \in {"ok", "refused"} /\ about[i].over < t
      last == CHOOSE i \in granted : \A j \in granted : j <= i
  IN  IF settled /\ granted # {} THEN {about[last].level} ELSE {about[i].level : i \in Wants(about)}

Least(numbers) == CHOOSE n \in numbers : \A m \in numbers : n <= m
Most(numbers) == CHOOSE n \in numbers : \A m \in numbers : n >= m
Lower(m, n) == Least({m, n})
-----------------------------------------------------------------------------
(* What a message that is delivered must keep. *)
Sender == Row[4]
Number == Row[5]
Topic == Row[6]
Level == Row[7]
Digest == Row[8]
Again == Row[9]

IsKnown == Sender \in Clients /\ Number \in DOMAIN published[Sender]
IsFirst == <<Sender, Number>> \notin got[Who]
Message == published[Sender][Number]
May == {f \in Matching(Topic) : MayHold(asked[Who][f], Message.since)}
Sure == {f \in Matching(Topic) : SurelyHolds(asked[Who][f], Message.since)}

RoutedWell ==
  /\ IsKnown
  /\ Message.outcome # "refused" /\ Message.topic = Topic /\ Message.digest = Digest
  /\ May # {}
  /\ IsFirst \/ Again = 1

Numbering == <<Sender, Topic, Level>>
InSequence ==
  IsKnown /\ IsFirst /\ Message.outcome = "ok" /\ Numbering \in DOMAIN highest[Who] => highest[Who][Numbering] < Number

AtItsLevel ==
  IsKnown /\ May # {} =>
    LET most == Most(UNION {LevelsSince(asked[Who][f], Message.since) : f \in May})
        least == Most({0} \cup {Least(LevelsSince(asked[Who][f], Message.since)) : f \in Sure})
    IN  /\ Lower(Message.level, least) <= Level /\ Level <= Lower(Message.level, most)
        /\ Again = 1 => Level = 1

DeliverKeeps ==
  [MatchingGetOneCopy |-> RoutedWell,    \* PS-ROUTE
   DeliveredInSequence |-> InSequence,   \* PS-ORDER
   LowerLevelHolds |-> AtItsLevel]       \* PS-QOS-LEVEL

(* Of a run that has settled: what is guaranteed has come. *)
IsOwed(message, about) ==
  /\ message.outcome = "ok" /\ message.level >= 1
  /\ SurelyHolds(about, message.since)
  /\ Least(LevelsSince(about, message.since)) >= 1
AllHasCome ==
  \A s \in Clients : \A n \in DOMAIN published[s] : \A f \in Matching(published[s][n].topic) : \A c \in Clients :
    IsOwed(published[s][n], asked[c][f]) => <<s, n>> \in got[c]

(* A filter may be told ahead of the withdrawal of one that covers it, or that it covers, at one moment.    *)
(* So what was told on a link is judged when something new is told there strictly later, or when nothing    *)
(* can come any more.                                                                                       *)
Settled == What = "ended" /\ Row[4]
IsDue(one) == ~ one.judged /\ (Settled \/ one.since < When)
Covers(f, g) == g \in Net.covers[f]
StaysHome(l) ==
  \A i \in DOMAIN told[l] : IsDue(told[l][i]) =>
    \A j \in 1 .. i - 1 :
      ~ Covers(told[l][i].filter, told[l][j].filter) /\ ~ Covers(told[l][j].filter, told[l][i].filter)
Judged(of) == [i \in DOMAIN of |-> [of[i] EXCEPT !.judged = @ \/ IsDue(of[i])]]

(* Nobody who did not crash is in a call whose request it has sent. *)
AllReturned == Row[5]

EndKeeps ==
  [MatchingGetOneCopy |-> Settled => AllHasCome,                             \* PS-ROUTE
   CoveredStaysHome |-> \A l \in Links : StaysHome(l),                       \* PS-COVER
   LatestIsAnswered |-> Settled => AllReturned /\ \A c \in Clients : answered[c] >= came[c]]   \* PS-ANSWER
-----------------------------------------------------------------------------
NoBound(clause) == -1
Take(action, keeps) ==
  IF BrokenOf(keeps) = {} THEN Accept(action) ELSE Reject(action, BrokenOf(keeps), NoBound)

ReadPublish ==
  /\ What = "publish"
  /\ published' = [published EXCEPT ![Who] =
       @ @@ (Row[4] :> [topic |-> Row[5], level |-> Row[6], digest |-> Row[7], since |-> When, outcome |-> "open"])]
  /\ Accept("Publish")
  /\ UNCHANGED <<asked, deliveries, packets>>

Asks(wants, level) ==
  /\ asked' = [asked EXCEPT ![Who][Row[5]] =
       Append(@, [wants |-> wants, level |-> level, over |-> 0, outcome |-> "open"])]
  /\ UNCHANGED <<published, deliveries, packets>>
ReadSubscribe == What = "subscribe" /\ Asks(TRUE, Row[6]) /\ Accept("Subscribe")
ReadUnsubscribe == What = "unsubscribe" /\ Asks(FALSE, 0) /\ Accept("Unsubscribe")

(* Where its request came, a call returns what the answer says that came by then. *)
Outcome == Row[6]
Call == Row[7]
ReturnsWhatItHeard ==
  came[Who] >= Call => Outcome = (IF heard[Who].call = Call THEN heard[Who].outcome ELSE "unknown")

(* Of a publish, by the number of the call, and of the others the last one about the filter. *)
ReadReturn ==
  /\ What = "returned"
  /\ IF Row[4] = "publish"
     THEN published' = [published EXCEPT ![Who][Row[5]].outcome = Outcome] /\ UNCHANGED asked
     ELSE /\ asked' = [asked EXCEPT ![Who][Row[5]][Len(asked[Who][Row[5]])] =
               [@ EXCEPT !.over = When, !.outcome = Outcome]]
          /\ UNCHANGED published
  /\ Take(IF Outcome = "unknown" THEN "GiveUp" ELSE "Return", [LatestIsAnswered |-> ReturnsWhatItHeard])   \* PS-ANSWER
  /\ UNCHANGED <<deliveries, told, serial, came, answered, heard>>

ReadDelivery ==
  /\ What = "delivered"
  /\ Take("Deliver", DeliverKeeps)
  /\ IF IsKnown /\ IsFirst
     THEN /\ got' = [got EXCEPT ![Who] = @ \cup {<<Sender, Number>>}]
          /\ highest' = [highest EXCEPT ![Who] =
               (Numbering :> Most({Number} \cup {@[key] : key \in DOMAIN @ \cap {Numbering}})) @@ @]
     ELSE UNCHANGED deliveries
  /\ UNCHANGED <<calls, packets>>

(* A want or a drop of a filter; one that is sent again is nothing new. *)
Link == Row[3]
Filter == Row[4]
ReadNews ==
  /\ What \in {"want", "drop"}
  /\ IF Row[5] <= serial[Link] THEN Accept("Repeat") /\ UNCHANGED <<told, serial>>
     ELSE LET Others(one) == one.filter # Filter
              left == SelectSeq(Judged(told[Link]), Others)
              new == IF What = "want" THEN <<[filter |-> Filter, since |-> When, judged |-> FALSE]>> ELSE <<>>
          IN  /\ Take(IF What = "want" THEN "Want" ELSE "Drop", [CoveredStaysHome |-> StaysHome(Link)])   \* PS-COVER
              /\ told' = [told EXCEPT ![Link] = left \o new]
              /\ serial' = [serial EXCEPT ![Link] = Row[5]]
  /\ UNCHANGED <<calls, deliveries, came, answered, heard>>

ReadRequest ==
  /\ What = "request"
  /\ came' = [came EXCEPT ![Who] = Most({@, Row[4]})]
  /\ Accept("Request")
  /\ UNCHANGED <<calls, deliveries, told, serial, answered, heard>>

ReadAnswer ==
  /\ What = "answer"
  /\ answered' = [answered EXCEPT ![Who] = Most({@, Row[4]})]
  /\ Accept("Answer")
  /\ UNCHANGED <<calls, deliveries, told, serial, came, heard>>

ReadHeard ==
  /\ What = "heard"
  /\ heard' = [heard EXCEPT ![Who] = IF Row[4] > @.call THEN [call |-> Row[4], outcome |-> Row[5]] ELSE @]
  /\ Accept("Hear")
  /\ UNCHANGED <<calls, deliveries, told, serial, came, answered>>

ReadEnd == What = "ended" /\ Take("End", EndKeeps) /\ UNCHANGED learnt

Next ==
  \/ /\ Reading
     /\ \/ ReadPublish \/ ReadSubscribe \/ ReadUnsubscribe \/ ReadReturn \/ ReadDelivery
        \/ ReadNews \/ ReadRequest \/ ReadAnswer \/ ReadHeard \/ ReadEnd
  \/ (Finish \/ Over) /\ UNCHANGED learnt

Spec == Init /\ [][Next]_<<reading, learnt>>
Place == <<run, at, verdict>>
=============================================================================
