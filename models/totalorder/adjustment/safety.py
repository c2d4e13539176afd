"""TO-ADJ-SAFE: an adjustment that changes in any way, up or down, breaks no promise of the host.

An adjusted reading is an arbitrary number, which may fall though the clock rises. Together with these proofs for one
host, barrier_promise_holds and delivered_in_total_order, which take any readings, cover the network. The document says
nothing about this.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers.rules import rules

CLOCK, LATER, LAST, PROMISED = z3.Ints("clock later_clock last promised")
ADJUSTMENT, NEXT = z3.Ints("adjustment next_adjustment")
NATURAL = (CLOCK >= 0, LATER >= CLOCK, LAST >= 0, PROMISED >= 0)
SHOW = {"clock": CLOCK, "adjustment": ADJUSTMENT, "last": LAST, "promised": PROMISED}


def stamped_reading(clock: int, adjustment: int) -> int:
    """The reading that timestamps are taken from."""
    return clock + adjustment


def beacon_reading(clock: int, adjustment: int) -> int:
    """The reading that beacons are taken from: the same adjusted clock."""
    return clock + adjustment


def adjusted_beacon(reading: int, last: int, promised: int) -> int:
    """Barrier of a beacon: at or above every earlier promise, even where the adjusted reading falls."""
    return max(reading, last, promised)


def _beacon(using: Rules, clock: Any, adjustment: Any, last: Any, promised: Any) -> Any:
    return lift(using["adjusted_beacon"])(using["beacon_reading"](clock, adjustment), last, promised)


def _stamp(using: Rules, clock: Any, adjustment: Any, last: Any, promised: Any) -> Any:
    return lift(using["stamp"])(using["stamped_reading"](clock, adjustment), last, promised)


def _greater(one: Any, other: Any) -> Any:
    return z3.If(one >= other, one, other)


def _promises_are_kept(using: Rules) -> Iterable[Obligation]:
    """Any state of a host, any adjustment, then any other."""
    yield _falling(using)
    yield _beacon_after_a_fall(using)
    timestamp = _stamp(using, CLOCK, ADJUSTMENT, LAST, PROMISED)
    beacon = _beacon(using, CLOCK, ADJUSTMENT, LAST, PROMISED)
    adjusted = CLOCK + ADJUSTMENT
    stamped, said = {**SHOW, "timestamp": timestamp}, {**SHOW, "beacon": beacon}
    yield Obligation("timestamps_rise", NATURAL, timestamp > LAST, show=stamped)
    yield Obligation("stamp_honours_the_promise", NATURAL, timestamp >= PROMISED, show=stamped)
    yield Obligation("stamp_follows_the_adjustment", NATURAL, timestamp >= adjusted, show=stamped)
    yield Obligation("beacon_never_falls", NATURAL, beacon >= PROMISED, show=said)
    # Otherwise receivers wait for the beacons of an idle host, and adjustment gains nothing.
    yield Obligation("beacon_keeps_up", NATURAL, beacon >= adjusted, show=said)
    yield Obligation(
        "beacon_no_further_than_reached",
        NATURAL,
        z3.Or(beacon == adjusted, beacon == LAST, beacon == PROMISED),
        show=said,
    )
    after = _stamp(using, LATER, NEXT, LAST, _greater(beacon, PROMISED))
    yield Obligation(
        "data_after_a_beacon_honours_it",
        NATURAL,
        z3.And(after >= beacon, after > LAST),
        show={**said, "later_clock": LATER, "next_adjustment": NEXT, "timestamp": after},
    )
    following = _beacon(using, LATER, NEXT, timestamp, _greater(timestamp, PROMISED))
    yield Obligation(
        "beacon_after_data_is_no_lower",
        NATURAL,
        z3.And(following >= timestamp, following >= PROMISED),
        show={**stamped, "later_clock": LATER, "next_adjustment": NEXT, "beacon": following},
    )


def _falling(using: Rules) -> Obligation:
    """Adjustment 5, a beacon at clock 20; adjustment 0, data at clock 21."""
    zero = z3.IntVal(0)
    beacon = _beacon(using, z3.IntVal(20), z3.IntVal(5), zero, zero)
    timestamp = _stamp(using, z3.IntVal(21), zero, zero, beacon)
    return Obligation(
        "data_after_a_falling_adjustment",
        (z3.BoolVal(True),),
        z3.And(timestamp > 0, timestamp >= beacon),
        show={"beacon": beacon, "timestamp": timestamp},
    )


def _beacon_after_a_fall(using: Rules) -> Obligation:
    """Adjustment 5, a beacon at clock 20; adjustment 0, a beacon at clock 21."""
    zero = z3.IntVal(0)
    beacon = _beacon(using, z3.IntVal(20), z3.IntVal(5), zero, zero)
    following = _beacon(using, z3.IntVal(21), zero, zero, beacon)
    return Obligation(
        "beacon_after_a_falling_adjustment",
        (z3.BoolVal(True),),
        following >= beacon,
        show={"beacon": beacon, "next beacon": following},
    )


def _plain_beacons(using: Rules) -> Iterable[Obligation]:
    """Invariant: what was promised is at or below the clock, or at or below the last timestamp."""
    held = z3.Or(PROMISED <= CLOCK, PROMISED <= LAST)
    hypotheses = (*NATURAL, held, using["allowed"](ADJUSTMENT))
    timestamp = _stamp(using, LATER, ADJUSTMENT, LAST, PROMISED)
    beacon = _beacon(using, LATER, ADJUSTMENT, LAST, PROMISED)
    show = {**SHOW, "later_clock": LATER}
    yield Obligation(
        "data_keeps_the_promise",
        hypotheses,
        z3.And(timestamp >= PROMISED, timestamp > LAST),
        show={**show, "timestamp": timestamp},
    )
    yield Obligation(
        "beacon_never_falls",
        hypotheses,
        z3.And(beacon >= PROMISED, z3.Or(beacon <= LATER, beacon <= LAST)),
        show={**show, "beacon": beacon},
    )


def _without_promised(clock: int, last: int, promised: int) -> int:
    return max(clock, last + 1)


def _without_last(clock: int, last: int, promised: int) -> int:
    return max(clock, promised)


def _plain(clock: int, adjustment: int) -> int:
    return clock


def _up_to_last(reading: int, last: int, promised: int) -> int:
    return max(reading, last)


CLAIMS = (
    Claim(
        name="adjustment_keeps_promises",
        scope="one host, each step from any state",
        clauses=("TO-ADJ-SAFE",),
        sentence="Whatever the adjustments, timestamps rise, none is below a barrier promised before, beacons never "
        "fall, and both follow the adjusted clock.",
        hypotheses=("The host's clock never steps back.", "Adjustments are any numbers, changed at any time."),
        rules={
            **rules("stamp"),
            "stamped_reading": stamped_reading,
            "beacon_reading": beacon_reading,
            "adjusted_beacon": adjusted_beacon,
        },
        obligations=_promises_are_kept,
        mutants=(
            mutant(
                "clamped_to_rising_only",
                "The next timestamp is above the last one, but not above what a beacon promised.",
                stamp=_without_promised,
            ),
            mutant(
                "clamped_to_promises_only",
                "The next timestamp is above promised barriers, but not above the last timestamp.",
                stamp=_without_last,
            ),
            mutant(
                "not_clamped",
                "The adjusted clock as it is, as the document has it.",
                stamp=lambda clock, last, promised: clock,
            ),
            mutant(
                "beacons_of_the_plain_clock",
                "Safe, but late by the adjustment: receivers wait for them.",
                beacon_reading=_plain,
            ),
            mutant(
                "beacon_up_to_the_last_timestamp",
                "The beacon of a host without adjustment: it falls with the adjustment.",
                adjusted_beacon=_up_to_last,
            ),
            mutant("timestamps_of_the_plain_clock", "The adjustment is never applied.", stamped_reading=_plain),
        ),
    ),
    Claim(
        name="plain_beacons_are_safe_without_the_clamp",
        scope="one host, each step from any state",
        clauses=("TO-ADJ-SAFE",),
        sentence="With beacons of max(plain clock, last), and adjustments never below zero, promises are kept even by "
        "timestamps that are only clamped to rise; the price is that beacons lag by the adjustment.",
        hypotheses=(
            "The host's clock never steps back.",
            "Adjustments are never below zero, as sender_takes_least_difference proves.",
        ),
        rules={
            "stamp": _without_promised,
            "stamped_reading": stamped_reading,
            "beacon_reading": _plain,
            "adjusted_beacon": _up_to_last,
            "allowed": lambda adjustment: adjustment >= 0,
        },
        obligations=_plain_beacons,
        mutants=(
            mutant(
                "adjustments_below_zero",
                "As the other sign of the difference gives them.",
                allowed=lambda adjustment: z3.BoolVal(True),
            ),
            mutant(
                "beacons_of_the_adjusted_clock",
                "Beacons from the adjusted clock need the clamp.",
                beacon_reading=beacon_reading,
            ),
            mutant(
                "beacon_is_the_plain_clock",
                "The beacon forgets the last timestamp, which data may have carried as a barrier.",
                adjusted_beacon=lambda reading, last, promised: reading,
            ),
        ),
        normative=False,
    ),
)
