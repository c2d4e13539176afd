-------------------------- MODULE AdjustmentRounds --------------------------
(***************************************************************************)
(* Rounds of timestamp adjustment: every sender sends its local time to    *)
(* every receiver (message 1); a receiver that has heard all returns the   *)
(* maximum of what it has aligned (message 2); a sender that has all       *)
(* returns adjusts by the least difference.  Delays change from round to   *)
(* round, and differ in the two directions.                                *)
(*                                                                         *)
(* Source: source document 000 (patent text), environment F, stages one to *)
(* three.  A message is not kept anywhere: it arrives when it is due.      *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
  Sender, Receiver,  \* numbers; one that is in both is a host that sends to itself
  Delays,            \* the functions from sender and receiver to the delay of message 1
  Backs,             \* the same of message 2
  Skew,              \* Skew[s] is what the clock of s shows above the true time
  LatestSend,        \* senders send message 1 at this time of the round at the latest
  MostRounds

CONSTANTS            \* the rules; see AdjustmentRules
  FirstTimestamp(_, _), Base(_), Aligned(_, _, _), Returned(_), RoundTrip(_, _, _),
  Difference(_, _), Chosen(_), InForceNext(_, _), MeasuredOver(_, _)

VARIABLES
  now,         \* the true time since the round began
  round,       \* its number
  delay, back, \* of this round
  sentAt,      \* sentAt[s] is when s sent message 1; None before
  heard,       \* heard[r][s] is message 1 of s as r has it, with its arrival; None before
  returned,    \* returned[r] is message 2 of r, with when it left; None before
  third,       \* third[s][r] is what s made of message 2 of r, with its arrival; None before
  adjustment   \* adjustment[s] is in force at s
vars == <<now, round, delay, back, sentAt, heard, returned, third, adjustment>>

None == -1
NoMessage == [value |-> None, at |-> None]
Greatest(S) == CHOOSE x \in S : \A y \in S : y <= x
Least(S) == CHOOSE x \in S : \A y \in S : x <= y

HeardBy(r) == {s \in Sender : MeasuredOver(s, r)}
HeardOf(s) == {r \in Receiver : MeasuredOver(s, r)}
Ends(s) == \A r \in HeardOf(s) : third[s][r] # NoMessage
AllEnd == \A s \in Sender : Ends(s)

ASSUME AllAreMeasured ==
  (\A s \in Sender : HeardOf(s) # {}) /\ (\A r \in Receiver : HeardBy(r) # {})
-----------------------------------------------------------------------------
Fresh ==
  /\ now' = 0
  /\ sentAt' = [s \in Sender |-> None]
  /\ heard' = [r \in Receiver |-> [s \in Sender |-> NoMessage]]
  /\ returned' = [r \in Receiver |-> NoMessage]
  /\ third' = [s \in Sender |-> [r \in Receiver |-> NoMessage]]

Init ==
  /\ now = 0 /\ round = 1
  /\ delay \in Delays /\ back \in Backs
  /\ sentAt = [s \in Sender |-> None]
  /\ heard = [r \in Receiver |-> [s \in Sender |-> NoMessage]]
  /\ returned = [r \in Receiver |-> NoMessage]
  /\ third = [s \in Sender |-> [r \in Receiver |-> NoMessage]]
  /\ adjustment = [s \in Sender |-> 0]

(* Senders that are due to be heard at r now, and receivers whose return is due at s now. *)
DueAt(r) ==
  {s \in HeardBy(r) : sentAt[s] # None /\ heard[r][s] = NoMessage /\ now = sentAt[s] + delay[s][r]}
DueBackAt(s) ==
  {r \in HeardOf(s) : returned[r] # NoMessage /\ third[s][r] = NoMessage
                      /\ now = returned[r].at + back[s][r]}

(* A sender sends its local time to all. *)
Send(s) ==
  /\ sentAt[s] = None
  /\ sentAt' = [sentAt EXCEPT ![s] = now]
  /\ UNCHANGED <<now, round, delay, back, heard, returned, third, adjustment>>

(* A receiver hears what is due, and, when it has heard all, aligns it and returns the maximum. *)
Hear(r) ==
  LET all == [s \in Sender |->
               IF s \in DueAt(r)
               THEN [value |-> FirstTimestamp(sentAt[s] + Skew[s], adjustment[s]), at |-> now]
               ELSE heard[r][s]]
      base == Base({all[s].at : s \in HeardBy(r)})
  IN
  /\ DueAt(r) # {}
  /\ heard' = [heard EXCEPT ![r] = all]
  /\ returned' =
       IF \E s \in HeardBy(r) : all[s] = NoMessage THEN returned
       ELSE [returned EXCEPT ![r] =                                    \* TO-ADJ-1
              [value |-> Returned({Aligned(all[s].value, all[s].at, base) : s \in HeardBy(r)}),
               at |-> now]]
  /\ UNCHANGED <<now, round, delay, back, sentAt, third, adjustment>>

(* A sender takes what is due, adds the round trip, and, when it has all, adjusts. *)
Take(s) ==
  LET local == now + Skew[s]
      trip(r) == RoundTrip(now - sentAt[s], returned[r].at - heard[r][s].at, delay[s][r])
      all == [r \in Receiver |->
               IF r \in DueBackAt(s) THEN [value |-> returned[r].value + trip(r), at |-> local]
               ELSE third[s][r]]
  IN
  /\ DueBackAt(s) # {}
  /\ third' = [third EXCEPT ![s] = all]
  /\ adjustment' =
       IF \E r \in HeardOf(s) : all[r] = NoMessage THEN adjustment
       ELSE [adjustment EXCEPT ![s] =                                  \* TO-ADJ-2
              InForceNext(@, Chosen({Difference(all[r].value, all[r].at) : r \in HeardOf(s)}))]
  /\ UNCHANGED <<now, round, delay, back, sentAt, heard, returned>>

(* Time goes on, to when the next message is due, once all that is due has been taken. *)
Arrivals ==
  {sentAt[p[1]] + delay[p[1]][p[2]] : p \in {q \in Sender \X Receiver : sentAt[q[1]] # None}}
    \cup {returned[p[2]].at + back[p[1]][p[2]] : p \in {q \in Sender \X Receiver : returned[q[2]] # NoMessage}}
Unsent == {s \in Sender : sentAt[s] = None}
Tick ==
  LET ahead == {t \in Arrivals : t > now} \cup (IF Unsent = {} THEN {} ELSE {now + 1}) IN
  /\ ~ AllEnd
  /\ \A r \in Receiver : DueAt(r) = {}
  /\ \A s \in Sender : DueBackAt(s) = {}
  /\ Unsent = {} \/ now < LatestSend
  /\ now' = Least(ahead)
  /\ UNCHANGED <<round, delay, back, sentAt, heard, returned, third, adjustment>>

(* The next round, with other delays. *)
NextRound ==
  /\ AllEnd /\ round < MostRounds
  /\ round' = round + 1
  /\ delay' \in Delays /\ back' \in Backs
  /\ Fresh
  /\ UNCHANGED adjustment

Rest == AllEnd /\ round = MostRounds /\ UNCHANGED vars

Next ==
  \/ \E s \in Sender : Send(s) \/ Take(s)
  \/ \E r \in Receiver : Hear(r)
  \/ Tick \/ NextRound \/ Rest

Spec == Init /\ [][Next]_vars /\ WF_vars(Next)
=============================================================================
