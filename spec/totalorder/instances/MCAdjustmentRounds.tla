------------------------- MODULE MCAdjustmentRounds -------------------------
(* Senders 1 and 2 with receivers 1 and 2 that are other hosts; and hosts that send to themselves. *)
EXTENDS AdjustmentRoundClauses, AdjustmentRules

OneAndTwo == {1, 2}
OneToThree == {1, 2, 3}

(* Every pair is measured where senders and receivers are other hosts. *)
Table(d) == [s \in Sender |-> [r \in Receiver |-> d[s][r]]]
UpTo(n) == [Sender -> [Receiver -> 0 .. n]]
AnyUpToOne == UpTo(1)
AnyUpToTwo == UpTo(2)
Same == {[s \in Sender |-> [r \in Receiver |-> 1]]}
FastAndMixed == {[s \in Sender |-> [r \in Receiver |-> k * ((s + r) % 2)]] : k \in {0, 2}}
NoSkew == [s \in Sender |-> 0]
FirstAhead == [s \in Sender |-> IF s = 1 THEN 1 ELSE 0]

(* The worked example; its ways back take as long. *)
DocumentDelays == {Table(<< <<10, 10>>, <<1, 5>> >>)}

(* One sender is slower than without adjustment. *)
SlowerTogether == {Table(<< <<0, 1>>, <<1, 0>>, <<1, 1>> >>)}

(* Hosts: 1 is up to 2 away from each of the others, all else is 1, and 0 from each host to itself. *)
ThreeHosts ==
  {d \in UpTo(2) : \A s \in Sender, r \in Receiver :
    (s = r => d[s][r] = 0) /\ (s # r /\ s # 1 => d[s][r] = 1)}
NoDelay == UpTo(0)

(* The first sender's adjustment of the worked example, after one round and after three. *)
StaysAtFive == AllEnd /\ round = MostRounds => adjustment[1] = 5
NobodyIsAdjusted == AllEnd => \A s \in Sender : adjustment[s] = 0

(* Mutants: an action that is never taken, and its end. *)
Never == FALSE
AnyRest == UNCHANGED vars
=============================================================================
