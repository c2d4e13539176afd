----------------------------- MODULE Propagation -----------------------------
(***************************************************************************)
(* Subscriptions, and how they spread over appliances that are joined as a *)
(* tree by FIFO links.  An appliance tells each neighbour what it wants    *)
(* from there: what its own clients want, and what its other neighbours    *)
(* have told it, without what another of these covers.  A subscribe        *)
(* returns when every neighbour has answered for the filter, or for one    *)
(* that covers it; a neighbour answers when its own have.  A message goes  *)
(* to whoever has told that it wants it.                                   *)
(*                                                                         *)
(* A filter is told by the set of the topics that it matches: to cover is  *)
(* to contain.                                                             *)
(*                                                                         *)
(* Source: source document 001, topic-based message routing (figure 5);    *)
(* the answers, and what happens when a wider filter is withdrawn, are     *)
(* ours.                                                                   *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Node, Client,       \* appliances, and subscribers at them
  At(_),              \* the appliance of a client
  Near(_),            \* the neighbours of an appliance
  Filter, Topic,      \* a filter is a set of topics
  Published,          \* at which appliances messages are published
  Entitled,           \* what each client may subscribe to at first
  Revocable,          \* clients and filters of which the entitlement may be revoked
  MostCalls,          \* how often clients call, in all
  MostMessages,
  Covers(_, _),       \* rules: whether a filter matches all that another one matches
  Kept(_, _, _),      \* what is propagated: of what is wanted, what was propagated, and what is newly wanted
  InOrder(_, _),      \* in which order wants and drops are sent
  Copies(_, _),       \* how many copies a client gets: of its filters, and a topic
  Permits(_, _),      \* whether a subscription takes effect: of what its client is entitled to, and its filter
  Ends(_, _),         \* which filters of a client end when an entitlement is revoked
  Answers(_)          \* whether a want is answered: of what the neighbours beyond have not answered yet

VARIABLES
  subs,      \* by client, the filters that it has subscribed to
  doing,     \* by client, that of the subscribe that has not returned, in a set
  entitled,  \* by client, the filters that it may subscribe to
  sent,      \* sent[n][m]: what n has told m that it wants, and not that it does no more
  unheard,   \* unheard[n][m][f]: how many wants of f were not answered to n by m yet
  table,     \* table[n][m]: what m wants from n, for all that n knows
  waits,     \* waits[n]: neighbours and filters that n has to answer
  link,      \* link[n][m]: what is on the way from n to m
  topics,    \* the sequence of the topics that were published
  owed,      \* clients and messages: those that must come
  got,       \* got[c][i]: how many copies of message i client c got
  calls,     \* how often clients called
  strange    \* whether a copy went to a client without a matching subscription
vars == <<subs, doing, entitled, sent, unheard, table, waits, link, topics, owed, got, calls, strange>>

Want(f) == [what |-> "want", filter |-> f, message |-> 0]
Drop(f) == [what |-> "drop", filter |-> f, message |-> 0]
Had(f) == [what |-> "had", filter |-> f, message |-> 0]
Carry(i) == [what |-> "message", filter |-> {}, message |-> i]

TypeOK ==
  /\ subs \in [Client -> SUBSET Filter]
  /\ \A c \in Client : doing[c] \subseteq subs[c] /\ Cardinality(doing[c]) <= 1
  /\ entitled \in [Client -> SUBSET Filter]
  /\ \A n \in Node : waits[n] \subseteq Near(n) \X Filter
  /\ topics \in Seq(Topic)
  /\ owed \subseteq Client \X DOMAIN topics
-----------------------------------------------------------------------------
RECURSIVE Listed(_)
Listed(set) == IF set = {} THEN <<>> ELSE LET x == CHOOSE x \in set : TRUE IN <<x>> \o Listed(set \ {x})

Wanted(n, m, s, t) == UNION {s[c] : c \in {c \in Client : At(c) = n}} \cup UNION {t[k] : k \in Near(n) \ {m}}

(* What n tells m when its clients' subscriptions are s and its table is t; fresh: what is newly wanted. *)
Target(n, m, s, t, fresh) == Kept(Wanted(n, m, s, t), sent[n][m], fresh)
News(n, m, s, t, fresh) ==
  LET target == Target(n, m, s, t, fresh)
      wants == Listed({Want(f) : f \in target \ sent[n][m]})
      drops == Listed({Drop(f) : f \in sent[n][m] \ target})
  IN  InOrder(wants, drops)

(* first: what else n puts on its links, ahead of the news. *)
Tell(n, s, t, fresh, first) ==
  /\ sent' = [sent EXCEPT ![n] = [m \in Near(n) |-> Target(n, m, s, t, fresh)]]
  /\ unheard' = [unheard EXCEPT ![n] = [m \in Near(n) |-> [f \in Filter |->
       @[m][f] + (IF f \in Target(n, m, s, t, fresh) \ sent[n][m] THEN 1 ELSE 0)]]]
  /\ link' = [first EXCEPT ![n] = [m \in Near(n) |-> @[m] \o News(n, m, s, t, fresh)]]

(* What the neighbours of n but this one have not answered that f rests on. *)
Missing(n, m, f) ==
  {k \in Near(n) \ {m} : ~ \E g \in sent[n][k] : unheard[n][k][g] = 0 /\ (g = f \/ Covers(g, f))}

Matching(filters, t) == {f \in filters : t \in f}
InForce(c, t) == Matching(subs[c] \ doing[c], t) # {}
-----------------------------------------------------------------------------
Init ==
  /\ subs = [c \in Client |-> {}]
  /\ doing = [c \in Client |-> {}]
  /\ entitled = Entitled
  /\ sent = [n \in Node |-> [m \in Near(n) |-> {}]]
  /\ unheard = [n \in Node |-> [m \in Near(n) |-> [f \in Filter |-> 0]]]
  /\ table = [n \in Node |-> [m \in Near(n) |-> {}]]
  /\ waits = [n \in Node |-> {}]
  /\ link = [n \in Node |-> [m \in Near(n) |-> <<>>]]
  /\ topics = <<>>
  /\ owed = {}
  /\ got = [c \in Client |-> [i \in 1 .. MostMessages |-> 0]]
  /\ calls = 0
  /\ strange = FALSE

(* A client calls subscribe; its appliance lists it at once, and tells its neighbours (PS-AUTH, PS-COVER). *)
Subscribe(c, f) ==
  /\ calls < MostCalls /\ doing[c] = {} /\ f \notin subs[c]
  /\ Permits(entitled[c], f)
  /\ calls' = calls + 1
  /\ subs' = [subs EXCEPT ![c] = @ \cup {f}]
  /\ doing' = [doing EXCEPT ![c] = {f}]
  /\ Tell(At(c), subs', table[At(c)], {f}, link)
  /\ UNCHANGED <<entitled, table, waits, topics, owed, got, strange>>

(* The subscribe returns: from now on the subscription is in force. *)
Return(c) ==
  /\ \E f \in doing[c] : Answers(Missing(At(c), At(c), f))
  /\ doing' = [doing EXCEPT ![c] = {}]
  /\ UNCHANGED <<subs, entitled, sent, unheard, table, waits, link, topics, owed, got, calls, strange>>

(* What a client wants no more is not owed to it any more, unless it wants it still for another reason. *)
Leave(c, gone) ==
  /\ subs' = [subs EXCEPT ![c] = @ \ gone]
  /\ doing' = [doing EXCEPT ![c] = @ \ gone]
  /\ owed' = {one \in owed : one[1] # c \/ Matching((subs[c] \ doing[c]) \ gone, topics[one[2]]) # {}}
  /\ Tell(At(c), subs', table[At(c)], {}, link)
  /\ UNCHANGED <<table, waits, topics, got, strange>>

Unsubscribe(c, f) ==
  /\ calls < MostCalls /\ f \in subs[c] \ doing[c]
  /\ calls' = calls + 1
  /\ Leave(c, {f})
  /\ UNCHANGED entitled

(* The management node revokes an entitlement (PS-AUTH). *)
Revoke(c, f) ==
  /\ calls < MostCalls /\ <<c, f>> \in Revocable /\ f \in entitled[c]
  /\ calls' = calls + 1
  /\ entitled' = [entitled EXCEPT ![c] = @ \ {f}]
  /\ Leave(c, Ends(subs[c], f))

(* How many copies each client of n gets of message i on topic t, and to whom it is passed on, from m. *)
Deliver(n, i, t) ==
  /\ got' = [c \in Client |-> IF At(c) = n THEN [got[c] EXCEPT ![i] = @ + Copies(subs[c], t)] ELSE got[c]]
  /\ strange' = (strange \/ \E c \in Client : At(c) = n /\ Copies(subs[c], t) > 0 /\ Matching(subs[c], t) = {})
Passed(n, m, i, t, links) ==
  [links EXCEPT ![n] = [k \in Near(n) |->
    IF k # m /\ Matching(table[n][k], t) # {} THEN Append(@[k], Carry(i)) ELSE @[k]]]

Publish(n, t) ==
  /\ n \in Published /\ Len(topics) < MostMessages
  /\ topics' = Append(topics, t)
  /\ owed' = owed \cup {<<c, Len(topics')>> : c \in {c \in Client : InForce(c, t)}}
  /\ Deliver(n, Len(topics'), t)
  /\ link' = Passed(n, n, Len(topics'), t, link)
  /\ UNCHANGED <<subs, doing, entitled, sent, unheard, table, waits, calls>>

(* The first thing on the link from m arrives at n. *)
First(m, n) == Head(link[m][n])
Behind(m, n) == [link EXCEPT ![m][n] = Tail(@)]
Arrives(m, n, what) == m \in Near(n) /\ link[m][n] # <<>> /\ First(m, n).what = what

TakeWant(m, n) ==
  /\ Arrives(m, n, "want")
  /\ LET f == First(m, n).filter IN
     /\ table' = [table EXCEPT ![n][m] = @ \cup {f}]
     /\ waits' = [waits EXCEPT ![n] = @ \cup {<<m, f>>}]
     /\ Tell(n, subs, table'[n], {f}, Behind(m, n))
  /\ UNCHANGED <<subs, doing, entitled, topics, owed, got, calls, strange>>

(* A want that was not answered yet is answered when it is withdrawn, so that answers can be counted. *)
TakeDrop(m, n) ==
  /\ Arrives(m, n, "drop")
  /\ LET f == First(m, n).filter
         late == <<m, f>> \in waits[n]
         links == IF late THEN [Behind(m, n) EXCEPT ![n][m] = Append(@, Had(f))] ELSE Behind(m, n)
     IN
     /\ table' = [table EXCEPT ![n][m] = @ \ {f}]
     /\ waits' = [waits EXCEPT ![n] = @ \ {<<m, f>>}]
     /\ Tell(n, subs, table'[n], {}, links)
  /\ UNCHANGED <<subs, doing, entitled, topics, owed, got, calls, strange>>

TakeHad(m, n) ==
  /\ Arrives(m, n, "had")
  /\ unheard' = [unheard EXCEPT ![n][m][First(m, n).filter] = @ - 1]
  /\ link' = Behind(m, n)
  /\ UNCHANGED <<subs, doing, entitled, sent, table, waits, topics, owed, got, calls, strange>>

TakeMessage(m, n) ==
  /\ Arrives(m, n, "message")
  /\ LET i == First(m, n).message IN
     /\ Deliver(n, i, topics[i])
     /\ link' = Passed(n, m, i, topics[i], Behind(m, n))
  /\ UNCHANGED <<subs, doing, entitled, sent, unheard, table, waits, topics, owed, calls>>

Answer(n, m, f) ==
  /\ <<m, f>> \in waits[n]
  /\ Answers(Missing(n, m, f))
  /\ waits' = [waits EXCEPT ![n] = @ \ {<<m, f>>}]
  /\ link' = [link EXCEPT ![n][m] = Append(@, Had(f))]
  /\ UNCHANGED <<subs, doing, entitled, sent, unheard, table, topics, owed, got, calls, strange>>

(* Nothing need happen. *)
Idle == UNCHANGED vars

Next ==
  \/ Idle
  \/ \E c \in Client : Return(c) \/ \E f \in Filter : Subscribe(c, f) \/ Unsubscribe(c, f) \/ Revoke(c, f)
  \/ \E n \in Node :
       \/ \E t \in Topic : Publish(n, t)
       \/ \E m \in Near(n) :
            \/ TakeWant(m, n) \/ TakeDrop(m, n) \/ TakeHad(m, n) \/ TakeMessage(m, n)
            \/ \E f \in Filter : Answer(n, m, f)

Spec == Init /\ [][Next]_vars
-----------------------------------------------------------------------------
IsQuiet(i) ==
  \A n \in Node : \A m \in Near(n) : \A k \in DOMAIN link[n][m] : link[n][m][k].message # i

(* PS-ROUTE *)
MatchingGetOneCopy ==
  /\ ~ strange
  /\ \A c \in Client : \A i \in DOMAIN topics :
       got[c][i] <= 1 /\ (<<c, i>> \in owed /\ IsQuiet(i) => got[c][i] = 1)

(* PS-COVER *)
CoveredStaysHome == \A n \in Node : \A m \in Near(n) : \A f, g \in sent[n][m] : f # g => ~ (g \subseteq f)

(* PS-AUTH *)
EntitlementsBind == \A c \in Client : subs[c] \subseteq entitled[c]

(* Reachability: TLC must find these false. *)
NoCoveredReach ==
  \A c, d \in Client : \A f \in subs[c] \ doing[c], g \in subs[d] \ doing[d] : ~ (f # g /\ f \subseteq g)
NoDeliveredReach == \A c \in Client : \A i \in 1 .. MostMessages : got[c][i] = 0
NoRestoredReach == ~ \E n \in Node : \E m \in Near(n) : \E j, k \in DOMAIN link[n][m] :
  /\ j < k /\ link[n][m][j].what = "want" /\ link[n][m][k].what = "drop"
  /\ link[n][m][j].filter \subseteq link[n][m][k].filter
  /\ link[n][m][j].filter # link[n][m][k].filter
=============================================================================
