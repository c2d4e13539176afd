"""Cases of environment D: how loss is noticed, told, and survived.

Which packet of a link has which number is the implementation's affair, so several in a row are lost where it must be a
message, and those that follow reveal it.
"""

from __future__ import annotations

from typing import Any

from scatterproof.conformance.case_building import lose
from scatterproof.conformance.network.topologies import chain, diamond, star
from scatterproof.conformance.totalorder.cases.building import (
    TO_R_FROM_S,
    TO_R_FROM_T,
    TWO_INGRESS,
    case,
    everybody,
    scatter,
)
from scatterproof.spec.schedule import Clock, Delay

# A time-out that is long for the networks below, and short for a run.
SOON: dict[str, Any] = {"retransmit_timeout_ns": 60_000}

_NOTICING = (
    case(
        "TO-SWLOSS/first-link",
        "a message is lost between its host and the switch; others follow",
        "takes the gap as loss, and reports it on all links that data from there can take",
        star(3),
        "D9",
        everybody(star(3), (1_000, 3_000, 5_000, 7_000, 30_000)),
        faults=lose(0, 1, 2),
        also=("TO-FLAG-SW", "TO-LOSS-SAFE"),
        **SOON,
    ),
    case(
        "TO-SWLOSS/passed-on-along-a-row",
        "a message is lost on the first of several switches",
        "passes the loss record on unchanged, switch by switch",
        chain(3, 1),
        "D9",
        everybody(chain(3, 1), (1_000, 4_000, 9_000, 40_000)),
        faults=lose(0, 1, 2),
        also=("TO-FLAG-RX", "TO-LOSS-SAFE"),
        **SOON,
    ),
    case(
        "TO-LASTHOP/last-link",
        "two hosts scatter to a third; one message is lost on the last link, and nothing else is",
        "has the receiver notice the gap itself, and hold back what its barrier has passed",
        star(3),
        "D9",
        (*(scatter(1_000 + 2_500 * n, n % 2, 2) for n in range(8)), scatter(60_000, 0, 2), scatter(61_000, 1, 2)),
        faults=lose(5, 2, 3),
        also=("TO-FLAG-RX", "TO-LOSS-SAFE"),
        **SOON,
    ),
    case(
        "TO-LASTHOP/one-of-two-ingress-links",
        "a receiver has two ingress links; a message is lost on one, while the other goes on",
        "is in the loss state as a whole: nothing of the other link is delivered past what was lost",
        TWO_INGRESS,
        "D9",
        (*(scatter(1_000 + 2_500 * n, n % 2, 2) for n in range(10)), *(scatter(60_000 + n, n, 2) for n in (0, 1))),
        faults=lose(TO_R_FROM_S, 2, 3),
        also=("TO-FLAG-RX", "TO-LOSS-SAFE"),
        **SOON,
    ),
    case(
        "TO-LOSSCTR/beacons-reveal-it",
        "a message is lost, and only beacons follow it on its link",
        "takes the gap that a beacon shows as loss, before it uses the barrier of that beacon",
        star(3),
        "D8",
        (scatter(1_000, 0, 2), *(scatter(2_000 + 2_000 * n, 1, 2) for n in range(10))),
        faults=lose(0, 1, 2),
        also=("TO-FLAG-BEACON", "TO-LOSS-SAFE"),
        **SOON,
    ),
    case(
        "TO-LOSSCTR/a-beacon-is-lost",
        "beacons are lost on links between switches, and later messages show the gap",
        "counts beacons as it counts messages",
        chain(2, 2),
        "D8",
        everybody(chain(2, 2), (1_000, 22_000, 45_000)),
        faults=(*lose(8, 1, 4), *lose(9, 2, 3)),
        also=("TO-SWLOSS", "TO-LOSS-SAFE"),
        **SOON,
    ),
)

_TELLING = (
    case(
        "TO-FLAG-SW/second-loss-in-the-loss-state",
        "while the first loss is not made good, later messages of the same link are lost, too",
        "keeps the flag until the ack barriers have reached the greater record",
        star(3),
        "D9",
        everybody(star(3), (*(1_000 + 4_000 * n for n in range(10)), 90_000)),
        faults=(*lose(0, 1, 2), *lose(0, 9, 10, 11)),
        also=("TO-SWLOSS", "TO-LOSS-SAFE"),
        **SOON,
    ),
    case(
        "TO-FLAG-SW/slow-link-holds-the-minimum",
        "the minimum of the barriers is that of a slow link, while a message of a fast one is lost",
        "does not end the loss state when the ack barriers have passed that minimum",
        star(3),
        "D9",
        everybody(star(3), (1_000, 5_000, 9_000, 13_000, 80_000)),
        delays=tuple(Delay(25_000 if link == 2 else 1_000) for link in range(6)),
        faults=lose(0, 1, 2, 3),
        also=("TO-SWLOSS", "TO-LOSS-SAFE"),
        **SOON,
    ),
    case(
        "TO-FLAG-SW/flags-meet-in-a-diamond",
        "messages are lost on both ways of a diamond",
        "tells the greatest record of all that reach a link",
        diamond(),
        "D9",
        everybody(diamond(), (1_000, 6_000, 11_000, 60_000)),
        faults=(*lose(8, 2, 3), *lose(12, 3, 4), *lose(11, 2)),
        also=("TO-SWLOSS", "TO-FLAG-RX", "TO-LOSS-SAFE"),
        **SOON,
    ),
    case(
        "TO-FLAG-BEACON/beacons-alone",
        "in the loss state there is nothing to send but beacons",
        "sets the flag on beacons, too",
        star(3),
        "D8",
        (scatter(1_000, 0, 1, 2), scatter(1_500, 1, 2)),
        faults=lose(0, 1, 2),
        also=("TO-LOSS-SAFE",),
        **SOON,
    ),
    case(
        "TO-FLAG-RX/flag-from-afar",
        "a message is lost far away; the receiver hears of it by the flag alone, and has others to deliver",
        "delivers up to the ack barrier until that has reached the record",
        chain(3, 1),
        "D9",
        (*(scatter(1_000 + 2_500 * n, n % 2, 2) for n in range(10)), scatter(70_000, 0, 2), scatter(71_000, 1, 2)),
        faults=lose(0, 1, 2),
        also=("TO-SWLOSS", "TO-LOSS-SAFE"),
        **SOON,
    ),
    case(
        "TO-FLAG-RX/flag-and-message-lost-together",
        "a message is lost, and then the first packets that report it",
        "is told by those that follow",
        chain(2, 1),
        "D9",
        everybody(chain(2, 1), (1_000, 4_000, 7_000, 10_000, 60_000)),
        faults=(*lose(0, 1), *lose(4, 1, 2, 3, 4), *lose(3, 2, 3)),
        also=("TO-LOSS-SAFE",),
        **SOON,
    ),
)

_SURVIVING = (
    case(
        "TO-LOSS-SAFE/every-link-loses",
        "every link loses some of its first packets, in both directions",
        "delivers everything, in one order",
        star(3),
        "D9",
        everybody(star(3), (1_000, 6_000, 12_000, 70_000)),
        faults=tuple(fault for link in range(6) for fault in lose(link, 1 + link % 3, 5 + link % 2)),
        clocks=(Clock(0), Clock(4_000), Clock(-3_000), Clock(0)),
        also=("TO-RETX", "TO-ORDER"),
        **SOON,
    ),
    case(
        "TO-LOSS-SAFE/two-receivers",
        "a scattering is lost on its way to one of two receivers, who both hear from another host",
        "delivers it, and what the other host sent, in one order at both",
        star(4),
        "D9",
        (*(scatter(1_000 + 2_000 * n, n % 2, 2, 3) for n in range(8)), *(scatter(60_000, n, 2, 3) for n in (0, 1))),
        faults=lose(5, 1, 2),
        also=("TO-ACK-MEAN", "TO-ORDER"),
        **SOON,
    ),
    case(
        "TO-LOSS-SAFE/first-of-all",
        "the very first packets of a sender are lost, so that nobody has heard of it yet",
        "delivers what it sent ahead of what others sent later",
        TWO_INGRESS,
        "D9",
        (scatter(500, 0, 2), *(scatter(1_000 + 2_000 * n, 1, 2) for n in range(6)), scatter(50_000, 0, 2)),
        faults=(*lose(0, 0, 1, 2), *lose(TO_R_FROM_T, 0)),
        **SOON,
    ),
)

CASES = (*_NOTICING, *_TELLING, *_SURVIVING)
