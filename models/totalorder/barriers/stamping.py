"""TO-MONO and TO-BAR-HOST: what a host's timestamps and its own barriers promise, whatever its clock does.

A reading of the clock is an arbitrary number: it may stand still or step back. Only where a claim says so are readings
taken never to fall. TLA+: ``Stamp``, ``DataBarrier``, ``BeaconBarrier``.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers.rules import rules

CLOCK, LATER, LAST, PROMISED = z3.Ints("clock later_clock last promised")
NATURAL = (CLOCK >= 0, LATER >= 0, LAST >= 0, PROMISED >= 0)
SHOW = {"clock": CLOCK, "last": LAST, "promised": PROMISED}


def _any_clock(clock: int, later: int) -> bool:
    return True


def _clock_never_falls(clock: int, later: int) -> bool:
    return later >= clock


def _timestamps_rise(using: Rules) -> Iterable[Obligation]:
    stamp = lift(using["stamp"])
    stamped = stamp(CLOCK, LAST, PROMISED)
    again = stamp(LATER, stamped, PROMISED)
    show = {**SHOW, "timestamp": stamped}
    yield Obligation("above_the_last", NATURAL, stamped > LAST, show=show)
    yield Obligation("next_above_this", NATURAL, again > stamped, show={**show, "later_clock": LATER, "next": again})
    yield Obligation("at_or_above_the_clock", NATURAL, stamped >= CLOCK, show=show)
    # A timestamp ahead of the clock is allowed only where the last one, or a barrier, forces it.
    yield Obligation(
        "no_further_than_forced", NATURAL, z3.Or(stamped == CLOCK, stamped == LAST + 1, stamped == PROMISED), show=show
    )


def _host_barrier(using: Rules) -> Iterable[Obligation]:
    stamp, beacon, data = (lift(using[name]) for name in ("stamp", "beacon_barrier", "data_barrier"))
    stamped = stamp(CLOCK, LAST, PROMISED)
    show = {**SHOW, "timestamp": stamped}
    yield Obligation("stamp_honours_the_promise", NATURAL, stamped >= PROMISED, show=show)
    yield Obligation(
        "data_barrier_equals_the_timestamp",
        (*NATURAL, LAST > 0),
        data(LAST) == LAST,
        show={"timestamp": LAST, "barrier": data(LAST)},
    )
    said = beacon(CLOCK, LAST)
    greatest = z3.If(said > PROMISED, said, PROMISED)
    following = stamp(LATER, LAST, greatest)
    yield Obligation(
        "stamp_honours_the_beacon",
        NATURAL,
        following >= said,
        show={**SHOW, "beacon": said, "later_clock": LATER, "timestamp": following},
    )
    shown = {"clock": CLOCK, "last": LAST, "beacon": said}
    # The literal rule "the last data timestamp sent" is safe, and lets one idle host stop everyone.
    yield Obligation("beacon_keeps_up_with_the_clock", NATURAL, said >= CLOCK, show=shown)
    # A greater beacon could be kept, too, but would push the next timestamp ahead of the clock (TO-MONO).
    yield Obligation("beacon_no_further_than_reached", NATURAL, z3.Or(said == CLOCK, said == LAST), show=shown)


def _host_barriers_rise(using: Rules) -> Iterable[Obligation]:
    """Invariant: what was promised is at or below the greater of the clock and the last timestamp."""
    stamp, beacon, data = (lift(using[name]) for name in ("stamp", "beacon_barrier", "data_barrier"))
    reading = lift(using["reading"])(CLOCK, LATER)
    held = z3.Or(PROMISED <= CLOCK, PROMISED <= LAST)
    before = (*NATURAL, held, reading)
    stamped = stamp(LATER, LAST, PROMISED)
    barrier, said = data(stamped), beacon(LATER, LAST)
    show = {**SHOW, "later_clock": LATER}
    yield Obligation("data_barrier_never_falls", before, barrier >= PROMISED, show={**show, "barrier": barrier})
    yield Obligation("beacon_never_falls", before, said >= PROMISED, show={**show, "beacon": said})


def _host_barriers_keep(using: Rules) -> Iterable[Obligation]:
    """The steps of the invariant."""
    stamp, beacon, data = (lift(using[name]) for name in ("stamp", "beacon_barrier", "data_barrier"))
    reading = lift(using["reading"])(CLOCK, LATER)
    held = z3.Or(PROMISED <= CLOCK, PROMISED <= LAST)
    before = (*NATURAL, held, reading)
    stamped = stamp(LATER, LAST, PROMISED)
    barrier, said = data(stamped), beacon(LATER, LAST)
    show = {**SHOW, "later_clock": LATER}
    yield Obligation(
        "data_keeps_the_invariant",
        before,
        z3.Or(barrier <= LATER, barrier <= stamped),
        show={**show, "barrier": barrier},
    )
    yield Obligation(
        "beacon_keeps_the_invariant", before, z3.Or(said <= LATER, said <= LAST), show={**show, "beacon": said}
    )
    yield Obligation("clock_keeps_the_invariant", before, z3.Or(PROMISED <= LATER, PROMISED <= LAST), show=show)


def _without_plus_one(clock: int, last: int, promised: int) -> int:
    return max(clock, last, promised)


def _without_last(clock: int, last: int, promised: int) -> int:
    return max(clock, promised)


def _without_promised(clock: int, last: int, promised: int) -> int:
    return max(clock, last + 1)


def _without_clock(clock: int, last: int, promised: int) -> int:
    return max(last + 1, promised)


def _minimum(clock: int, last: int, promised: int) -> int:
    return min(clock, last + 1, promised)


def _beyond_promised(clock: int, last: int, promised: int) -> int:
    return max(clock, last + 1, promised + 1)


def _clock_only(clock: int, last: int) -> int:
    return clock


def _last_only(clock: int, last: int) -> int:
    return last


def _one_above(timestamp: int) -> int:
    return timestamp + 1


ANY_CLOCK = "The clock shows any number at each reading; it may stand still or step back."

CLAIMS = (
    Claim(
        name="timestamps_rise",
        scope="one host, each step from any state",
        clauses=("TO-MONO",),
        sentence="Each timestamp is strictly above the sender's last one and at or above its clock, and no further "
        "ahead of the "
        "clock than the last timestamp or a promised barrier forces.",
        hypotheses=(ANY_CLOCK, "Clock, last timestamp and promised barrier are not negative."),
        rules=rules("stamp"),
        obligations=_timestamps_rise,
        mutants=(
            mutant(
                "last_without_plus_one",
                "Two scatterings get one timestamp when the clock stands.",
                stamp=_without_plus_one,
            ),
            mutant("last_dropped", "The clock, and barriers, alone.", stamp=_without_last),
            mutant("clock_dropped", "A logical clock: timestamps no longer follow the time.", stamp=_without_clock),
            mutant("min_for_max", "The least of the three bounds.", stamp=_minimum),
            mutant("promised_plus_one", "Safe, but one above what the barrier forces.", stamp=_beyond_promised),
        ),
    ),
    Claim(
        name="host_barrier_is_its_promise",
        scope="one host, each step from any state",
        clauses=("TO-BAR-HOST",),
        sentence="After a host has sent a barrier, on data or on a beacon, no timestamp strictly below it is given.",
        hypotheses=(ANY_CLOCK, "Promised is the greatest barrier that the host has sent."),
        rules=rules("stamp", "data_barrier", "beacon_barrier"),
        obligations=_host_barrier,
        mutants=(
            mutant(
                "promised_dropped", "A clock that steps back takes timestamps below a beacon.", stamp=_without_promised
            ),
            mutant("min_for_max", "The least of the three bounds.", stamp=_minimum),
            mutant(
                "data_barrier_plus_one",
                "The barrier is above the timestamp: a second message of the scattering breaks it.",
                data_barrier=_one_above,
            ),
            mutant(
                "beacon_is_the_last_timestamp",
                "The literal second reading: safe, but an idle host's beacon stands still for ever.",
                beacon_barrier=_last_only,
            ),
        ),
    ),
    Claim(
        name="host_barriers_never_fall",
        scope="one host, by induction",
        clauses=("TO-BAR-RISE", "TO-BAR-HOST"),
        sentence="The barriers that a host sends never fall, on data and beacons together.",
        hypotheses=(
            "Readings of the clock never fall; without this a beacon of max(clock, last) can (mutant "
            "clock_steps_back).",
        ),
        rules={**rules("stamp", "data_barrier", "beacon_barrier"), "reading": _clock_never_falls},
        obligations=_host_barriers_rise,
        induction=_host_barriers_keep,
        mutants=(
            mutant(
                "clock_steps_back",
                "The hypothesis dropped: the clock may step back between two beacons.",
                reading=_any_clock,
            ),
            mutant(
                "beacon_is_the_clock",
                "The literal first reading: a data barrier ahead of a standing clock is followed by a lower beacon.",
                beacon_barrier=_clock_only,
            ),
        ),
    ),
)
