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
(* Beacons, notices and answers to these arrive in the step that sends      *)
(* them, or, where packets travel, stand on a link first and may be lost.   *)
(***************************************************************************)
EXTENDS FailureState
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
  /\ flying = [l \in Link |-> <<>>]
  /\ told = [l \in Link |-> 0]
  /\ heard = {}
  /\ lost = 0

Tick(s) ==
  /\ s \notin crashed /\ clock[s] + 1 \in Time
  /\ clock' = [clock EXCEPT ![s] = @ + 1]
  /\ UNCHANGED <<sent, waiting, holding, links, failing, travelling>>

(* A sender scatters to those that it does not know to have failed. *)
Scatter(s, receivers) ==
  LET left == receivers \ Known(s) IN
  /\ s \notin crashed /\ left # {}
  /\ Len(sent[s]) < MostSent[s] /\ clock[s] \in Stamps
  /\ Last(sent[s]) < clock[s]                                          \* TO-MONO
  /\ sent' = [sent EXCEPT ![s] = Append(@, [timestamp |-> clock[s], receivers |-> left])]
  /\ UNCHANGED <<clock, waiting, holding, links, failing, travelling>>

(***************************************************************************)
(* A copy arrives.  It may have been on its way when its sender failed, and *)
(* links are FIFO: it comes earlier than the notice.                        *)
(***************************************************************************)
Arrive(s, n, r) ==
  /\ r \in sent[s][n].receivers /\ r \notin crashed /\ s \notin Known(r)
  /\ Message(s, n) \notin Received(r) \cup void[r]
  /\ Holds(r, buffer[r] \cup {Message(s, n)}, ack[LastLink(r)], barrier[LastLink(r)])
  /\ UNCHANGED <<sending, waiting, void, links, failing, travelling>>

(* A receiver answers; that one sent earlier is not taken again is a loss, too. *)
Answer(s, n, r) ==
  /\ AnswersTravel /\ r \notin crashed
  /\ \E what \in {"received", "discarded"} :
       /\ Message(s, n) \in IF what = "received" THEN Received(r) ELSE void[r]
       /\ <<s, n, r, what>> \notin mislaid
       /\ answers' = answers \cup {<<s, n, r, what>>}
  /\ UNCHANGED <<sending, knowing, holding, links, failing, travelling>>

(* One is lost; the message comes again, and with it the answer. *)
LoseAnswer ==
  /\ lost < MostLost /\ lost' = lost + 1
  /\ \E answer \in answers :
       /\ answers' = answers \ {answer}
       /\ mislaid' = IF RepeatsAnswers THEN mislaid ELSE mislaid \cup {answer}
  /\ UNCHANGED <<sending, knowing, holding, links, given, removed, cut, crashed, flying, told, heard>>

(* A sender learns that a message was received, or a recalled one discarded. *)
Learn(s, n, r) ==
  /\ s \notin crashed /\ r \in sent[s][n].receivers \ Known(s) /\ <<n, r>> \notin settled[s]
  /\ IF AnswersTravel THEN <<s, n, r, IF n \in recalled[s] THEN "discarded" ELSE "received">> \in answers
     ELSE Message(s, n) \in IF n \in recalled[s] THEN void[r] ELSE Received(r)
  /\ settled' = [settled EXCEPT ![s] = @ \cup {<<n, r>>}]
  /\ UNCHANGED <<sending, recalled, answers, holding, links, failing, travelling>>

(* A receiver discards a recalled message, or will not take it (TO-ATOMIC). *)
TakeRecall(s, n, r) ==
  /\ n \in recalled[s] /\ r \in sent[s][n].receivers /\ r \notin crashed /\ s \notin Known(r)
  /\ Message(s, n) \notin void[r]
  /\ void' = [void EXCEPT ![r] = @ \cup {Message(s, n)}]
  /\ buffer' = [buffer EXCEPT ![r] = @ \ {Message(s, n)}]
  /\ UNCHANGED <<sending, waiting, delivered, links, failing, travelling>>

(* A beacon that carries this comes over link l, with these barriers. *)
Comes(l, carried, a, b) ==
  /\ ack' = IF "ack" \in carried THEN [ack EXCEPT ![l] = a] ELSE ack
  /\ barrier' = IF "barrier" \in carried THEN [barrier EXCEPT ![l] = b] ELSE barrier
  /\ unheard' = IF "ack" \in carried THEN unheard \ {l} ELSE unheard
  /\ silent' = IF Speaks(carried) THEN silent \ {l} ELSE silent

(* One is put on link l, if there is none, and its target does not know what it says. *)
Puts(l, a) ==
  /\ a > ack[l] /\ HasRoom /\ \A p \in OnTheWay : ~ (p.kind = "beacon" /\ p.link = l)
  /\ RepeatsBeacons \/ a > told[l]
  /\ flying' = [flying EXCEPT ![l] = Append(@, [kind |-> "beacon", link |-> l, ack |-> a])]
  /\ told' = IF RepeatsBeacons THEN told ELSE [told EXCEPT ![l] = a]
  /\ UNCHANGED <<ack, barrier, hearing, buffer, delivered, heard, lost>>

Tells(l, carried, a, b) ==
  IF PacketsTravel THEN Puts(l, a) ELSE Comes(l, carried, a, b) /\ UNCHANGED travelling

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
  /\ PacketsTravel \/ <<ack', barrier'>> # <<ack, barrier>>
  /\ IF l[2] \in Host /\ l[2] \notin crashed THEN Holds(l[2], buffer[l[2]], ack'[l], barrier'[l])
     ELSE UNCHANGED <<buffer, delivered>>
  /\ UNCHANGED <<sending, waiting, void, failing, restarts>>

Crash(h) ==
  /\ h \notin crashed /\ Cardinality(crashed) < MostCrashed
  /\ crashed' = crashed \cup {h}
  /\ UNCHANGED <<sending, waiting, holding, links, given, removed, cut, mislaid, travelling>>

(***************************************************************************)
(* The node at the end of link l gives it up: its registers stay as they    *)
(* are, and hold every minimum down that they count in.                     *)
(***************************************************************************)
GiveUp(l) ==
  /\ l \notin Frozen /\ Cardinality(Frozen) < MostGivenUp
  /\ RestartTrusts \/ l \notin silent
  /\ given' = [given EXCEPT ![l] = CutOff(ack[l], barrier[l])]
  /\ UNCHANGED <<sending, waiting, holding, links, removed, cut, mislaid, crashed, travelling>>

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

Answered(l, f, r) == IF PacketsTravel THEN <<l, f, r>> \in heard ELSE cut[r][f] <= given[l]

(* A notice comes to a host that has not failed. *)
Notice(l, f, r) ==
  /\ ~ PacketsTravel /\ l \in Frozen /\ f \in Behind[l] /\ r \in Host \ (Failed \cup crashed)
  /\ ~ Answered(l, f, r) /\ <<l, f, r>> \notin mislaid
  /\ LowerHolds \/ f \notin Known(r)
  /\ Takes(r, f, given[l])
  /\ UNCHANGED <<sending, answers, void, delivered, links, given, removed, mislaid, crashed, travelling>>

(* A notice is lost; where notices are sent again, that changes nothing. *)
LoseNotice(l, f, r) ==
  /\ ~ PacketsTravel /\ ~ NoticeResent /\ l \in Frozen /\ f \in Behind[l] /\ r \in Live
  /\ ~ Answered(l, f, r)
  /\ mislaid' = mislaid \cup {<<l, f, r>>}
  /\ UNCHANGED <<sending, waiting, holding, links, given, removed, cut, crashed, travelling>>

(* A notice is put on the way to a host, and until it is answered again, whenever neither is on the way. *)
SendNotice(l, f, r) ==
  /\ PacketsTravel /\ l \in Frozen /\ f \in Behind[l] /\ r \in Host \ (Failed \cup crashed)
  /\ ~ Answered(l, f, r) /\ <<l, f, r>> \notin mislaid /\ HasRoom
  /\ ~ \E p \in OnTheWay : p.kind # "beacon" /\ p.what = <<l, f, r>>
  /\ RepeatsAnswers \/ cut[r][f] > given[l]   \* else nothing would come of it
  /\ mislaid' = IF NoticeResent THEN mislaid ELSE mislaid \cup {<<l, f, r>>}
  /\ flying' = [flying EXCEPT ![Onwards[l[2], r]] = Append(@, [kind |-> "notice", what |-> <<l, f, r>>])]
  /\ UNCHANGED <<sending, waiting, holding, links, given, removed, cut, crashed, told, heard, lost>>

(***************************************************************************)
(* The oldest packet of a link arrives.  What comes over a link that was    *)
(* given up is not taken; a host that is given up takes what was under way  *)
(* to it.                                                                  *)
(***************************************************************************)
Dropped(l) == l[2] \in crashed \/ (l \in Frozen /\ ~ TakesGivenUp)
(* What is flying when the target of link l sends on what came, towards this node. *)
SentOn(l, node) == [flying EXCEPT ![l] = Tail(@), ![Onwards[l[2], node]] = Append(@, Head(flying[l]))]
TakeBeacon(l) ==
  LET p == Head(flying[l]) IN
  /\ flying[l] # <<>> /\ p.kind = "beacon"
  /\ flying' = [flying EXCEPT ![l] = Tail(@)]
  /\ IF Dropped(l) THEN UNCHANGED <<links, buffer, delivered>>
     ELSE /\ Comes(l, {"ack"}, p.ack, 0)
          /\ IF l[2] \in Host THEN Holds(l[2], buffer[l[2]], p.ack, 0) ELSE UNCHANGED <<buffer, delivered>>
          /\ UNCHANGED restarts
  /\ UNCHANGED <<sending, waiting, void, failing, told, heard, lost>>

TakeNotice(l) ==
  LET p == Head(flying[l])
      r == p.what[3]
      f == p.what[2]
      cutoff == given[p.what[1]]
      replies == RepeatsAnswers \/ cut[r][f] > cutoff
  IN
  /\ flying[l] # <<>> /\ p.kind = "notice"
  /\ IF Dropped(l) THEN flying' = [flying EXCEPT ![l] = Tail(@)] /\ UNCHANGED <<knowing, cut, buffer>>
     ELSE IF l[2] # r THEN flying' = SentOn(l, r) /\ UNCHANGED <<knowing, cut, buffer>>
     ELSE /\ flying' = [flying EXCEPT ![l] = Tail(@),
                                      ![First[r]] = IF replies THEN Append(@, [p EXCEPT !.kind = "answer"]) ELSE @]
          /\ IF cut[r][f] > cutoff THEN Takes(r, f, cutoff) ELSE UNCHANGED <<knowing, cut, buffer>>
  /\ UNCHANGED <<sending, answers, void, delivered, links, given, removed, mislaid, crashed, told, heard, lost>>

TakeAnswer(l) ==
  LET p == Head(flying[l])
      asked == p.what[1][2]
  IN
  /\ flying[l] # <<>> /\ p.kind = "answer"
  /\ flying' = IF Dropped(l) \/ l[2] = asked THEN [flying EXCEPT ![l] = Tail(@)] ELSE SentOn(l, asked)
  /\ heard' = IF Dropped(l) \/ l[2] # asked THEN heard ELSE heard \cup {p.what}
  /\ UNCHANGED <<sending, waiting, holding, links, failing, told, lost>>

Take(l) == TakeBeacon(l) \/ TakeNotice(l) \/ TakeAnswer(l)

(* It is lost. *)
Lose(l) ==
  /\ flying[l] # <<>> /\ lost < MostLost
  /\ lost' = lost + 1
  /\ flying' = [flying EXCEPT ![l] = Tail(@)]
  /\ UNCHANGED <<sending, waiting, holding, links, failing, told, heard>>

(* When all have answered, a link that was given up counts no more. *)
Remove(l) ==
  /\ l \in Frozen \ removed
  /\ RemovesAnswered =>
       \A r \in Host \ Failed, f \in Behind[l] :
         /\ IF LowerHolds THEN Answered(l, f, r) ELSE f \in Known(r)
         /\ AnswersRecalled /\ r \in Sender => Outstanding(r) \cap recalled[r] = {}
  /\ removed' = removed \cup {l}
  /\ UNCHANGED <<sending, waiting, holding, links, given, cut, mislaid, crashed, travelling>>

(* A switch forgets what its links told it.  It has given up none: RULES.md says what is done otherwise. *)
Restart(x) ==
  LET into == {l \in Link : l[2] = x /\ Behind[l] \cap Sender # {}} IN
  /\ restarts < MostRestarts /\ into \cap Frozen = {}
  /\ restarts' = restarts + 1
  /\ ack' = [l \in Link |-> IF l \in into THEN 0 ELSE ack[l]]
  /\ barrier' = [l \in Link |-> IF l \in into THEN 0 ELSE barrier[l]]
  /\ unheard' = unheard \cup into /\ silent' = silent \cup into
  /\ UNCHANGED <<sending, waiting, holding, failing, travelling>>

(* Everything that goes on as long as it changes anything. *)
Progress ==
  \/ \E s \in Sender :
       \/ Tick(s) \/ HostBeacon(s)
       \/ \E n \in DOMAIN sent[s], r \in Host : Answer(s, n, r) \/ Learn(s, n, r) \/ TakeRecall(s, n, r)
       \/ s \in Live /\ \E n \in DOMAIN sent[s], r \in Host : Arrive(s, n, r)
  \/ \E l \in SwitchEgress : SwitchBeacon(l)
  \/ \E l \in Watched : \/ Behind[l] \subseteq crashed /\ GiveUp(l)
                        \/ Remove(l)
                        \/ \E f \in Behind[l], r \in Host : Notice(l, f, r) \/ SendNotice(l, f, r)
  \/ \E l \in Link : Take(l)

(* It only keeps plain TLC from calling the end of a bounded time a deadlock. *)
Rest == UNCHANGED vars

Next ==
  \/ Progress
  \/ \E s \in Sender : \E n \in DOMAIN sent[s], r \in Host : Arrive(s, n, r)
  \/ \E s \in Sender : \E receivers \in Destinations[s] : Scatter(s, receivers)
  \/ \E h \in Host : Crash(h)
  \/ \E l \in Watched : GiveUp(l) \/ \E f \in Behind[l], r \in Host : LoseNotice(l, f, r)
  \/ \E x \in Switch : Restart(x)
  \/ LoseAnswer \/ \E l \in Link : Lose(l)
  \/ Rest

Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Progress)
=============================================================================
