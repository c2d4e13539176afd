-------------------------- MODULE GuaranteedDelivery --------------------------
(***************************************************************************)
(* Guaranteed messages of one publisher for one subscriber, which goes     *)
(* away and comes back.  An appliance takes them into its memory, copies   *)
(* them to a cache engine, and tells the publisher that they are safe;     *)
(* what is safe goes to the subscriber, in its order.  The appliance may   *)
(* fail, and loses its memory; the connection to the cache engine may be   *)
(* cut; what is on the way to a subscriber that goes is lost.              *)
(*                                                                         *)
(* Source: source document 001, end-to-end architecture: guaranteed while  *)
(* connected and while disconnected; the cache engine.  That a publisher   *)
(* is told, that it sends again what it was not told of, and that a        *)
(* subscriber says up to where it has got all, are ours.                   *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  Most,                \* how many messages there are
  MostFaults,          \* how often anything fails, in all
  Faults,              \* what may fail: "leave", "crash", "cut"
  MayTell(_, _, _),    \* rules: whether a message is told to be safe: is it stored, in memory, is the engine linked
  MayGo(_, _, _),      \* whether it goes to the subscriber, of the same
  From(_, _),          \* behind which message it goes on when the subscriber comes back: of what was sent, and got
  Accepts(_, _),       \* whether the subscriber takes a message: of the last that it has, and its number
  MayRemove(_, _)      \* whether the cache engine may remove a message: of its number, and the last acknowledged

VARIABLES
  memory,  \* the numbers of the messages that the appliance has
  stored,  \* those that the cache engine has
  told,    \* up to which the publisher was told that they are safe
  linked,  \* whether the cache engine is connected
  here,    \* whether the subscriber is
  sent,    \* up to which messages were sent to the subscriber
  way,     \* the sequence of those on the way to it
  got,     \* the sequence of those that it got
  faults   \* how often anything failed, and whether the subscriber went
vars == <<memory, stored, told, linked, here, sent, way, got, faults>>

Range(seq) == {seq[i] : i \in DOMAIN seq}
Last == IF got = <<>> THEN 0 ELSE got[Len(got)]
Least(numbers) == CHOOSE n \in numbers : \A m \in numbers : n <= m
IsSafe(k) == MayTell(k \in stored, k \in memory, linked)

Init ==
  /\ memory = {} /\ stored = {} /\ told = 0
  /\ linked = TRUE /\ here = TRUE
  /\ sent = 0 /\ way = <<>> /\ got = <<>>
  /\ faults = [number |-> 0, left |-> FALSE]

(* The publisher sends the next message, and again those that it was not told of. *)
Take(k) ==
  /\ k \in told + 1 .. Most /\ k \notin memory \cup stored
  /\ \A j \in told + 1 .. k - 1 : j \in memory \cup stored
  /\ memory' = memory \cup {k}
  /\ UNCHANGED <<stored, told, linked, here, sent, way, got, faults>>

(* The cache engine stores the first message that it lacks. *)
Store ==
  /\ linked /\ memory \ stored # {}
  /\ stored' = stored \cup {Least(memory \ stored)}
  /\ UNCHANGED <<memory, told, linked, here, sent, way, got, faults>>

Tell ==
  /\ told < Most /\ IsSafe(told + 1)
  /\ told' = told + 1
  /\ UNCHANGED <<memory, stored, linked, here, sent, way, got, faults>>

(* The temporary cache is overwritten. *)
Overwrite(k) ==
  /\ k \in memory /\ k <= told
  /\ memory' = memory \ {k}
  /\ UNCHANGED <<stored, told, linked, here, sent, way, got, faults>>

Remove(k) ==
  /\ k \in stored /\ MayRemove(k, Last)
  /\ stored' = stored \ {k} /\ memory' = memory \ {k}
  /\ UNCHANGED <<told, linked, here, sent, way, got, faults>>

Send ==
  /\ here /\ sent < Most
  /\ sent + 1 \in stored \cup memory /\ MayGo(sent + 1 \in stored, sent + 1 \in memory, linked)
  /\ sent' = sent + 1
  /\ way' = Append(way, sent + 1)
  /\ UNCHANGED <<memory, stored, told, linked, here, got, faults>>

Deliver ==
  /\ way # <<>>
  /\ way' = Tail(way)
  /\ got' = IF Accepts(Last, Head(way)) THEN Append(got, Head(way)) ELSE got
  /\ UNCHANGED <<memory, stored, told, linked, here, sent, faults>>

Return ==
  /\ ~ here
  /\ here' = TRUE
  /\ sent' = From(sent, Last)
  /\ UNCHANGED <<memory, stored, told, linked, way, got, faults>>

Mend ==
  /\ ~ linked
  /\ linked' = TRUE
  /\ UNCHANGED <<memory, stored, told, here, sent, way, got, faults>>

Fails(what) == what \in Faults /\ faults.number < MostFaults
Leave ==
  /\ Fails("leave") /\ here
  /\ here' = FALSE /\ way' = <<>>
  /\ faults' = [number |-> faults.number + 1, left |-> TRUE]
  /\ UNCHANGED <<memory, stored, told, linked, sent, got>>

(* The appliance fails and begins anew; whoever was connected is not. *)
Crash ==
  /\ Fails("crash")
  /\ memory' = {} /\ here' = FALSE /\ way' = <<>>
  /\ faults' = [number |-> faults.number + 1, left |-> TRUE]
  /\ UNCHANGED <<stored, told, linked, sent, got>>

Cut ==
  /\ Fails("cut") /\ linked
  /\ linked' = FALSE
  /\ faults' = [faults EXCEPT !.number = @ + 1]
  /\ UNCHANGED <<memory, stored, told, here, sent, way, got>>

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next ==
  \/ Idle \/ Store \/ Tell \/ Send \/ Deliver \/ Return \/ Mend \/ Leave \/ Crash \/ Cut
  \/ \E k \in 1 .. Most : Take(k) \/ Overwrite(k) \/ Remove(k)

Fair ==
  /\ WF_vars(Store) /\ WF_vars(Tell) /\ WF_vars(Send) /\ WF_vars(Deliver) /\ WF_vars(Return) /\ WF_vars(Mend)
  /\ \A k \in 1 .. Most : WF_vars(Take(k))
Spec == Init /\ [][Next]_vars /\ Fair
-----------------------------------------------------------------------------
(* PS-PERSISTED: what was told to be safe is there, until it is delivered. *)
StoredSurvives == \A k \in 1 .. told : k \in stored \cup memory \cup Range(got)

(* PS-QOS-GC, PS-QOS-GD: neither gap nor repeat. *)
NeitherGapNorRepeat == \A i \in DOMAIN got : got[i] = i

(* PS-QOS-GC *)
ConnectedGetAll == \A k \in 1 .. Most : told >= k ~> (k \in Range(got) \/ faults.left)

(* PS-QOS-GD *)
DisconnectedGetAll == \A k \in 1 .. Most : told >= k ~> k \in Range(got)

(* Reachability: TLC must find these false. *)
NoReplayReach == ~ (faults.left /\ Len(got) = Most)
-----------------------------------------------------------------------------
WhenStored(isStored, inMemory, isLinked) == isStored
WhenThere(isStored, inMemory, isLinked) == isStored \/ inMemory
BehindIts(before, last) == last
TheNext(last, number) == number = last + 1
WhenAcknowledged(number, last) == number <= last
-----------------------------------------------------------------------------
(* Literal: an appliance copies what it routes to the cache engine while its connection to that is active. *)
WhileLinked(isStored, inMemory, isLinked) == isStored \/ (inMemory /\ ~ isLinked)

(* Literal: messages are kept for a time. *)
AfterATime(number, last) == TRUE
-----------------------------------------------------------------------------
(* Damage *)
BehindWhatWasSent(before, last) == before
FromTheBeginning(before, last) == 0
Anything(last, number) == TRUE
=============================================================================
