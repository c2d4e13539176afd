----------------------------- MODULE TotalOrder -----------------------------
(***************************************************************************)
(* What total-order message scattering promises, with no network in sight. *)
(* Hosts scatter messages; each receiver delivers some of what was         *)
(* scattered to it, all receivers in one order: by (timestamp, sender).    *)
(* A scattering that a receiver has passed over it never delivers.         *)
(*                                                                         *)
(* Source: source document 000 (patent text), environment A, the handling  *)
(* at the sender and at the receiver.  BarrierOrder refines this module.   *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  Host,          \* numbers: the order of senders breaks ties of timestamps
  Destinations,  \* Destinations[h] is the set of receiver sets that h scatters to
  Time           \* the timestamps; 0 is before them all

ASSUME HostsAreNumbers == Host \subseteq Nat
ASSUME DestinationsAreHosts == \A h \in Host : Destinations[h] \subseteq SUBSET Host
ASSUME TimeIsPositive == Time \subseteq Nat \ {0}

VARIABLES
  sent,      \* sent[h] is the sequence of h's scatterings, oldest first
  delivered  \* delivered[h] is the sequence of h's deliveries, oldest first
vars == <<sent, delivered>>

Scattering == [timestamp : Nat, receivers : SUBSET Host]
Delivery == [sender : Host, number : Nat, timestamp : Nat]

TypeOK ==
  /\ \A h \in Host : \A i \in DOMAIN sent[h] : sent[h][i] \in Scattering
  /\ \A h \in Host : \A i \in DOMAIN delivered[h] : delivered[h][i] \in Delivery

Precedes(m, n) == \/ m.timestamp < n.timestamp
                  \/ m.timestamp = n.timestamp /\ m.sender < n.sender
-----------------------------------------------------------------------------
Init ==
  /\ sent = [h \in Host |-> <<>>]
  /\ delivered = [h \in Host |-> <<>>]

(***************************************************************************)
(* A sender gives one timestamp, above all of its earlier ones, to a set   *)
(* of receivers.                                                           *)
(***************************************************************************)
Scatter(h, t, receivers) ==
  /\ \A i \in DOMAIN sent[h] : sent[h][i].timestamp < t                \* TO-MONO
  /\ sent' = [sent EXCEPT ![h] =
                Append(@, [timestamp |-> t, receivers |-> receivers])] \* TO-SCATTER
  /\ UNCHANGED delivered

(***************************************************************************)
(* A receiver delivers a message that was scattered to it and that comes   *)
(* after all that it has delivered.                                        *)
(***************************************************************************)
Deliver(r, h, n) ==
  LET m == [sender |-> h, number |-> n, timestamp |-> sent[h][n].timestamp] IN
  /\ r \in sent[h][n].receivers                                        \* TO-ONCE
  /\ \A i \in DOMAIN delivered[r] : Precedes(delivered[r][i], m)       \* TO-ORDER
  /\ delivered' = [delivered EXCEPT ![r] = Append(@, m)]
  /\ UNCHANGED sent

(* It only keeps plain TLC from calling the end of a bounded time a deadlock.  It comes first, as it is *)
(* what most steps of a module that refines this one are, and TLC looks no further then.               *)
Rest == UNCHANGED vars

Next ==
  \/ Rest
  \/ \E h \in Host : \E receivers \in Destinations[h], t \in Time : Scatter(h, t, receivers)
  \/ \E r \in Host, h \in Host : \E n \in DOMAIN sent[h] : Deliver(r, h, n)

Spec == Init /\ [][Next]_vars
-----------------------------------------------------------------------------
(* TO-MONO: the timestamps of a sender rise strictly in the order of sending. *)
TimestampsRise ==
  \A h \in Host : \A i, j \in DOMAIN sent[h] :
    i < j => sent[h][i].timestamp < sent[h][j].timestamp

(* TO-ORDER: every receiver delivers in the order of (timestamp, sender). *)
DeliveredInTotalOrder ==
  \A r \in Host : \A i, j \in DOMAIN delivered[r] :
    i < j => Precedes(delivered[r][i], delivered[r][j])

(* TO-ORDER in its weaker form, for any order at all: what two receivers   *)
(* both deliver they deliver in the same order.  It follows from the above.*)
ReceiversAgree ==
  \A r, q \in Host :
    \A i, j \in DOMAIN delivered[r] : \A k, l \in DOMAIN delivered[q] :
      /\ delivered[r][i] = delivered[q][k]
      /\ delivered[r][j] = delivered[q][l]
      => (i < j <=> k < l)

(* TO-ONCE: no receiver delivers what was not scattered to it, or twice, or changed. *)
DeliveredOnceAsSent ==
  \A r \in Host :
    /\ \A i \in DOMAIN delivered[r] :
         LET m == delivered[r][i] IN
         /\ m.number \in DOMAIN sent[m.sender]
         /\ m.timestamp = sent[m.sender][m.number].timestamp
         /\ r \in sent[m.sender][m.number].receivers
    /\ \A i, j \in DOMAIN delivered[r] :
         i # j => \/ delivered[r][i].sender # delivered[r][j].sender
                  \/ delivered[r][i].number # delivered[r][j].number

(* Reachability: TLC must refute it.  Two receivers deliver two tied messages. *)
NoTieReach ==
  ~ \E r, q \in Host : \E i \in DOMAIN delivered[r], j \in DOMAIN delivered[q] :
      /\ r # q /\ i > 1 /\ j > 1
      /\ delivered[r][i - 1].timestamp = delivered[r][i].timestamp
      /\ delivered[q][j - 1].timestamp = delivered[q][j].timestamp
=============================================================================
