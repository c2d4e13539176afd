"""Which TLA+ operators of `spec/totalorder/modules/Mutants.tla` say the same as a mutant of the reference rules.

The constant that a `.cfg` substitutes is the rule's name in CamelCase; the operator is named here.
"""

from __future__ import annotations

# Mutant -> (constant, operator), as in `Aggregate <- MaxOf`.
ON_MODEL: dict[str, tuple[str, str]] = {
    "stamp/drop-last-plus-1": ("Stamp", "ClockOnly"),
    "stamp/drop-1": ("Stamp", "ClockOrLastAgain"),
    "stamp/drop-promised": ("Stamp", "NotAbovePromised"),
    "stamp/drop-clock": ("Stamp", "LastOnly"),
    "data_barrier/timestamp-plus-one": ("DataBarrier", "TimestampPlusOne"),
    "data_barrier/timestamp-minus-one": ("DataBarrier", "TimestampMinusOne"),
    "beacon_barrier/result-plus-one": ("BeaconBarrier", "ClockPlusOne"),
    "beacon_barrier/drop-clock": ("BeaconBarrier", "LastTimestamp"),
    "beacon_barrier/drop-last": ("BeaconBarrier", "ClockAlone"),
    "register/held-for-arrived": ("Register", "Stale"),
    "register/least-ever": ("Register", "LeastEver"),
    "aggregate/min-to-max": ("Aggregate", "MaxOf"),
    "aggregate/spoken-only": ("Aggregate", "MinOfSpoken"),
    "aggregate/first-only": ("Aggregate", "FirstOf"),
    "aggregate/result-plus-one": ("Aggregate", "MinPlusOne"),
    "counted/ingress-for-reaching": ("Counted", "AllIngress"),
    "counted/drop-first-of-reaching": ("Counted", "AllButOne"),
    "deliverable/lt-to-le": ("Deliverable", "AtOrBelow"),
    "deliverable/always": ("Deliverable", "Always"),
    "deliverable/timestamp-plus-one": ("Deliverable", "TwoBelow"),
    "precedence/drop-sender": ("Precedence", "TimestampOnly"),
    "precedence/swap-timestamp-sender": ("Precedence", "SenderFirst"),
    "precedence/sender-falling": ("Precedence", "SenderFalling"),
    "register/greatest-ever": ("Register", "GreatestEver"),
    "host/as-in-c-where-a": ("BeaconsCarry", "BeaconsAlways"),
    "host/as-in-c-where-b": ("DataCarries", "DataAlways"),
    "host/delivers-twice": ("Place", "Twice"),
    "host/swaps-neighbours": ("Place", "InOrderOfArrival"),
    "host/timestamp-per-copy": ("CopyTimestamp", "TimestampPerCopy"),
}
