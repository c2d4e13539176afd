----------------------------- MODULE Embodiments -----------------------------
(***************************************************************************)
(* What all embodiments of a switch have in common: of the same            *)
(* scatterings each delivers the same messages in the same order, each as  *)
(* far as its beacons have come.  For each receiver that is the sequence   *)
(* of all that was scattered to it, by precedence, from its beginning.     *)
(***************************************************************************)
EXTENDS BarrierClauses

(* No receiver has passed over a message that was scattered to it.  With TO-ORDER this leaves   *)
(* one sequence of deliveries alone, which an embodiment can only be ahead in or behind.        *)
NothingPassedOver ==
  \A r \in Host, h \in Host :
    delivered[r] # <<>> =>
      \A n \in DOMAIN sent[h] :
        LET m == [sender |-> h, number |-> n, timestamp |-> sent[h][n].timestamp] IN
        r \in sent[h][n].receivers /\ Abstract!Precedes(m, delivered[r][Len(delivered[r])])
          => \E i \in DOMAIN delivered[r] : delivered[r][i] = m

(* TO-SW-1, TO-SW-3: the switch of BarrierOrder is one processor that takes and forwards in one step. *)
OneProcessorDataBarriers == Environment = "A" => NothingPassedOver
OneProcessorIdleBeacons == Environment = "C" => NothingPassedOver

(* TO-BAR-FILL: a host's data have no barrier on its link, and its first switch holds the       *)
(* timestamp of what it takes, and sends a barrier on, as if the host had written it.            *)
FirstSwitchFillsBarrier ==
  [][~ HostFills =>
       \A l \in HostEgress :
         /\ \A i \in Added(l) : IsData(channel'[l][i]) => channel'[l][i].barrier = Absent
         /\ Len(channel'[l]) < Len(channel[l]) /\ IsData(Head(channel[l])) =>
              /\ newest'[l] = DataBarrier(Head(channel[l]).timestamp)
              /\ \A k \in SwitchEgress : \A i \in Added(k) : channel'[k][i].barrier # Absent]_vars
=============================================================================
