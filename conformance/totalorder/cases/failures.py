"""Cases of failing hosts, links and switches: TO-FAIL, TO-ATOMIC, TO-RESTART."""

from __future__ import annotations

from scatterproof.conformance.case_building import between
from scatterproof.conformance.network.topologies import chain, star
from scatterproof.conformance.totalorder.cases.building import case, everybody, scatter
from scatterproof.conformance.totalorder.cases.failing import (
    BUSY,
    CRASH,
    CUT,
    DETECTED,
    MEND,
    RESTART,
    TO_2_OF_4,
    UPWARDS,
    failing,
    in_order,
    silent,
)
from scatterproof.spec.schedule import Clock, Delay, Failure

_TO_HOST_1, _TO_HOST_2 = (star(3).ingress(host)[0] for host in (1, 2))
_TO_1_OF_5, _TO_2_OF_5, _TO_4_OF_5 = (star(5).ingress(host)[0] for host in (1, 2, 4))
_FROM_ROOT = between(chain(2, 2), 4, 5)
CASES = (
    failing(
        case(
            "TO-FAIL/receiver-with-unacknowledged-messages",
            "a host crashes under load, with messages for it on their way",
            "stops waiting for it: the other hosts deliver what they scatter among themselves",
            star(4),
            "D8",
            (*everybody(star(4), BUSY), *(scatter(time + 7_000, 0, 1, 2) for time in BUSY)),
            failures=(Failure(101_000, CRASH, node=3),),
            also=("TO-ATOMIC", "TO-ORDER"),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-FAIL/cut-link",
            "the link from a host to its switch is cut for good, and the host lives on",
            "gives the host up on all sides, itself included, and goes on without it",
            chain(2, 2),
            "D7",
            (*everybody(chain(2, 2), BUSY), *(scatter(time + 7_000, 1, 0, 2) for time in BUSY)),
            failures=(Failure(101_000, CUT, link=6),),
            also=("TO-ATOMIC",),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-FAIL/link-to-a-host",
            "the link from a switch to a host is cut for good, and all else that the host says is heard",
            "stops: the other hosts go on without what it would have to acknowledge",
            star(4),
            "D8",
            (*everybody(star(4), BUSY), *(scatter(time + 7_000, 1, 0, 3) for time in BUSY)),
            failures=(Failure(101_000, CUT, link=TO_2_OF_4),),
            also=("TO-ATOMIC",),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-FAIL/switch",
            "one of two switches crashes, and the hosts behind it are cut off",
            "goes on with the hosts at the other switch",
            chain(2, 2),
            "D9",
            (*everybody(chain(2, 2), BUSY), *(scatter(time + 7_000, 1, 0, 1) for time in BUSY)),
            failures=(Failure(101_000, CRASH, node=5),),
            also=("TO-ATOMIC",),
            **DETECTED,
        )
    ),
    failing(
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
            **DETECTED,
        )
    ),
    failing(
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
            failures=in_order(
                *silent(_TO_HOST_2, (24_000, 31_000)),
                Failure(31_000, CRASH, node=0),
                *silent(_TO_HOST_1, (86_000, 98_000)),
            ),
            also=("TO-ATOMIC",),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-FAIL/second-before-the-first-is-answered",
            "two hosts crash at once, and a third one before it could answer the notices; one about that is lost",
            "waits for no answer of who has failed, and tells again what was not answered",
            star(5),
            "D7",
            (*everybody(star(5), BUSY), *(scatter(time + 7_000, 0, 1) for time in BUSY)),
            delays=(Delay(500),) * len(star(5).links),
            failures=in_order(
                Failure(101_000, CRASH, node=3),
                Failure(101_000, CRASH, node=4),
                Failure(129_000, CRASH, node=2),
                *silent(_TO_1_OF_5, (178_000, 190_000)),
            ),
            also=("TO-ATOMIC",),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-FAIL/dead-from-the-start",
            "two hosts never speak, and in the end nobody is left; the time-out is less than a beacon interval",
            "gives up those that never spoke, and goes on with the others while there are any",
            star(4),
            "D8",
            tuple(scatter(time, host, 0, 1, 2, 3) for time in range(20_000, 180_000, 20_000) for host in (0, 1)),
            failures=(
                *(Failure(0, CRASH, node=node) for node in (2, 3)),
                *(Failure(230_000, CRASH, node=node) for node in (0, 1)),
            ),
            also=("TO-ATOMIC",),
            **{**DETECTED, "retransmit_timeout_ns": 9_000},
        )
    ),
    failing(
        case(
            "TO-FAIL/link-from-the-root",
            "the link that leads down to a switch is cut for good",
            "stops that switch and the hosts behind it, which the others give up",
            chain(2, 2),
            "D8",
            (*everybody(chain(2, 2), BUSY), *(scatter(time + 7_000, 0, 1) for time in BUSY)),
            failures=(Failure(101_000, CUT, link=_FROM_ROOT),),
            also=("TO-ATOMIC",),
            **DETECTED,
        )
    ),
    failing(
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
            failures=in_order(Failure(24_000, CRASH, node=3), *silent(TO_2_OF_4, (24_000, 31_000), (53_000, 61_000))),
            also=("TO-FAIL",),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-ATOMIC/second-failure-before-the-answer",
            "a second host fails while a recall is not answered; an older scattering is recalled, which is lost",
            "forgets neither recall, and acknowledges nothing of both, nor of what is older still and not there",
            star(5),
            "D8",
            (
                scatter(24_200, 0, 2),
                scatter(24_500, 0, 1, 2, 4),
                scatter(25_000, 0, 1, 2, 3),
                *(scatter(time, host, 0, 1, 2) for time in range(140_000, 220_000, 20_000) for host in (0, 1)),
            ),
            delays=(Delay(500),) * len(star(5).links),
            failures=in_order(
                Failure(24_000, CRASH, node=3),
                *silent(_TO_2_OF_5, (24_900, 24_950), (54_300, 56_000), (81_300, 97_000), (121_200, 123_000)),
                *silent(_TO_4_OF_5, (25_000, 26_000)),
                Failure(34_000, CRASH, node=4),
            ),
            also=("TO-FAIL",),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-FAIL/at-the-cut-off",
            "a host crashes that has two messages of consecutive timestamps, and the first of them is acknowledged",
            "delivers that one, which is at the cut-off, and discards the other",
            star(3),
            "D8",
            (
                scatter(24_500, 2, 0),
                scatter(25_000, 0, 1),
                scatter(25_000, 0, 1, 2),
                *(scatter(time, host, 1, 2) for time in range(100_000, 200_000, 20_000) for host in (1, 2)),
            ),
            failures=in_order(*silent(_TO_HOST_2, (24_000, 33_000)), Failure(44_000, CRASH, node=0)),
            also=("TO-ATOMIC",),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-FAIL/two-cut-offs",
            "a switch gives up two hosts, one after the other, and is cut off itself when it has told that",
            "discards what is above the lower cut-off of a host that was given up twice",
            chain(2, 2),
            "D8",
            (
                scatter(25_000, 3, 0, 1),
                *(scatter(time, host, 0, 1) for time in range(80_000, 300_000, 20_000) for host in (0, 1)),
            ),
            failures=(
                Failure(20_000, CRASH, node=2),
                Failure(44_000, CRASH, node=3),
                Failure(106_000, CUT, link=UPWARDS),
            ),
            also=("TO-ATOMIC",),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-FAIL/nobody-left-at-a-switch",
            "the only host of a switch crashes, at the end of a row of three switches",
            "goes on: a switch that has no link left to count tells its own clock",
            chain(3, 1),
            "D9",
            everybody(chain(3, 1), BUSY),
            clocks=tuple(Clock(100_000 if node == 2 else 0) for node in range(6)),
            failures=(Failure(71_000, CRASH, node=2),),
            also=("TO-ATOMIC",),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-FAIL/crossing-notices",
            "hosts at both ends of a row of three switches crash at once, then the last switch is cut off",
            "answers in the name of who has failed, and goes on after each failure",
            chain(3, 2),
            "D8",
            (*everybody(chain(3, 2), BUSY), *(scatter(time, 2, 0, 3) for time in range(250_000, 400_000, 25_000))),
            failures=(
                Failure(70_500, CRASH, node=5),
                Failure(71_000, CRASH, node=1),
                Failure(182_000, CRASH, node=8),
            ),
            also=("TO-ATOMIC",),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-FAIL/after-a-restart",
            "a switch begins anew twice, and one of its hosts crashes long after",
            "gives up that host alone",
            chain(2, 2),
            "D8",
            everybody(chain(2, 2), (*BUSY, 270_000, 285_000)),
            failures=(
                Failure(41_000, CRASH, node=5),
                Failure(61_000, RESTART, node=5),
                Failure(81_000, CRASH, node=5),
                Failure(96_000, RESTART, node=5),
                Failure(151_000, CRASH, node=3),
            ),
            also=("TO-ATOMIC",),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-FAIL/before-a-host-speaks-again",
            "a switch begins anew, and one of its hosts has crashed meanwhile",
            "stops that switch, which cannot know what the host had acknowledged, and goes on elsewhere",
            chain(2, 2),
            "D8",
            (*everybody(chain(2, 2), BUSY), *(scatter(time + 7_000, 0, 1) for time in BUSY)),
            failures=(
                Failure(101_000, CRASH, node=5),
                Failure(102_000, CRASH, node=3),
                Failure(121_000, RESTART, node=5),
            ),
            also=("TO-ATOMIC",),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-FAIL/forgotten-by-its-switch",
            "a switch that has given up a host begins anew, and lets it in again before it has stopped",
            "delivers nothing more of that host, and stops it",
            chain(2, 2),
            "D8",
            (
                *(scatter(time, host, 0, 1) for time in range(120_000, 240_000, 20_000) for host in (0, 1)),
                *(scatter(time, 3, 0, 1, 2, 3) for time in (125_000, 200_000, 250_000)),
            ),
            failures=(
                Failure(31_000, CUT, link=6),
                Failure(112_000, CRASH, node=5),
                Failure(113_000, MEND, link=6),
                Failure(116_000, RESTART, node=5),
            ),
            also=("TO-ATOMIC", "TO-DUPACK"),
            **DETECTED,
        )
    ),
    failing(
        case(
            "TO-RESTART/under-load",
            "a switch crashes under load, and begins anew before anybody gives it up",
            "begins with barriers at or above those that it had sent, and loses no message",
            chain(2, 2),
            "D8",
            everybody(chain(2, 2), BUSY),
            failures=(Failure(101_000, CRASH, node=5), Failure(121_000, RESTART, node=5)),
            also=("TO-FAIL",),
            **DETECTED,
        )
    ),
)
