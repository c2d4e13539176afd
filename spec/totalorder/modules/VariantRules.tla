---------------------------- MODULE VariantRules ----------------------------
(***************************************************************************)
(* The rules of BeaconFilter and IdleTimers, and who writes the barrier of *)
(* data: of each the corrected form first.                                 *)
(***************************************************************************)
EXTENDS Naturals

(* Forwards: a new minimum; or all; or, literally, unless the barrier that came in is above it. *)
NewMinimum(arrived, minimum, told) == minimum > told
EveryBeacon(arrived, minimum, told) == TRUE
NotAboveMinimum(arrived, minimum, told) == arrived <= minimum

(* BeaconDue: a timer for each link; or, literally, one for the host; or none. *)
OfTheLink(link, node) == link >= 1
OfTheNode(link, node) == node >= 1
AtAnyTime(link, node) == TRUE

(* Filled, damaged. *)
NotFilled(l, m) == m

(* HostFills: the first switch writes the barrier of data (TO-BAR-FILL). *)
LeftToSwitch == FALSE
=============================================================================
