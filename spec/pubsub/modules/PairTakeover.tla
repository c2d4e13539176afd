----------------------------- MODULE PairTakeover -----------------------------
(***************************************************************************)
(* A pair of appliances.  The first takes messages from a publisher and    *)
(* hands a copy of each to the second, and sends them to a subscriber.     *)
(* When one of them fails the other goes on alone; the second may suspect  *)
(* the first, and go on although that lives.  The subscriber says up to    *)
(* where it has got all.                                                   *)
(*                                                                         *)
(* Source: source document 001, end-to-end architecture: fault tolerance.  *)
(* How a pair works together the document does not say; that is ours.      *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  Most,           \* how many messages there are
  MayTell(_, _),  \* rules: whether the publisher is told of a message: has the other one it, and does it live
  From(_, _),     \* behind which message the second begins: of what it has, and what the subscriber got
  Accepts(_, _)   \* whether the subscriber takes a message: of the last that it has, and its number

VARIABLES
  has,     \* has[a]: up to which message appliance a has all
  copies,  \* the sequence of the copies on the way to the second
  told,    \* up to which the publisher was told
  lives,   \* the appliances that live
  acts,    \* those that send
  sent,    \* sent[a]: up to which message a has sent
  way,     \* way[a]: the sequence of messages on the way from a
  got      \* of those that the subscriber got
vars == <<has, copies, told, lives, acts, sent, way, got>>

Pair == {1, 2}
Other(a) == 3 - a
Last == IF got = <<>> THEN 0 ELSE got[Len(got)]

Init ==
  /\ has = [a \in Pair |-> 0] /\ copies = <<>> /\ told = 0
  /\ lives = Pair /\ acts = {1}
  /\ sent = [a \in Pair |-> 0] /\ way = [a \in Pair |-> <<>>] /\ got = <<>>

(* The publisher sends the next message, or one that it was not told of again, to one that acts. *)
Take(a) ==
  /\ a \in acts \cap lives /\ has[a] < Most /\ has[a] >= told
  /\ has' = [has EXCEPT ![a] = @ + 1]
  /\ copies' = IF a = 1 /\ 2 \in lives THEN Append(copies, has'[1]) ELSE copies
  /\ UNCHANGED <<told, lives, acts, sent, way, got>>

Copy ==
  /\ copies # <<>>
  /\ copies' = Tail(copies)
  /\ has' = IF 2 \in lives /\ Head(copies) = has[2] + 1 THEN [has EXCEPT ![2] = @ + 1] ELSE has
  /\ UNCHANGED <<told, lives, acts, sent, way, got>>

Tell(a) ==
  /\ a \in acts \cap lives /\ told < has[a]
  /\ MayTell(has[Other(a)] > told, Other(a) \in lives)
  /\ told' = told + 1
  /\ UNCHANGED <<has, copies, lives, acts, sent, way, got>>

Send(a) ==
  /\ a \in acts \cap lives /\ sent[a] < has[a]
  /\ sent' = [sent EXCEPT ![a] = @ + 1]
  /\ way' = [way EXCEPT ![a] = Append(@, sent'[a])]
  /\ UNCHANGED <<has, copies, told, lives, acts, got>>

Deliver(a) ==
  /\ way[a] # <<>>
  /\ way' = [way EXCEPT ![a] = Tail(@)]
  /\ got' = IF Accepts(Last, Head(way[a])) THEN Append(got, Head(way[a])) ELSE got
  /\ UNCHANGED <<has, copies, told, lives, acts, sent>>

(* One of the two fails, with all that it has on its ways. *)
Fail(a) ==
  /\ lives = Pair /\ (a = 2 => 2 \notin acts)
  /\ lives' = {Other(a)}
  /\ copies' = <<>> /\ way' = [way EXCEPT ![a] = <<>>]
  /\ UNCHANGED <<has, told, acts, sent, got>>

(* The second takes over: because the first failed, or as it suspects it. *)
TakeOver ==
  /\ 2 \in lives \ acts
  /\ acts' = acts \cup {2}
  /\ sent' = [sent EXCEPT ![2] = From(has[2], Last)]
  /\ UNCHANGED <<has, copies, told, lives, way, got>>

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next ==
  Idle \/ Copy \/ TakeOver \/ \E a \in Pair : Take(a) \/ Tell(a) \/ Send(a) \/ Deliver(a) \/ Fail(a)
Spec ==
  /\ Init /\ [][Next]_vars /\ WF_vars(Copy) /\ WF_vars(TakeOver)
  /\ \A a \in Pair : WF_vars(Take(a)) /\ WF_vars(Tell(a)) /\ WF_vars(Send(a)) /\ WF_vars(Deliver(a))
-----------------------------------------------------------------------------
(* PS-FT: what the publisher was told of is there, with one that lives or with the subscriber. *)
SecondTakesOver == told <= Last \/ \E a \in lives : has[a] >= told

NeitherGapNorRepeat == \A i \in DOMAIN got : got[i] = i

(* PS-FT: and it comes. *)
ToldComes == \A number \in 1 .. Most : told >= number ~> Last >= number

(* Reachability: TLC must find these false. *)
NoTakeOverReach == ~ (1 \notin lives /\ Last = Most)
-----------------------------------------------------------------------------
WhenCopied(isCopied, otherLives) == isCopied \/ ~ otherLives
BehindIts(mine, last) == last
TheNext(last, number) == number = last + 1
-----------------------------------------------------------------------------
(* Damage *)
AtOnce(isCopied, otherLives) == TRUE
BehindItsOwn(mine, last) == mine
Higher(last, number) == number > last
Whatever(last, number) == TRUE
=============================================================================
