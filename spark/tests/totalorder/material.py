"""Total order: wrong rules, runs, and what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scatterproof.conformance.tests.runs import UNDER_LOSS, WITH_CHOICES, WITHOUT_LOSS, conforming
from scatterproof.impl.totalorder import RULES
from scatterproof.spark.corpus import Plant
from scatterproof.spark.tests.material import Material
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.totalorder.messages import Environment, PacketKind
from scatterproof.spec.trace import Trace


def at_or_below(timestamp: int, barrier: int) -> bool:
    return timestamp <= barrier


def on_arrival(timestamp: int, barrier: int) -> bool:
    return True


def highest(barriers: Sequence[int]) -> int:
    return max(barriers)


def by_sender(timestamp: int, sender: int) -> tuple[int, int]:
    return (sender, timestamp)


def at_the_outstanding(outstanding: int | None, acknowledged: int, next_possible: int) -> int:
    return next_possible if outstanding is None else outstanding


def record_of_the_minimum(least: int, largest: int, greatest: int) -> int:
    return least


def of_the_other_sign(returned: int, round_trip_time: int, local: int) -> int:
    return local - returned - round_trip_time


def _adjusts(schedule: Schedule) -> bool:
    return "adjustment_interval_ns" in schedule.parameters


def _has_host_flags(schedule: Schedule) -> bool:
    return "host_flags" in schedule.parameters


def _is_causal(schedule: Schedule) -> bool:
    return "causal" in schedule.parameters


def _leaves_barriers_to_be_filled(schedule: Schedule) -> bool:
    return "fill_barrier" in schedule.parameters


def _withholds_beacons(schedule: Schedule) -> bool:
    return schedule.parameters.get("every_beacon") == 0


def _has_two_processors(schedule: Schedule) -> bool:
    return schedule.parameters.get("switch") == "two"


def _traces() -> list[Trace]:
    return [conforming(*shape) for shape in (*WITHOUT_LOSS, *UNDER_LOSS, *WITH_CHOICES)]


ON_ARRIVAL = Plant("deliverable/on-arrival", replace(RULES, deliverable=on_arrival))
MATERIAL = Material(
    environments=set(Environment),
    choices=(
        *(_adjusts, _has_host_flags, _is_causal, _leaves_barriers_to_be_filled, _withholds_beacons),
        _has_two_processors,
    ),
    traces=_traces,
    parted=lambda: (conforming("pair", "C"), conforming("pair", "D9")),
    plant=ON_ARRIVAL,
    plants=(
        (Plant("ack_barrier/at-the-outstanding", replace(RULES, ack_barrier=at_the_outstanding)), "D", "TO-ACK-MEAN"),
        (
            Plant("noticed_record/of-the-minimum", replace(RULES, noticed_record=record_of_the_minimum)),
            "D",
            "TO-SWLOSS",
        ),
        (Plant("difference/of-the-other-sign", replace(RULES, difference=of_the_other_sign)), "adjusted", "TO-ADJ-2"),
        (Plant("deliverable/at-or-below", replace(RULES, deliverable=at_or_below)), "", "TO-DELIVER"),
        (ON_ARRIVAL, "", "TO-DELIVER"),
        (Plant("aggregate/highest", replace(RULES, aggregate=highest)), "", "TO-BAR-MIN"),
        (Plant("precedence/by-sender", replace(RULES, precedence=by_sender)), "", "TO-ORDER"),
    ),
    seed=4,
    damaged=("timestamp", "barrier", "number", "digest"),
    by_damage={"TO-ACK-MIN", "TO-LOSSCTR", "TO-ADJ-2", "TO-ORDER"},
    reconciled=("barrier", "timestamp", "greatest"),
    owed={PacketKind.DATA},
)
