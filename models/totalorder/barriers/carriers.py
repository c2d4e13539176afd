"""TO-ENV-C: a beacon leaves a link exactly when no data message was sent on it for the interval. TLA+:
``BeaconDue``.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers.rules import rules


def _only_when_idle(using: Rules) -> Iterable[Obligation]:
    clock, carried, data, interval = z3.Ints("clock last_carried some_data interval")
    due = lift(using["beacon_due"])(clock, carried, interval)
    natural = (clock >= 0, carried >= 0, data >= 0, interval > 0)
    show = {"clock": clock, "last_carried": carried, "interval": interval, "due": due}
    yield Obligation(
        "no_data_within_the_interval",
        (*natural, due, data <= carried),
        data + interval <= clock,
        show={**show, "some_data": data},
    )
    yield Obligation("due_once_the_interval_is_over", (*natural, carried + interval <= clock), due, show=show)


CLAIMS = (
    Claim(
        name="beacons_only_when_idle",
        scope="one link",
        clauses=("TO-ENV-C",),
        sentence="A beacon is due on a link exactly when the last data message on it is at least the interval ago.",
        hypotheses=("last_carried is the time of the last data message on that link.", "The interval is positive."),
        rules=rules("beacon_due"),
        obligations=_only_when_idle,
        mutants=(
            mutant("always_due", "Beacons on busy links.", beacon_due=lambda clock, last_carried, interval: True),
            mutant(
                "one_early",
                "The interval less one.",
                beacon_due=lambda clock, last_carried, interval: clock - last_carried >= interval - 1,
            ),
            mutant(
                "strictly_after",
                "Strictly more than the interval: one late.",
                beacon_due=lambda clock, last_carried, interval: clock - last_carried > interval,
            ),
        ),
    ),
)
