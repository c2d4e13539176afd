------------------------------ MODULE TraceRounds ------------------------------
(***************************************************************************)
(* Adjustment of timestamps as an observer outside sees it: from the two   *)
(* messages of each round, and the local clocks of the rows, follows what  *)
(* each host adds to its clock, and so what it may stamp and promise.      *)
(* These are sums of times: where they are too large for the integers of   *)
(* TLC, Net.sums is false, and nothing is asked.  TraceOrder goes on.      *)
(***************************************************************************)
EXTENDS TraceColumns

VARIABLES
  round,     \* round[h] is the last round that h began; begun is its local clock then, least is of those who answered
  served,    \* served[h] is the set of the hosts to which h has sent data
  added,     \* added[h] is what h adds to its clock: that of its last round in which all answered
  collected  \* collected[h][s] is the first message of s to have arrived at h
rounds == <<round, served, added, collected>>
-----------------------------------------------------------------------------
Summed == Net.sums /\ Node \in Net.arrived /\ Local # Absent
Adjusted == Local + added[Node]

NoRound == [number |-> Absent, begun |-> Absent, due |-> {}, asked |-> {}, answered |-> {}, least |-> 0]
BeginsNext == round[Node].number \notin {Absent, Number}

LatestOf(first) == MaxOver({first[s].arrival : s \in DOMAIN first})
AlignedMaximum(first) ==
  MaxOver({first[s].timestamp + LatestOf(first) - first[s].arrival : s \in DOMAIN first})

(* Messages of rounds; the promise and the last timestamp are those of the host. *)
AskKeeps ==
  [SenderTakesLeastDifference |->                                               \* TO-ADJ-2
     /\ Summed => Receiver # Node /\ Timestamp = Local
     /\ Net.sums /\ BeginsNext => round[Node].due \subseteq round[Node].asked,
   AdjustmentIsRepeated |->                                                     \* TO-ADJ-ROUNDS
     Summed /\ BeginsNext =>
       Number > round[Node].number /\ Local <= round[Node].begun + 2 * Net.interval]

ReturnKeeps ==
  LET first == collected[Node] IN
  [ReceiverReturnsAlignedMaximum |->                                            \* TO-ADJ-1
     Summed => /\ Receiver \in DOMAIN first /\ first[Receiver].number = Number
               /\ Timestamp = AlignedMaximum(first)
               /\ Held = LatestOf(first) - first[Receiver].arrival]

RoundKeeps == IF Packet = "adjust" THEN AskKeeps ELSE IF Packet = "adjusted" THEN ReturnKeeps ELSE <<>>

(* The first timestamp of a scattering, after `last` and what was promised. *)
StampKeeps(first, last, promised) ==
  LET above == MaxOver({promised, IF last = 0 THEN 0 ELSE last + 1})
      due == MaxOver({Adjusted, above})
  IN
  [SenderTakesLeastDifference |->                                               \* TO-ADJ-2
     first /\ Summed => Timestamp = due \/ (Net.causal /\ Timestamp > due),
   AdjustmentKeepsPromises |-> first /\ Net.sums => Timestamp >= above]           \* TO-ADJ-SAFE

PromiseKeeps(last, promised) ==
  [AdjustmentKeepsPromises |->                                                  \* TO-ADJ-SAFE
     Summed /\ Barrier # Absent => Barrier = MaxOver({Adjusted, last, promised})]
-----------------------------------------------------------------------------
(* What the observer remembers. *)
Ask ==
  LET this == IF round[Node].number = Number THEN round[Node]
              ELSE [NoRound EXCEPT !.number = Number, !.begun = Local, !.due = served[Node] \ {Node}]
  IN
  /\ round' = [round EXCEPT ![Node] = [this EXCEPT !.asked = @ \cup {Receiver}]]
  /\ UNCHANGED <<served, added, collected>>

Serve ==
  /\ served' = [served EXCEPT ![Node] = @ \cup {Receiver}]
  /\ UNCHANGED <<round, added, collected>>

(* What is answered stays until something new comes. *)
Collect ==
  LET old == collected[Node]
      kept == {s \in DOMAIN old : s # Sender /\ ~ old[s].answered}
      new == [timestamp |-> Timestamp, arrival |-> Local, number |-> Number, answered |-> FALSE]
  IN
  /\ collected' = [collected EXCEPT ![Node] = [s \in kept \cup {Sender} |-> IF s = Sender THEN new ELSE old[s]]]
  /\ UNCHANGED <<round, served, added>>

(* What has no way back to its sender is of the round in which others are answered. *)
HasWayBack(s) == s \in DOMAIN Net.next[Node] /\ Net.next[Node][s] > 0
Return ==
  LET old == collected[Node]
      done(s) == old[s].answered \/ s = Receiver \/ ~ HasWayBack(s)
  IN
  /\ collected' = IF Receiver \in DOMAIN old
                  THEN [collected EXCEPT ![Node] = [s \in DOMAIN old |-> [old[s] EXCEPT !.answered = done(s)]]]
                  ELSE collected
  /\ UNCHANGED <<round, served, added>>

(* The returned maximum, plus the round trip, less the local time: what has gone since it was asked falls out. *)
Conclude ==
  LET this == round[Node]
      difference == Timestamp - this.begun - Held
      least == IF this.answered = {} \/ difference < this.least THEN difference ELSE this.least
      answered == this.answered \cup {Sender}
      counts == this.number = Number /\ this.begun # Absent /\ Sender \in this.asked \ this.answered
  IN
  /\ round' = IF counts THEN [round EXCEPT ![Node].least = least, ![Node].answered = answered] ELSE round
  /\ added' = IF counts /\ answered = this.asked THEN [added EXCEPT ![Node] = least] ELSE added
  /\ UNCHANGED <<served, collected>>

RememberRound ==
  CASE ~ Net.sums \/ ~ IsHost(Node) -> UNCHANGED rounds
    [] Kind = "sent" /\ Packet = "adjust" /\ Sender = Node -> Ask
    [] Kind = "sent" /\ Packet = "data" /\ Sender = Node -> Serve
    [] Kind = "sent" /\ Packet = "adjusted" /\ Sender = Node -> Return
    [] Kind = "arrived" /\ Packet = "adjust" /\ Receiver = Node /\ Local # Absent -> Collect
    [] Kind = "arrived" /\ Packet = "adjusted" /\ Receiver = Node -> Conclude
    [] OTHER -> UNCHANGED rounds

NoRounds ==
  LET nodes == DOMAIN Net.ingress IN
  /\ round = [n \in nodes |-> NoRound]
  /\ served = [n \in nodes |-> {}]
  /\ added = [n \in nodes |-> 0]
  /\ collected = [n \in nodes |-> <<>>]
=============================================================================
