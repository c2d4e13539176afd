--------------------------- MODULE BeaconPathRules ---------------------------
(* The rules of BeaconPath, of each the corrected form first; the second of Enter is literal. *)
EXTENDS Naturals, Sequences

(* Enter: behind all data received earlier; or each processor sends to the port by itself. *)
Behind(queue, beacon) == Append(queue, beacon)
Ahead(queue, beacon) == <<beacon>> \o queue

(* ComesBack *)
InOrder(returning) == IF returning = <<>> THEN {} ELSE {1}
AnyOrder(returning) == DOMAIN returning

(* Passed: a switch on the way lets a beacon that was handed over pass; or aggregates it as its own. *)
LeftAlone(held, passing) == held
Aggregated(held, passing) == IF passing > held THEN passing ELSE held
=============================================================================
