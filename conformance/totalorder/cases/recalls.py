"""Cases of recalls that are lost: TO-ATOMIC."""

from __future__ import annotations

from conformance.network.topologies import star
from conformance.totalorder.cases.building import case, lose, scatter
from conformance.totalorder.cases.failures import CRASH, DETECTED, failing, in_order, silent
from spec.schedule import Delay, Failure

_TO_2_OF_4 = next(number for number, link in enumerate(star(4).links) if link.target == 2)

CASES = (
    failing(
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
            failures=in_order(Failure(24_000, CRASH, node=3), *silent(_TO_2_OF_4, (81_300, 97_000))),
            also=("TO-FAIL",),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-ATOMIC/one-of-two-recalls-is-lost",
            "a receiver crashes, two scatterings are recalled, and one of the recalls to one of two others is lost",
            "takes the answer to a recall for that one alone, and recalls the other again",
            star(4),
            "D8",
            (
                scatter(25_000, 0, 1, 2, 3),
                scatter(26_000, 0, 1, 2, 3),
                *(scatter(time, host, 0, 1, 2) for time in range(100_000, 220_000, 20_000) for host in (0, 1)),
            ),
            delays=(Delay(500),) * len(star(4).links),
            faults=lose(_TO_2_OF_4, 12),
            failures=(Failure(24_000, CRASH, node=3),),
            also=("TO-FAIL",),
            **DETECTED,
        )
    ),
)
