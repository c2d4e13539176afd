"""Cases of large numbers: clocks that count from long ago, and links that have carried thousands of packets.

A clock of nanoseconds since 1970 reads more than 2^60, which no float holds to the nanosecond, and neither do the
numbers of JavaScript.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scatterproof.conformance.case_building import lose
from scatterproof.conformance.network.topologies import chain, star
from scatterproof.conformance.totalorder.cases.building import INTERVAL_NS, case, everybody, scatter
from scatterproof.spec.schedule import Clock, Delay, Failure, FailureKind
from scatterproof.spec.topology import Topology

LATE_NS = (1 << 62) - 987_654_321
# Times of adjustment are checked below 2^61, so that no sum of them wraps.
LATE_TO_ADJUST_NS = (1 << 60) + 987_654_321
MANY = 2_100


def late(network: Topology, start_ns: int = LATE_NS) -> tuple[Clock, ...]:
    """Clocks near start_ns, a little apart, in even and odd nanoseconds."""
    return tuple(Clock(start_ns + 37 * node) for node in range(len(network.nodes)))


_TIMES = (1_000, 3_001, 5_002, 7_003, 30_001)
_SOON: dict[str, Any] = {"retransmit_timeout_ns": 60_000}
_ADJUSTED = case(
    "TO-ADJ-2/clocks-near-2-to-the-60",
    "three hosts whose clocks read more than 2^60 adjust their timestamps",
    "reckons with all bits of them",
    star(3),
    "C",
    everybody(star(3), tuple(3_000 + 11_000 * n for n in range(12))),
    delays=tuple(Delay(delay) for delay in (4_000, 1_000, 500, 1_000, 2_000, 3_000)),
    clocks=late(star(3), LATE_TO_ADJUST_NS),
    also=("TO-ADJ-1", "TO-ADJ-SAFE", "TO-ORDER"),
    adjustment_interval_ns=20_000,
)
_FAILING = case(
    "TO-FAIL/clocks-near-2-to-the-62",
    "a host crashes, where clocks read nearly 2^62",
    "gives it up in time, and goes on",
    star(3),
    "D8",
    everybody(star(3), tuple(range(20_000, 140_000, 15_000))),
    clocks=late(star(3)),
    failures=(Failure(101_000, FailureKind.CRASH, node=2),),
    also=("TO-ATOMIC", "TO-ORDER"),
    failure_timeout_ns=6 * INTERVAL_NS,
    retransmit_timeout_ns=3 * INTERVAL_NS,
)

CASES = (
    case(
        "TO-MONO/clocks-near-2-to-the-62",
        "hosts whose clocks read nearly 2^62 scatter at even and odd nanoseconds",
        "takes timestamps and barriers from the clock to the nanosecond",
        star(3),
        "C",
        everybody(star(3), _TIMES),
        clocks=late(star(3)),
        also=("TO-BAR-HOST", "TO-BAR-MIN", "TO-ENV-C", "TO-ORDER"),
    ),
    case(
        "TO-BAR-MIN/clocks-near-2-to-the-62",
        "switches in a row aggregate beacons of nearly 2^62",
        "sends the least of them, to the nanosecond",
        chain(3, 1),
        "B",
        everybody(chain(3, 1), _TIMES),
        clocks=late(chain(3, 1)),
        also=("TO-BAR-HOST", "TO-DELIVER", "TO-ORDER"),
    ),
    case(
        "TO-LOSS-SAFE/clocks-near-2-to-the-62",
        "messages are lost, where clocks read nearly 2^62",
        "acknowledges, records and sends again by timestamps to the nanosecond",
        star(3),
        "D9",
        everybody(star(3), _TIMES),
        clocks=late(star(3)),
        faults=lose(0, 1, 2),
        also=("TO-ACK-MEAN", "TO-ACK-MIN", "TO-SWLOSS", "TO-FLAG-SW", "TO-RETX"),
        **_SOON,
    ),
    _ADJUSTED,
    replace(_FAILING, at_stake=tuple(clause for clause in _FAILING.at_stake if clause != "TO-COMPLETE")),
    case(
        f"TO-LOSSCTR/more-than-{MANY}-packets",
        f"{MANY} messages take one link; one of the last is lost",
        "goes on counting packets and messages, and takes a gap as loss then as ever",
        star(2),
        "D9",
        (*(scatter(1_000 + 400 * n, 0, 1) for n in range(MANY)), scatter(1_000_000, 0, 1)),
        delays=tuple(Delay(500) for _ in star(2).links),
        faults=lose(0, MANY - 10),
        also=("TO-SWLOSS", "TO-SEQ", "TO-LOSS-SAFE"),
        **_SOON,
    ),
)
