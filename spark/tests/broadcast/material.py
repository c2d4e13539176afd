"""The broadcast stack: wrong rules, runs, and what is drawn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from scatterproof.conformance.broadcast.tests.runs import RUNS, conforming
from scatterproof.impl.broadcast import RULES
from scatterproof.impl.broadcast.literal_rules import LITERAL
from scatterproof.spark.corpus import Plant
from scatterproof.spark.tests.material import Material
from scatterproof.spec.broadcast.messages import Level, PacketKind
from scatterproof.spec.schedule import FailureKind, FaultKind, Schedule


def at_once(heard: int, processes: int) -> bool:
    return True


def to_the_creator_alone(peer: int, forwarder: int, creator: int) -> bool:
    return peer == creator


def never_again(*_: object) -> int:
    return 1 << 40


def nothing_is_needed(clock: Sequence[int], delivered: Sequence[int]) -> bool:
    return True


def nobody_counts(creator: int, dependencies: Collection[int]) -> bool:
    return False


def _duplicates_packets(schedule: Schedule) -> bool:
    return any(fault.kind is FaultKind.DUPLICATE for fault in schedule.faults)


def _pauses(schedule: Schedule) -> bool:
    return any(failure.kind is FailureKind.PAUSE for failure in schedule.failures)


def _leaves_no_majority(schedule: Schedule) -> bool:
    gone = sum(failure.kind is FailureKind.CRASH for failure in schedule.failures)
    return 2 * gone >= len(schedule.topology.nodes)


def _loses_a_minority(schedule: Schedule) -> bool:
    gone = sum(failure.kind is FailureKind.CRASH for failure in schedule.failures)
    return 0 < 2 * gone < len(schedule.topology.nodes)


def _has_empty_payloads(schedule: Schedule) -> bool:
    return not any(message.payload for submission in schedule.submissions for message in submission.messages)


def _has_more_than_eight(schedule: Schedule) -> bool:
    return len(schedule.topology.nodes) > 8


MATERIAL = Material(
    environments=set(Level),
    choices=(
        *(_duplicates_packets, _pauses, _leaves_no_majority, _loses_a_minority, _has_empty_payloads),
        _has_more_than_eight,
    ),
    traces=lambda: [conforming(*run) for run in RUNS],
    parted=lambda: (conforming("pl", "plain", 3), conforming("urb", "plain", 3)),
    plant=Plant("BC-PL-MEMORY lit-1", LITERAL["BC-PL-MEMORY lit-1"]),
    plants=(
        *(
            # Dependencies that are none show in the clocks that count them.
            (Plant(name, rules), name.split("-")[1].lower(), name.split()[0].replace("LCB-LOCAL", "LCB-CLOCKS"))
            for name, rules in LITERAL.items()
            if name != "BC-LCB-CHECK lit-1"  # which shows in one such run of forty
        ),
        (Plant("majority/at-once", replace(RULES, majority=at_once)), "urb", "BC-URB-MAJ"),
        (Plant("forwards_to/creator", replace(RULES, forwards_to=to_the_creator_alone)), "crashes", "BC-URB-VALID"),
        (Plant("time_out/never", replace(RULES, time_out=never_again)), "loss", "BC-URB-AGREE"),
        (Plant("ready/at-once", replace(RULES, ready=nothing_is_needed)), "lcb", "BC-LCB-CAUSAL"),
        (
            Plant("counts_as_dependency/nobody", replace(RULES, counts_as_dependency=nobody_counts)),
            "lcb",
            "BC-LCB-CLOCKS",
        ),
    ),
    seed=0,
    damaged=("number", "digest", "pseq", "count", "clock_sum"),
    by_damage={"BC-PL-PSEQ", "BC-PL-RESEND", "BC-PL-MEMORY", "BC-URB-MAJ", "BC-URB-REAL", "BC-FIFO-FLOW"},
    reconciled=("pseq", "count", "flags"),
    owed={PacketKind.DATA},
)
