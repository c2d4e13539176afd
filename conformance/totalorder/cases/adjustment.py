"""Cases of environment F: timestamps are adjusted to the delays of the links, in rounds."""

from __future__ import annotations

from scatterproof.conformance.case_building import lose
from scatterproof.conformance.network.topologies import chain, star
from scatterproof.conformance.totalorder.cases.building import ONE_IS_DEAF, case, everybody, scatter
from scatterproof.conformance.totalorder.cases.failing import DETECTED
from scatterproof.spec.schedule import Clock, Delay, Failure, FailureKind, Fault, FaultKind

ROUND_NS = 20_000
_TIMES = tuple(3_000 + 11_000 * n for n in range(12))
_BUSY = tuple(range(20_000, 200_000, 15_000))

# The packets of host 0 take long at first, and not any more after the first rounds.
_SLOW_AT_FIRST = tuple(Fault(0, index, FaultKind.DELAY, 7_000 - 200 * index) for index in range(14))

CASES = (
    case(
        "TO-ADJ-1/three-hosts",
        "three hosts at unequal distances ask each other, round by round",
        "answers with the greatest timestamp, aligned to the arrival that comes last",
        star(3),
        "C",
        everybody(star(3), _TIMES),
        delays=tuple(Delay(delay) for delay in (4_000, 1_000, 500, 1_000, 2_000, 3_000)),
        also=("TO-ADJ-ROUNDS", "TO-ADJ-SAFE", "TO-ORDER"),
        adjustment_interval_ns=ROUND_NS,
    ),
    case(
        "TO-ADJ-1/asked-by-one-that-hears-nothing",
        "a host that nobody reaches asks two others, by a slow clock that is ahead; its messages come between theirs",
        "counts its timestamps in the round that is answered next, answers it nothing, and then forgets them",
        ONE_IS_DEAF,
        "C",
        tuple(scatter(time_ns, host, 0, 1) for time_ns in _TIMES[::2] for host in range(3)),
        delays=tuple(map(Delay, (3_000, 500, 1_000, 500, 200))),
        clocks=(Clock(0), Clock(0), Clock(50_000, -200_000_000), Clock(0)),
        also=("TO-ADJ-2", "TO-ADJ-SAFE", "TO-ORDER"),
        adjustment_interval_ns=ROUND_NS,
    ),
    case(
        "TO-ADJ-2/far-host",
        "one host is nine microseconds nearer to all others than the rest, and clocks differ",
        "adds the least difference of the last round to the clock, and nothing of the rounds before it",
        star(4),
        "C",
        everybody(star(4), _TIMES),
        delays=tuple(Delay(500 if link == 6 else 500 if link % 2 else 9_500) for link in range(8)),
        clocks=(Clock(0), Clock(300), Clock(-200), Clock(50), Clock(0)),
        also=("TO-ADJ-1", "TO-ADJ-SAFE", "TO-ORDER"),
        adjustment_interval_ns=2 * ROUND_NS,
    ),
    case(
        "TO-ADJ-2/under-loss",
        "messages of a round are lost, among others",
        "leaves the adjustment as it was, until a round is whole",
        star(3),
        "D9",
        everybody(star(3), _TIMES),
        faults=(*lose(1, 3), *lose(4, 9, 10)),
        also=("TO-ADJ-1", "TO-LOSS-SAFE"),
        adjustment_interval_ns=ROUND_NS,
        retransmit_timeout_ns=60_000,
    ),
    case(
        "TO-ADJ-ROUNDS/drifting-clocks",
        "clocks drift apart, so that each round finds other differences",
        "measures again at every interval",
        chain(2, 1),
        "B",
        everybody(chain(2, 1), _TIMES),
        clocks=(Clock(0, 20_000_000), Clock(0, -20_000_000), Clock(0), Clock(0)),
        also=("TO-ADJ-1", "TO-ADJ-SAFE"),
        adjustment_interval_ns=ROUND_NS,
    ),
    case(
        "TO-ADJ-1/held-by-two-processors",
        "switches with two processors hold each message for long, so that some of a round are in one at any time",
        "goes on with rounds to the end, which leaves the last of their messages on the way",
        chain(2, 1),
        "B",
        everybody(chain(2, 1), _TIMES[::4]),
        also=("TO-ADJ-ROUNDS", "TO-SW-PATH"),
        adjustment_interval_ns=ROUND_NS,
        switch="two",
        forwarding_delay_ns=8_000,
    ),
    case(
        "TO-ADJ-1/a-host-fails",
        "a host crashes under load while rounds go on, and what it has not acknowledged is recalled",
        "takes notices, recalls and their answers for what they are, and goes on with rounds, none of which is whole",
        star(3),
        "D8",
        (*everybody(star(3), _BUSY), *(scatter(time_ns + 7_000, 0, 1) for time_ns in _BUSY)),
        failures=(Failure(101_000, FailureKind.CRASH, node=2),),
        also=("TO-ADJ-ROUNDS", "TO-FAIL", "TO-ATOMIC", "TO-ORDER"),
        adjustment_interval_ns=ROUND_NS,
        **DETECTED,
    ),
    case(
        "TO-ADJ-SAFE/falling-adjustment",
        "a host that was far away is near in later rounds, while it beacons and scatters",
        "stamps above all that it promised when its adjustment falls, and lowers no barrier",
        star(3),
        "C",
        (*everybody(star(3), _TIMES), *(scatter(44_000 + 700 * n, 0, 1, 2) for n in range(40))),
        delays=tuple(Delay(700) for _ in range(6)),
        faults=_SLOW_AT_FIRST,
        also=("TO-ADJ-2", "TO-BAR-RISE", "TO-BAR-LINK", "TO-ORDER"),
        adjustment_interval_ns=ROUND_NS,
    ),
    case(
        "TO-ADJ-SAFE/stamp-behind-a-beacon",
        "the same where only beacons carry barriers; the host scatters right after its adjustment has fallen",
        "stamps at or above the barrier of its last beacon, which is ahead of the adjusted clock now",
        star(3),
        "B",
        (*everybody(star(3), _TIMES), *(scatter(53_000 + 500 * n, 0, 1, 2) for n in range(4))),
        delays=tuple(Delay(700) for _ in range(6)),
        faults=_SLOW_AT_FIRST,
        also=("TO-ADJ-2", "TO-BAR-RISE", "TO-BAR-LINK", "TO-ORDER"),
        adjustment_interval_ns=ROUND_NS,
    ),
    case(
        "TO-ADJ-SAFE/stamp-behind-an-ack-barrier",
        "the same where only ack barriers are beaconed, and the host has had everything acknowledged",
        "stamps strictly above the ack barrier of its last beacon, which is ahead of the adjusted clock now",
        star(3),
        "D6",
        (*everybody(star(3), _TIMES), *(scatter(53_000 + 500 * n, 0, 1, 2) for n in range(4))),
        delays=tuple(Delay(700) for _ in range(6)),
        faults=_SLOW_AT_FIRST,
        also=("TO-ADJ-2", "TO-ACK-INIT"),
        adjustment_interval_ns=ROUND_NS,
    ),
    case(
        "TO-ADJ-SAFE/beacon-behind-a-beacon",
        "an adjustment falls by more than a beacon interval, and the host sends nothing but beacons",
        "repeats its promise in the next beacon, and sends no barrier that falls",
        star(3),
        "B",
        (scatter(3_000, 0, 1), *(scatter(5_000 + 9_000 * n, 1, 0, 2) for n in range(16)), scatter(140_000, 0, 1, 2)),
        delays=tuple(Delay(700) for _ in range(6)),
        faults=tuple(Fault(0, index, FaultKind.DELAY, 12_000) for index in range(9)),
        also=("TO-BAR-RISE", "TO-ORDER"),
        adjustment_interval_ns=2 * ROUND_NS,
        every_beacon=1,
    ),
)
