------------------------------ MODULE CallReplay -----------------------------
(***************************************************************************)
(* Recorded calls, read row by row.  A call takes effect at one moment     *)
(* between its rows, which no observer sees: TLC tries every order that    *)
(* the rows allow, and a run is accepted when one of them explains it.     *)
(* What no order explains is rejected at the row that the longest attempt  *)
(* comes to.  A call of unknown outcome may take effect at any later       *)
(* moment, or never, and so may one that never returns.                    *)
(***************************************************************************)
EXTENDS TraceReplay

CONSTANTS
  Start,          \* the system's state at first
  Carry(_, _, _), \* what a call does: of the state, the client and the call, the next state and how it ends
  Blamed(_, _)    \* the clause that a call breaks which ends as it may not: of the call and its outcome

VARIABLES
  state,   \* the system's
  open,    \* by client, the call that it is in; "none" for none
  effect,  \* by client, how its call ended when it took effect; "none" before that
  loose    \* clients and calls that came to an unknown end and may take effect yet

Clients == 1 .. Net.clients
Place == <<run, at, verdict, state, open, effect, loose>>

Init ==
  /\ BeginReading
  /\ state = Start
  /\ open = [c \in Clients |-> "none"]
  /\ effect = [c \in Clients |-> "none"]
  /\ loose = {}

ReadCall ==
  /\ Row[1] = "called"
  /\ open' = [open EXCEPT ![Row[2]] = Row[3]]
  /\ effect' = [effect EXCEPT ![Row[2]] = "none"]
  /\ Accept("Call")
  /\ UNCHANGED <<state, loose>>

Left(c) == open' = [open EXCEPT ![c] = "none"] /\ effect' = [effect EXCEPT ![c] = "none"] /\ UNCHANGED state

ReadUnknown ==
  /\ Row[1] = "returned" /\ Row[4] = "unknown"
  /\ loose' = loose \cup (IF effect[Row[2]] = "none" THEN {<<Row[2], open[Row[2]]>>} ELSE {})
  /\ Left(Row[2])
  /\ Accept("GiveUp")

NoBound(clause) == -1

(* A call that has not taken effect cannot return: that is another attempt's business. *)
ReadReturn ==
  /\ Row[1] = "returned" /\ Row[4] # "unknown"
  /\ effect[Row[2]] # "none"
  /\ IF effect[Row[2]] = Row[4]
     THEN Left(Row[2]) /\ Accept("Return")
     ELSE Reject("Return", {Blamed(Row[3], Row[4])}, NoBound) /\ UNCHANGED <<state, open, effect>>
  /\ UNCHANGED loose

(* It makes no difference when, but for the order, and that only matters when somebody hears of it. *)
TakeEffect(c) ==
  /\ open[c] # "none" /\ effect[c] = "none"
  /\ LET done == Carry(state, c, open[c])
     IN  state' = done.state /\ effect' = [effect EXCEPT ![c] = done.outcome]
  /\ UNCHANGED <<reading, open, loose>>

TakeEffectLate(one) ==
  /\ state' = Carry(state, one[1], one[2]).state
  /\ loose' = loose \ {one}
  /\ UNCHANGED <<reading, open, effect>>

Next ==
  \/ /\ Reading
     /\ \/ ReadCall \/ ReadUnknown \/ ReadReturn
        \/ Row[1] = "returned" /\ ((\E c \in Clients : TakeEffect(c)) \/ \E one \in loose : TakeEffectLate(one))
  \/ (Finish \/ Over) /\ UNCHANGED <<state, open, effect, loose>>

Spec == Init /\ [][Next]_<<reading, state, open, effect, loose>>
=============================================================================
