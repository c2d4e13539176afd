"""What cases of failures are put together from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scatterproof.conformance.case_building import between
from scatterproof.conformance.network.topologies import chain, star
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.totalorder.cases.building import INTERVAL_NS, case
from scatterproof.spec.schedule import Failure, FailureKind
from scatterproof.spec.topology import LinkId

CRASH, RESTART, CUT, MEND = FailureKind.CRASH, FailureKind.RESTART, FailureKind.CUT, FailureKind.MEND
TO_2_OF_4 = star(4).ingress(2)[0]
UPWARDS = between(chain(2, 2), 5, 4)  # from the switch that is not the root
BUSY = tuple(range(20_000, 250_000, 15_000))  # when hosts scatter
DETECTED: dict[str, Any] = {
    "failure_timeout_ns": 6 * INTERVAL_NS,
    "retransmit_timeout_ns": 3 * INTERVAL_NS,
}


def silent(link: LinkId, *spans: tuple[int, int]) -> tuple[Failure, ...]:
    """The link carries nothing in these spans of time."""
    return tuple(f for begin, end in spans for f in (Failure(begin, CUT, link=link), Failure(end, MEND, link=link)))


def in_order(*failures: Failure) -> tuple[Failure, ...]:
    return tuple(sorted(failures, key=lambda failure: failure.time_ns))


def failing(*words: Any, **more: Any) -> Case:
    """`case` with failures that are detected. Messages of or to those that fail may arrive and be discarded:
    TO-COMPLETE does not hold then."""
    made = case(*words, **DETECTED | more)
    return replace(made, at_stake=tuple(clause for clause in made.at_stake if clause != "TO-COMPLETE"))
