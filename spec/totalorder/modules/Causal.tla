------------------------------- MODULE Causal -------------------------------
(***************************************************************************)
(* What a host scatters after it has delivered a message is ordered after  *)
(* that message.  Total order alone does not give it where a host is not   *)
(* among its own receivers: its own clock then holds nothing back.         *)
(*                                                                         *)
(* Source: 1Pipe, SIGCOMM 2021, causality; not in source document 000.     *)
(***************************************************************************)
EXTENDS BarrierClauses

LastDelivered(h) ==
  IF delivered[h] = <<>> THEN 0 ELSE delivered[h][Len(delivered[h])].timestamp

(* Floor: strictly above what the host has given and what it has delivered. *)
LastOrDelivered(h) == Max(Last(h), LastDelivered(h))

(* Floor, damaged: at what it has delivered. *)
LastOrAtDelivered(h) == Max(Last(h), LastDelivered(h) - 1)

(* TO-CAUSAL *)
RepliesOrderedAfterDelivered ==
  [][\A h \in Host :
       Len(sent'[h]) > Len(sent[h]) =>
         \A i \in DOMAIN delivered[h] :
           delivered[h][i].timestamp < sent'[h][Len(sent'[h])].timestamp]_vars

(* An action constraint: host 1 scatters replies alone, that is, once it has delivered something. *)
OnlyReplies == Len(sent'[1]) > Len(sent[1]) => delivered[1] # <<>>

(* What it comes to under this constraint: no receiver delivers a reply of host 1 ahead of what *)
(* host 2 has scattered.                                                                        *)
ReplyFollows ==
  \A r \in Host : \A i, j \in DOMAIN delivered[r] :
    delivered[r][i].sender = 2 /\ delivered[r][j].sender = 1 => i < j

(* Reachability: TLC must refute it.  A host that has delivered a message scatters, and this is delivered. *)
ReplyReach == \A r \in Host : Len(delivered[r]) < 2
=============================================================================
