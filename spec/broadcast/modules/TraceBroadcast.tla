---------------------------- MODULE TraceBroadcast ----------------------------
(***************************************************************************)
(* The broadcast stack as an observer outside sees it, at the level that   *)
(* the run has: what is handed over and begun with, put on links, lost,    *)
(* what arrives, what is delivered, and who crashes or stands still.  What *)
(* processes hold inside is in no row and compared with nothing: what one  *)
(* may deliver follows from what it began with and what came to it, and    *)
(* what a message waits for from what its creator had delivered when it    *)
(* began with it.                                                          *)
(*                                                                         *)
(* Where arrivals are not recorded, as of a program of which there is only *)
(* the output, deliveries are compared with beginnings alone.  The rules   *)
(* are the operators that MajorityBroadcast and CausalOverUniform are      *)
(* given.  Links may lose, repeat and reorder.                             *)
(***************************************************************************)
EXTENDS TraceLinks

CONSTANTS         \* the rules; see MajorityRules, CausalRules
  Enough(_, _), Attached(_, _, _, _, _), MayDeliver(_, _)

VARIABLES
  handed,    \* handed[p][t] is the sequence of digests handed over at p, at level pl for t, else for all
  begun,     \* begun[p][t] is the sequence of digests that p began with
  clocks,    \* clocks[p] is the sequence of clocks of the messages that p began with; <<>> below lcb
  delivered, \* delivered[p][c] are the numbers of the messages of c that p delivered
  heard,     \* heard[p][c] is a function from numbers, not delivered, to contents, who has them, and since when
  of,        \* of[p] is the set of processes that p has heard of
  ready,     \* ready[p][c]: the message of c that p could deliver, when another first came to it, and since which row
  forwarded  \* forwarded[l][c] are the numbers of the messages of c that were put on link l
learnt == <<handed, begun, clocks, delivered, heard, of, ready, forwarded>>
seen == <<learnt, onLinks, state>>
vars == <<reading, seen>>
-----------------------------------------------------------------------------
Everybody(p) == [q \in Processes |-> delivered[p][q].upto]
Knows(p, c) == DOMAIN heard[p][c]

(* Whether a message's beginning can be told, and the clock then; its own entry is FIFO's affair. *)
Told(c) == Net.linked /\ c \in Net.begun
WaitsFor(c, k) == [clocks[c][k] EXCEPT ![c] = 0]
ClockIsTold(c, k) == Told(c) /\ c \in Net.delivered /\ k \in DOMAIN clocks[c]

(* What the two sums say of a clock. *)
RECURSIVE SumUpTo(_, _, _)
SumUpTo(clock, n, byPlace) ==
  IF n = 0 THEN 0 ELSE SumUpTo(clock, n - 1, byPlace) + clock[n] * (IF byPlace THEN n ELSE 1)

(* The clause of what is delivered that nobody began with, and of what is delivered again. *)
IsReal(good) == IF OverLinks THEN [LinkDeliversSent |-> good] ELSE [DeliveredWasBegun |-> good]
IsFirst(good) == IF OverLinks THEN [LinkDeliversOnce |-> good] ELSE [DeliveredOnce |-> good]

(* A message that p may deliver by all that the observer knows; what says what is known of it. *)
Deliverable(p, c, k, what) ==
  /\ Enough(Cardinality(what.from), N)
  /\ InOrder => k = delivered[p][c].upto + 1
  /\ InCausalOrder => ClockIsTold(c, k) /\ MayDeliver(WaitsFor(c, k), Everybody(p))

(* The next message of c at p was ready when message k of d first came, which is what k is not to go before. *)
WaitedWhileItCame(p, c, d, k) ==
  ready[p][c].number = delivered[p][c].upto + 1 /\ heard[p][d][k].since >= ready[p][c].since
-----------------------------------------------------------------------------
(***************************************************************************)
(* What a row must keep: clauses under their names, and what else makes it *)
(* a row of this network.                                                  *)
(***************************************************************************)
BeginKeeps ==
  LET p == Node
      t == To(Receiver)
      own == Sender = p /\ IsReceiver
      follows == own /\ Number = Len(begun[p][t]) + 1
      handedSo == \A k \in Messages : k \in DOMAIN handed[p][t] /\ handed[p][t][k] = Digest
  IN
  IsReal(follows /\ (p \in Net.submitted => handedSo))                  \* BC-PL-REAL, BC-URB-REAL
  @@ [OwnUndeliveredIsBounded |->                                       \* BC-FIFO-FLOW
        InOrder /\ p \in Net.delivered =>
          LET waiting == {k \in (delivered[p][p].upto + 1)..Len(begun[p][t]) : ~ Has(delivered[p][p], k)} IN
          Cardinality(waiting \cup {k \in Messages : ~ Has(delivered[p][p], k)}) <= Net.most]
  @@ IsUp

NewKeeps ==
  [DeliveredIsForgotten |->                                             \* BC-URB-GC
     OverLinks \/ \A k \in Messages : ~ Has(forwarded[Link][Sender], k)]
  @@ NumberedKeeps

SendKeeps ==
  LET p == Node
      t == To(Receiver)
      known == t \in Numberings /\ Number + Count - 1 <= Len(begun[p][t])
      same == \A k \in Messages : begun[p][t][k] = Digest
      told == InCausalOrder /\ p \in Net.begun \cap Net.delivered /\ known
  IN
  IsReal(p \in Net.begun => known /\ same)                              \* BC-PL-REAL, BC-URB-REAL
  @@ [DependencyClockAtBeginning |->                                    \* BC-LCB-CLOCKS
        told => /\ ClockSum = SumUpTo(clocks[p][Number], N, FALSE)
                /\ ClockWeighted = SumUpTo(clocks[p][Number], N, TRUE)]
  @@ NewKeeps

(* Of what is delivered only that it is, is remembered. *)
CameSo(k) ==
  \/ Has(delivered[Node][Sender], k)
  \/ /\ k \in Knows(Node, Sender)
     /\ heard[Node][Sender][k].digest = Digest
     /\ InCausalOrder => /\ heard[Node][Sender][k].sum = ClockSum + k - Number
                         /\ heard[Node][Sender][k].weighted = ClockWeighted + Sender * (k - Number)

ForwardKeeps ==
  LET unchanged == Node \in Net.arrived => \A k \in Messages : CameSo(k) IN
  (IF OverLinks THEN [LinkDeliversSent |-> FALSE]                       \* BC-PL-REAL
   ELSE [MajorityHasIt |-> unchanged])                                  \* BC-URB-MAJ
  @@ NewKeeps

DeliverKeeps ==
  LET p == Node  c == Sender  k == Number
      creator == c \in Processes /\ Receiver = p /\ k >= 1
      t == To(p)
      asBegun == Told(c) => k \in DOMAIN begun[c][t] /\ begun[c][t][k] = Digest
      compared == p \in Net.arrived /\ (c # p \/ p \in Net.begun)
      asCame == compared => k \in Knows(p, c) /\ heard[p][c][k].digest = Digest
      have == {c, p} \cup (IF k \in Knows(p, c) THEN heard[p][c][k].from ELSE {})
      next == k = delivered[p][c].upto + 1
  IN
  IF ~ creator THEN IsReal(FALSE)
  ELSE IF Has(delivered[p][c], k) THEN IsFirst(FALSE)                   \* BC-PL-ONCE, BC-URB-ONCE
  ELSE
  IsReal(asBegun /\ asCame)                                             \* BC-PL-REAL, BC-URB-REAL
  @@ [MajorityHasIt |-> ~ OverLinks /\ compared => Enough(Cardinality(have), N),          \* BC-URB-MAJ
      MinorityDeliversNothing |->                                       \* BC-URB-MINORITY
        ~ OverLinks /\ p \in Net.arrived => Enough(Cardinality(of[p] \cup {p}), N),
      DeliveredInSendingOrder |-> InOrder => next,                      \* BC-FIFO-ORDER
      FifoWithoutDependencies |-> InCausalOrder => next,                \* BC-LCB-FIFO
      DependenciesFirst |->                                             \* BC-LCB-CAUSAL
        InCausalOrder /\ ClockIsTold(c, k) => MayDeliver(WaitsFor(c, k), Everybody(p)),
      OthersDelayNothing |->                                            \* BC-LCB-LOCAL
        InCausalOrder /\ p \in Net.arrived /\ k \in Knows(p, c) =>
          \A d \in Processes \ {c} : c \in Net.on[d] \/ ~ WaitedWhileItCame(p, d, c, k)]
  @@ IsUp
-----------------------------------------------------------------------------
(* At the end of a run that has settled.  Above the links a majority must live. *)
HandedIsBegun ==
  \A p \in Live \cap Net.submitted \cap Net.begun : \A t \in Numberings : Len(handed[p][t]) = Len(begun[p][t])

SettledLinksKeep ==
  [SentIsDelivered |->                                                  \* BC-PL-RELIABLE
     /\ PacketsHaveCome
     /\ \A c \in Live \cap Net.begun : \A p \in (Live \cap Net.delivered) \ {c} :
          /\ delivered[p][c].upto >= Len(begun[c][p])
          /\ c \in Net.submitted => delivered[p][c].upto >= Len(handed[c][p]),
   UnacknowledgedIsResent |-> AllIsAcknowledged]                        \* BC-PL-RESEND

NothingIsDeliverable ==
  \A p \in Live \cap Net.arrived \cap Net.delivered : \A c \in Processes : \A k \in Knows(p, c) :
    ~ Deliverable(p, c, k, heard[p][c][k])

AllIsForwarded ==
  \A l \in LiveLinks :
    LET p == Net.source[l] IN
    p \in Net.arrived \cap Net.begun \cap Net.delivered =>
      \A c \in Processes :
        /\ Includes(forwarded[l][c], delivered[p][c])
        /\ \A k \in Knows(p, c) : Has(forwarded[l][c], k)

SettledBroadcastKeeps ==
  LET agreeing == Live \cap Net.delivered IN
  [OwnIsDelivered |->                                                   \* BC-URB-VALID
     /\ ~ InOrder => HandedIsBegun
     /\ \A p \in agreeing \cap Net.begun : delivered[p][p].upto >= Len(begun[p][1]),
   UniformAgreement |->                                                 \* BC-URB-AGREE
     \A p \in agreeing, q \in Processes : \A c \in Processes : Includes(delivered[p][c], delivered[q][c]),
   MajorityHasIt |-> AllIsForwarded,                                    \* BC-URB-MAJ
   OwnUndeliveredIsBounded |-> InOrder => HandedIsBegun]                \* BC-FIFO-FLOW

(* What has come from a majority needs nobody else any more. *)
SettledAnywayKeep ==
  [SentIsDelivered |-> PacketsHaveCome,                                 \* BC-PL-RELIABLE
   UnacknowledgedIsResent |-> AllIsAcknowledged,                        \* BC-PL-RESEND
   OneselfCounts |-> InCausalOrder \/ NothingIsDeliverable,             \* BC-URB-SELF
   WaitingIsLookedAtAgain |-> InCausalOrder => NothingIsDeliverable]    \* BC-LCB-CHECK

SettleKeeps ==
  IF OverLinks THEN SettledLinksKeep
  ELSE IF Enough(Cardinality(Live), N) THEN SettledAnywayKeep @@ SettledBroadcastKeeps
  ELSE SettledAnywayKeep
-----------------------------------------------------------------------------
(* A data packet of no number, or of no message, is numbered wrongly, too. *)
StrayKeeps ==
  IF Kind = "sent" /\ Packet = "data" THEN [Exists |-> FALSE, LinkNumbersApart |-> FALSE] ELSE [Exists |-> FALSE]

Keeps(action) ==
  CASE Kind \in {"sent", "begun", "delivered"} /\ Node \notin Net[Kind] -> <<>>
    [] action = "Stray" -> StrayKeeps
    [] action = "Submit" -> IsUp
    [] action = "Begin" -> BeginKeeps
    [] action = "Send" -> SendKeeps
    [] action = "Forward" -> ForwardKeeps
    [] action = "Resend" -> ResendKeeps
    [] action = "Answer" -> AnswerKeeps
    [] action \in {"Receive", "ReceiveAgain", "Acknowledge"} -> ArriveKeeps
    [] action = "Deliver" -> DeliverKeeps
    [] action = "Refuse" -> [NothingIsRefused |-> Source \notin Net.sent]
    [] action = "Crash" -> [CrashesOnce |-> state[Node] # "down"]
    [] action = "Pause" -> IsUp
    [] action = "Resume" -> [ResumesWhatIsPaused |-> state[Node] = "paused"]
    [] action = "Settle" -> SettleKeeps
    [] OTHER -> <<>>

(* What a broken clause asks of the row is never one number. *)
Wanted(clause) == Absent
-----------------------------------------------------------------------------
(* What the observer remembers. *)
Submit ==
  /\ handed' = [handed EXCEPT ![Node][To(Receiver)] = Append(@, Digest)]
  /\ UNCHANGED <<begun, clocks, delivered, heard, of, ready, forwarded, onLinks, state>>

ClockAt(p, k) == Attached(p, Everybody(p), Everybody(p), k - 1, Net.on[p])
Entry(from, clock) ==
  [digest |-> Digest, from |-> from, since |-> at,
   sum |-> IF InCausalOrder THEN SumUpTo(clock, N, FALSE) ELSE Absent,
   weighted |-> IF InCausalOrder THEN SumUpTo(clock, N, TRUE) ELSE Absent]

Begin ==
  LET p == Node  first == Number - 1 IN
  /\ begun' = [begun EXCEPT ![p][To(Receiver)] = @ \o [i \in 1 .. Count |-> Digest]]
  /\ clocks' = IF InCausalOrder
               THEN [clocks EXCEPT ![p] = @ \o [i \in 1 .. Count |-> ClockAt(p, first + i)]]
               ELSE clocks
  /\ heard' = IF OverLinks THEN heard
              ELSE [heard EXCEPT ![p][p] =
                      [k \in DOMAIN @ \cup Messages |->
                         IF k \in Messages THEN Entry({p}, ClockAt(p, k)) ELSE heard[p][p][k]]]
  /\ UNCHANGED <<handed, delivered, of, ready, forwarded, onLinks, state>>

Send ==
  /\ forwarded' = IF OverLinks THEN forwarded ELSE [forwarded EXCEPT ![Link][Sender] = With(@, Messages)]
  /\ PutNew
  /\ UNCHANGED <<handed, begun, clocks, delivered, heard, of, ready, state>>

(* What is delivered, and what oneself never began with, is not waited for. *)
Receive ==
  LET p == Node  c == Sender
      old == heard[p][c]
      fresh == {k \in Messages : ~ Has(delivered[p][c], k) /\ k \notin DOMAIN old /\ c # p}
      new(k) == [digest |-> Digest, from |-> {p, Source}, since |-> at,
                 sum |-> IF InCausalOrder THEN ClockSum + k - Number ELSE Absent,
                 weighted |-> IF InCausalOrder THEN ClockWeighted + c * (k - Number) ELSE Absent]
      told(k) == IF k \in Messages /\ old[k].digest = Digest THEN [old[k] EXCEPT !.from = @ \cup {Source}] ELSE old[k]
      now == [heard[p] EXCEPT ![c] = [k \in DOMAIN old \cup fresh |-> IF k \in fresh THEN new(k) ELSE told(k)]]
      next(d) == delivered[p][d].upto + 1
      becomes(d) == ready[p][d].number # next(d) /\ next(d) \in DOMAIN now[d]
                    /\ Deliverable(p, d, next(d), now[d][next(d)])
  IN
  /\ heard' = [heard EXCEPT ![p] = now]
  /\ ready' = IF InCausalOrder /\ fresh # {}
              THEN [ready EXCEPT ![p] =
                      [d \in Processes |-> IF becomes(d) THEN [number |-> next(d), since |-> at] ELSE @[d]]]
              ELSE ready
  /\ of' = [of EXCEPT ![p] = @ \cup {Source, c}]
  /\ Take
  /\ UNCHANGED <<handed, begun, clocks, delivered, forwarded, state>>

Deliver ==
  LET p == Node  c == Sender IN
  /\ delivered' = [delivered EXCEPT ![p][c] = With(@, {Number})]
  /\ heard' = [heard EXCEPT ![p][c] = [k \in DOMAIN @ \ {Number} |-> heard[p][c][k]]]
  /\ UNCHANGED <<handed, begun, clocks, of, ready, forwarded, onLinks, state>>

Become(what) ==
  /\ state' = [state EXCEPT ![Node] = what]
  /\ UNCHANGED <<learnt, onLinks>>

(* Of what is recorded in part nothing is remembered, but what was delivered: others must deliver it, too. *)
Remember(action) ==
  CASE Kind \in {"sent", "begun"} /\ Node \notin Net[Kind] -> UNCHANGED seen
    [] action = "Submit" -> Submit
    [] action = "Begin" -> Begin
    [] action \in {"Send", "Forward"} -> Send
    [] action = "Resend" -> PutAgain /\ UNCHANGED <<learnt, state>>
    [] action = "Answer" -> PutAnswer /\ UNCHANGED <<learnt, state>>
    [] action = "Acknowledge" -> TakeAnswer /\ UNCHANGED <<learnt, state>>
    [] action = "Refuse" -> GiveUp /\ UNCHANGED <<learnt, state>>
    [] action \in {"Receive", "ReceiveAgain"} -> Receive
    [] action = "Deliver" -> IF Sender \in Processes /\ Number >= 1 THEN Deliver ELSE UNCHANGED seen
    [] action = "Crash" -> Become("down")
    [] action = "Pause" -> Become("paused")
    [] action = "Resume" -> Become("up")
    [] OTHER -> UNCHANGED seen
-----------------------------------------------------------------------------
Init ==
  /\ BeginReading
  /\ LET links == DOMAIN Net.source IN
     /\ handed = [p \in Processes |-> [t \in Numberings |-> <<>>]]
     /\ begun = [p \in Processes |-> [t \in Numberings |-> <<>>]]
     /\ clocks = [p \in Processes |-> <<>>]
     /\ delivered = [p \in Processes |-> [c \in Processes |-> NoNumber]]
     /\ heard = [p \in Processes |-> [c \in Processes |-> <<>>]]
     /\ of = [p \in Processes |-> {}]
     /\ ready = [p \in Processes |-> [c \in Processes |-> [number |-> 0, since |-> 0]]]
     /\ forwarded = [l \in links |-> [c \in Processes |-> NoNumber]]
     /\ NothingOnLinks
     /\ state = [p \in Processes |-> "up"]

Came == Kind = "arrived" /\ Packet = "data" /\ Has(came[Link], Pseq)

ReadRow ==
  /\ Reading
  /\ LET action == Action(Came)
         broken == BrokenOf(Keeps(action))
     IN  IF broken = {} THEN Accept(action) /\ Remember(action)
         ELSE Reject(action, broken, Wanted) /\ UNCHANGED seen

Next == ReadRow \/ ((Finish \/ Over) /\ UNCHANGED seen)

Spec == Init /\ [][Next]_vars
=============================================================================
