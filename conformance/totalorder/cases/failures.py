"""Cases of failing hosts, links and switches: TO-FAIL, TO-ATOMIC, TO-RESTART."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.case import Case
from conformance.network.topologies import chain, star
from conformance.totalorder.cases.building import INTERVAL_NS, case, everybody, scatter
from spec.schedule import Delay, Failure, FailureKind

CRASH, RESTART, CUT, MEND = FailureKind.CRASH, FailureKind.RESTART, FailureKind.CUT, FailureKind.MEND
_DETECTED: dict[str, Any] = {
    "failure_timeout_ns": 6 * INTERVAL_NS,
    "retransmit_timeout_ns": 3 * INTERVAL_NS,
}
# In stars of three the last link leads to host 2.
_TO_HOST_2 = next(number for number, link in enumerate(star(3).links) if link.target == 2)
_TO_HOST_1 = next(number for number, link in enumerate(star(3).links) if link.target == 1)
_TO_2_OF_4 = next(number for number, link in enumerate(star(4).links) if link.target == 2)
_FROM_ROOT = next(number for number, link in enumerate(chain(2, 2).links) if (link.source, link.target) == (4, 5))


def _silent(link: int, *spans: tuple[int, int]) -> tuple[Failure, ...]:
    """The link carries nothing in these spans of time."""
    return tuple(f for begin, end in spans for f in (Failure(begin, CUT, link=link), Failure(end, MEND, link=link)))


def _in_order(*failures: Failure) -> tuple[Failure, ...]:
    return tuple(sorted(failures, key=lambda failure: failure.time_ns))


def _failing(made: Case) -> Case:
    """Messages of or to those that fail may arrive and be discarded: TO-COMPLETE does not hold then."""
    return replace(made, at_stake=tuple(clause for clause in made.at_stake if clause != "TO-COMPLETE"))


_BUSY = tuple(range(20_000, 250_000, 15_000))
CASES = (
    _failing(
        case(
            "TO-FAIL/receiver-with-unacknowledged-messages",
            "a host crashes under load, with messages for it on their way",
            "stops waiting for it: the other hosts deliver what they scatter among themselves",
            star(4),
            "D8",
            (*everybody(star(4), _BUSY), *(scatter(time + 7_000, 0, 1, 2) for time in _BUSY)),
            failures=(Failure(101_000, CRASH, node=3),),
            also=("TO-ATOMIC", "TO-ORDER"),
            **_DETECTED,
        )
    ),
    _failing(
        case(
            "TO-FAIL/cut-link",
            "the link from a host to its switch is cut for good, and the host lives on",
            "gives the host up on all sides, itself included, and goes on without it",
            chain(2, 2),
            "D7",
            (*everybody(chain(2, 2), _BUSY), *(scatter(time + 7_000, 1, 0, 2) for time in _BUSY)),
            failures=(Failure(101_000, CUT, link=6),),
            also=("TO-ATOMIC",),
            **_DETECTED,
        )
    ),
    _failing(
        case(
            "TO-FAIL/switch",
            "one of two switches crashes, and the hosts behind it are cut off",
            "goes on with the hosts at the other switch",
            chain(2, 2),
            "D9",
            (*everybody(chain(2, 2), _BUSY), *(scatter(time + 7_000, 1, 0, 1) for time in _BUSY)),
            failures=(Failure(101_000, CRASH, node=5),),
            also=("TO-ATOMIC",),
            **_DETECTED,
        )
    ),
    _failing(
        case(
            "TO-ATOMIC/sender-in-the-midst-of-a-scattering",
            "one copy of a scattering is lost, and its sender crashes before it could send it again",
            "delivers the other copy nowhere, or else not all receivers that stay up would have it",
            star(3),
            "D8",
            (
                scatter(1_000, 0, 1, 2),
                scatter(25_000, 0, 1, 2),
                *(scatter(time, host, 1, 2) for time in range(100_000, 200_000, 20_000) for host in (1, 2)),
            ),
            failures=(
                Failure(24_000, CUT, link=_TO_HOST_2),
                Failure(31_000, CRASH, node=0),
                Failure(33_000, MEND, link=_TO_HOST_2),
            ),
            also=("TO-FAIL",),
            **_DETECTED,
        )
    ),
    _failing(
        case(
            "TO-FAIL/notice-that-is-lost",
            "a host crashes when one copy of its scattering is lost, and the notice to who has the other is lost, too",
            "tells it again, and holds everybody down until all have answered: the copy is delivered nowhere",
            star(3),
            "D8",
            (
                scatter(1_000, 0, 1, 2),
                scatter(25_000, 0, 1, 2),
                *(scatter(time, host, 1, 2) for time in range(100_000, 200_000, 20_000) for host in (1, 2)),
            ),
            failures=_in_order(
                *_silent(_TO_HOST_2, (24_000, 31_000)),
                Failure(31_000, CRASH, node=0),
                *_silent(_TO_HOST_1, (86_000, 98_000)),
            ),
            also=("TO-ATOMIC",),
            **_DETECTED,
        )
    ),
    _failing(
        case(
            "TO-FAIL/second-before-the-first-is-answered",
            "two hosts crash, the second one before it could answer the notice about the first",
            "waits for no answer of who has failed",
            star(4),
            "D7",
            (*everybody(star(4), _BUSY), *(scatter(time + 7_000, 0, 1) for time in _BUSY)),
            failures=(Failure(101_000, CRASH, node=3), Failure(130_000, CRASH, node=2)),
            also=("TO-ATOMIC",),
            **_DETECTED,
        )
    ),
    _failing(
        case(
            "TO-FAIL/link-from-the-root",
            "the link that leads down to a switch is cut for good",
            "stops that switch and the hosts behind it, which the others give up",
            chain(2, 2),
            "D8",
            (*everybody(chain(2, 2), _BUSY), *(scatter(time + 7_000, 0, 1) for time in _BUSY)),
            failures=(Failure(101_000, CUT, link=_FROM_ROOT),),
            also=("TO-ATOMIC",),
            **_DETECTED,
        )
    ),
    _failing(
        case(
            "TO-ATOMIC/recall-before-its-message",
            "a receiver crashes, and another one gets the recall of a scattering before its copy",
            "discards the copy when it comes, as the third receiver discards its own",
            star(4),
            "D8",
            (
                scatter(25_000, 0, 1, 2, 3),
                *(scatter(time, host, 0, 1, 2) for time in range(100_000, 220_000, 20_000) for host in (0, 1)),
            ),
            failures=_in_order(
                Failure(24_000, CRASH, node=3), *_silent(_TO_2_OF_4, (24_000, 31_000), (53_000, 61_000))
            ),
            also=("TO-FAIL",),
            **_DETECTED,
        )
    ),
    _failing(
        case(
            "TO-ATOMIC/recall-that-is-lost",
            "a receiver crashes, and the recall to one of two others is lost",
            "recalls again, and acknowledges nothing of it until both have answered",
            star(4),
            "D8",
            (
                scatter(25_000, 0, 1, 2, 3),
                *(scatter(time, host, 0, 1, 2) for time in range(100_000, 220_000, 20_000) for host in (0, 1)),
            ),
            delays=(Delay(500),) * len(star(4).links),
            failures=_in_order(Failure(24_000, CRASH, node=3), *_silent(_TO_2_OF_4, (81_300, 97_000))),
            also=("TO-FAIL",),
            **_DETECTED,
        )
    ),
    _failing(
        case(
            "TO-RESTART/under-load",
            "a switch crashes under load, and begins anew before anybody gives it up",
            "begins with barriers at or above those that it had sent, and loses no message",
            chain(2, 2),
            "D8",
            everybody(chain(2, 2), _BUSY),
            failures=(Failure(101_000, CRASH, node=5), Failure(121_000, RESTART, node=5)),
            also=("TO-FAIL",),
            **_DETECTED,
        )
    ),
)
