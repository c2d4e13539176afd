------------------------------ MODULE CallReplay -----------------------------
(***************************************************************************)
(* Recorded calls, read row by row.  A call takes effect at one moment     *)
(* between its rows, which no observer sees: TLC tries every order that    *)
(* the rows allow, and a run is accepted when one of them explains it.     *)
(* What no order explains is rejected at the row that the longest attempt  *)
(* comes to.  A call of unknown outcome may take effect at any later       *)
(* moment, or never, and so may one that never returns.  What a call and   *)
(* its end are is the protocol's affair: names, or records.  An end that   *)
(* comes in parts, each a row ahead of the return, is a record with the    *)
(* sequence of those that are to come (parts).                             *)
(***************************************************************************)
EXTENDS TraceReplay

CONSTANTS
  Start,          \* the system's state at first
  Carry(_, _, _), \* what a call may do: of the state, the client and the call, the next states and how it ends then
  Blamed(_, _, _) \* the clauses that a call may break which ends as it may not: of the state, the call and its end

VARIABLES
  state,   \* the system's
  open,    \* by client, the sequence of the call that it is in, if it is in one
  effect,  \* by client, the sequence of how its call ended, if it took effect
  loose    \* clients and calls that came to an unknown end and may take effect yet

Clients == 1 .. Net.clients
Place == <<run, at, verdict, state, open, effect, loose>>

Init ==
  /\ BeginReading
  /\ state = Start
  /\ open = [c \in Clients |-> <<>>]
  /\ effect = [c \in Clients |-> <<>>]
  /\ loose = {}

ReadCall ==
  /\ Row[1] = "called"
  /\ open' = [open EXCEPT ![Row[2]] = <<Row[3]>>]
  /\ effect' = [effect EXCEPT ![Row[2]] = <<>>]
  /\ Accept("Call")
  /\ UNCHANGED <<state, loose>>

Left(c) == open' = [open EXCEPT ![c] = <<>>] /\ effect' = [effect EXCEPT ![c] = <<>>] /\ UNCHANGED state

ReadUnknown ==
  /\ Row[1] = "unknown"
  /\ loose' = loose \cup (IF effect[Row[2]] = <<>> THEN {<<Row[2], open[Row[2]][1]>>} ELSE {})
  /\ Left(Row[2])
  /\ Accept("GiveUp")

NoBound(clause) == -1

(* A call that has not taken effect cannot return: that is another attempt's business. *)
ReadReturn ==
  /\ Row[1] = "returned"
  /\ effect[Row[2]] # <<>>
  /\ IF effect[Row[2]] = <<Row[3]>>
     THEN Left(Row[2]) /\ Accept("Return")
     ELSE Reject("Return", Blamed(state, open[Row[2]][1], Row[3]), NoBound) /\ UNCHANGED <<state, open, effect>>
  /\ UNCHANGED loose

(* Part of what came back. *)
ReadPart ==
  /\ Row[1] = "delivered"
  /\ effect[Row[2]] # <<>>
  /\ LET end == effect[Row[2]][1]
     IN  IF end.parts # <<>> /\ Head(end.parts) = Row[3]
         THEN /\ effect' = [effect EXCEPT ![Row[2]] = <<[end EXCEPT !.parts = Tail(@)]>>]
              /\ Accept("Deliver")
         ELSE Reject("Deliver", Blamed(state, open[Row[2]][1], Row[3]), NoBound) /\ UNCHANGED effect
  /\ UNCHANGED <<state, open, loose>>

(* It makes no difference when, but for the order, and that only matters when somebody hears of it. *)
TakeEffect(c) ==
  /\ open[c] # <<>> /\ effect[c] = <<>>
  /\ \E done \in Carry(state, c, open[c][1]) :
       state' = done.state /\ effect' = [effect EXCEPT ![c] = <<done.outcome>>]
  /\ UNCHANGED <<reading, open, loose>>

TakeEffectLate(one) ==
  /\ \E done \in Carry(state, one[1], one[2]) : state' = done.state
  /\ loose' = loose \ {one}
  /\ UNCHANGED <<reading, open, effect>>

Next ==
  \/ /\ Reading
     /\ \/ ReadCall \/ ReadUnknown \/ ReadReturn \/ ReadPart
        \/ /\ Row[1] \in {"returned", "delivered"}
           /\ ((\E c \in Clients : TakeEffect(c)) \/ \E one \in loose : TakeEffectLate(one))
  \/ (Finish \/ Over) /\ UNCHANGED <<state, open, effect, loose>>

Spec == Init /\ [][Next]_<<reading, state, open, effect, loose>>
=============================================================================
