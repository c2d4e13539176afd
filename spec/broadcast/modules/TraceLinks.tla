------------------------------ MODULE TraceLinks ------------------------------
(***************************************************************************)
(* Perfect links as an observer outside sees them, below the broadcast or  *)
(* alone: what is put on them under which numbers, what arrives, what is   *)
(* acknowledged to its sender, and what a receiver has not answered.       *)
(* When something must be sent again is not said, but that nothing is left *)
(* unacknowledged in the end is.  TraceBroadcast goes on.                  *)
(***************************************************************************)
EXTENDS TraceColumns

VARIABLES
  numbered,  \* numbered[l][i] is the index of the row that put something on link l under its number i
  put,       \* put[l] is the sequence of the indices of all rows that put a packet on link l
  came,      \* came[l] are the numbers that have arrived from link l
  acked,     \* acked[l] are the numbers of link l whose acknowledgement has arrived at its source
  owed,      \* owed[l] are the numbers from link l whose last copy is neither acknowledged nor refused
  newest,    \* newest[l] is the number that arrived last from link l; 0 for none
  said,      \* said[l] is the number up to which the target of l has said that all has come
  state      \* state[p] is "up", "paused" or "down"
onLinks == <<numbered, put, came, acked, owed, newest, said>>
-----------------------------------------------------------------------------
(* An acknowledgement is for the link the other way; what it is of. *)
Back == CHOOSE l \in DOMAIN Net.source : Net.source[l] = Target /\ Net.target[l] = Source
Answered == Pseq .. Pseq + Count - 1

(* What was put on the row's link under that number. *)
CarriedUnder(i) == CarriedBy(Net.rows[numbered[Link][i]])

(* Numbers that have not been acknowledged to the node that sent them, as far as this can be told. *)
OnTheirWay(l) ==
  IF Net.source[l] \in Net.arrived
  THEN (acked[l].upto + 1 .. Len(numbered[l])) \ acked[l].beyond
  ELSE {}

IsUp == [OneThatStandsStillDoesNothing |-> state[Node] = "up"]
OnItsLink == [OnItsLink |-> Source = Node /\ Receiver = Target, CountedOnItsLink |-> LinkSeq = Len(put[Link])]
-----------------------------------------------------------------------------
(* A packet under a new number: the next one, of what is not on its way already, within the window. *)
NumberedKeeps ==
  [LinkNumbersApart |->                                                 \* BC-PL-PSEQ
     /\ Pseq = Len(numbered[Link]) + 1
     /\ \A i \in OnTheirWay(Link) : SubSeq(CarriedUnder(i), 1, 2) # <<Sender, Number>>,
   DeliveredPrefixCollapses |->                                         \* BC-PL-MEMORY
     \A i \in OnTheirWay(Link) : Pseq - i < Net.window]
  @@ OnItsLink @@ IsUp

ResendKeeps ==
  [LinkNumbersApart |-> Pseq \in DOMAIN numbered[Link] /\ CarriedUnder(Pseq) = Carried,    \* BC-PL-PSEQ
   UnacknowledgedIsResent |-> Node \in Net.arrived => Pseq > acked[Link].upto]              \* BC-PL-RESEND
  @@ OnItsLink @@ IsUp

AnswerKeeps ==
  LET all == Node \in Net.arrived IN
  [UnacknowledgedIsResent |->                                           \* BC-PL-RESEND
     all => /\ Number \in 0 .. came[Back].upto
            /\ Pseq >= 1 /\ Count >= 1 /\ \A i \in Answered : Has(came[Back], i),
   DeliveredPrefixCollapses |-> all => Number >= came[Back].upto]       \* BC-PL-MEMORY
  @@ OnItsLink @@ IsUp

ArriveKeeps ==
  [ArrivedAsSent |->
     /\ Target = Node
     /\ Net.linked /\ Source \in Net.sent =>
          LinkSeq + 1 \in DOMAIN put[Link] /\ ContentOf(Net.rows[put[Link][LinkSeq + 1]]) = Content]
  @@ IsUp

(* At the end of a run that has settled. *)
Live == {p \in Processes : state[p] = "up"}
LiveLinks ==
  {l \in DOMAIN Net.source : Net.source[l] \in Live \cap Net.sent /\ Net.target[l] \in Live \cap Net.arrived}

PacketsHaveCome == \A l \in LiveLinks : came[l].upto >= Len(numbered[l])

AllIsAcknowledged ==
  /\ \A l \in LiveLinks : OnTheirWay(l) = {}
  /\ \A l \in DOMAIN Net.source : Net.target[l] \in Live \cap Net.sent \cap Net.arrived => owed[l] = {}
-----------------------------------------------------------------------------
(* What the observer remembers of a packet that is put on its link, under a new number, again, or as an answer. *)
Put == put' = [put EXCEPT ![Link] = Append(@, at)]

PutNew ==
  /\ numbered' = [numbered EXCEPT ![Link] = Append(@, at)]
  /\ Put /\ UNCHANGED <<came, acked, owed, newest, said>>

PutAgain == Put /\ UNCHANGED <<numbered, came, acked, owed, newest, said>>

PutAnswer ==
  /\ owed' = [owed EXCEPT ![Back] = {i \in @ : i > Number /\ i \notin Answered}]
  /\ said' = [said EXCEPT ![Back] = IF Number > @ THEN Number ELSE @]
  /\ Put /\ UNCHANGED <<numbered, came, acked, newest>>

(* A packet with data has arrived, for the first time or again; or an answer, which counts for what was sent alone. *)
Take ==
  /\ came' = [came EXCEPT ![Link] = With(@, {Pseq})]
  /\ owed' = [owed EXCEPT ![Link] = @ \cup {Pseq}]
  /\ newest' = [newest EXCEPT ![Link] = Pseq]
  /\ UNCHANGED <<numbered, put, acked, said>>

TakeAnswer ==
  LET waiting == acked[Back].upto + 1 .. Len(numbered[Back]) IN
  /\ acked' = IF Pseq >= 1 /\ Count >= 1
              THEN [acked EXCEPT ![Back] = With(@, {i \in waiting : i <= Number \/ i \in Answered})]
              ELSE acked
  /\ UNCHANGED <<numbered, put, came, owed, newest, said>>

(* What a process has said that it has, it may not refuse. *)
GiveUp ==
  /\ owed' = IF newest[Link] > said[Link] THEN [owed EXCEPT ![Link] = @ \ {newest[Link]}] ELSE owed
  /\ UNCHANGED <<numbered, put, came, acked, newest, said>>

NothingOnLinks ==
  LET links == DOMAIN Net.source IN
  /\ numbered = [l \in links |-> <<>>]
  /\ put = [l \in links |-> <<>>]
  /\ came = [l \in links |-> NoNumber]
  /\ acked = [l \in links |-> NoNumber]
  /\ owed = [l \in links |-> {}]
  /\ newest = [l \in links |-> 0]
  /\ said = [l \in links |-> 0]
=============================================================================
