---------------------------- MODULE MCWorkQueue ----------------------------
(* Instances of WorkQueue: who sends what, and which server it is on. *)
EXTENDS WorkClauses, WorkRules

Group(correlation, priority, size) ==
  [correlation |-> correlation, priority |-> priority, size |-> size, last |-> FALSE]
Last(correlation) == [correlation |-> correlation, priority |-> 1, size |-> 1, last |-> TRUE]

(* a and b are servers, s1 and s2 senders on them, w1, w2 and w3 workers. *)
OnTwo == [x \in {"s1", "s2", "w1", "w2", "w3"} |-> IF x \in {"s1", "w1", "w3"} THEN "a" ELSE "b"]

OneGroup == [s \in Sender |-> <<Group("c", 1, 1)>>]
TwoMessages == [s \in Sender |-> <<Group("c", 1, 2)>>]
(* Two groups of one correlation, the second with the higher priority, and one of another. *)
Overtaking == [s \in Sender |-> IF s = "s1" THEN <<Group("c", 2, 1), Group("c", 1, 1)>> ELSE <<Group("d", 1, 1)>>]
Apart == [s \in Sender |-> IF s = "s1" THEN <<Group("c", 2, 1)>> ELSE <<Group("c", 1, 1)>>]
Plain == [s \in Sender |-> <<Group("c", 1, 1), Group("c", 1, 1)>>]
Marked == [s \in Sender |-> <<Group("c", 1, 1), Last("c")>>]
MarkedAndMore == [s \in Sender |-> <<Group("c", 1, 1), Last("c"), Group("c", 1, 1)>>]
WithEmpty == [s \in Sender |-> <<Group("c", 1, 0), Group("c", 1, 1)>>]
Three == [s \in Sender |-> <<Group("c", 1, 1), Group("d", 2, 1), Group("e", 1, 1)>>]

NoPoison == {}
FirstOfFirst == {<<"s1", 1, 1>>}
BothOfFirst == {<<"s1", 1, 1>>, <<"s1", 1, 2>>}

(* Mutants: an action that is never taken, and in the place of Rest a store that makes up a lock. *)
NeverOf(x) == FALSE
WrongKind ==
  /\ table' = [g \in Groups |-> [table[g] EXCEPT !.lock = "both"]]
  /\ UNCHANGED <<sender, worker, list, down, failures>>
=============================================================================
