"""Cases of notices, recalls and answers to them that are lost, forgotten or late: TO-FAIL, TO-ATOMIC."""

from __future__ import annotations

from scatterproof.conformance.case_building import between, lose
from scatterproof.conformance.network.topologies import chain, star
from scatterproof.conformance.totalorder.cases.building import everybody, scatter
from scatterproof.conformance.totalorder.cases.failing import (
    BUSY,
    CRASH,
    CUT,
    MEND,
    RESTART,
    TO_2_OF_4,
    UPWARDS,
    failing,
    in_order,
    silent,
)
from scatterproof.spec.schedule import Delay, Failure

_FROM_2_OF_3, _TO_1_OF_4 = star(3).egress(2)[0], chain(2, 2).ingress(1)[0]

CASES = (
    failing(
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
        failures=in_order(Failure(24_000, CRASH, node=3), *silent(TO_2_OF_4, (81_300, 97_000))),
        also=("TO-FAIL",),
    ),
    failing(
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
        faults=lose(TO_2_OF_4, 12),
        failures=(Failure(24_000, CRASH, node=3),),
        also=("TO-FAIL",),
    ),
    failing(
        "TO-FAIL/known-of-before-a-restart",
        "a switch that has given up a host begins anew before that has stopped; the others know of its failure",
        "stops those that know: who is let in again lacks what they deliver, and sends nothing to be told by",
        star(3),
        "D8",
        tuple(scatter(time, host, 0, 1, 2) for time in range(20_000, 240_000, 20_000) for host in (0, 1)),
        failures=(
            Failure(31_000, CUT, link=_FROM_2_OF_3),
            Failure(112_000, CRASH, node=3),
            Failure(113_000, MEND, link=_FROM_2_OF_3),
            Failure(116_000, RESTART, node=3),
        ),
        also=("TO-ATOMIC",),
    ),
    failing(
        "TO-FAIL/answer-to-another-switch",
        "a host's answers to a switch come when that is cut off; notices to it about the hosts there are lost",
        "takes none of them for an answer about the lower cut-off, and tells that again",
        chain(2, 2),
        "D8",
        (
            scatter(1, 1, 0),  # the first beacon would come too late
            scatter(25_000, 3, 0, 1),
            *(scatter(time, host, 0, 1) for time in range(300_000, 400_000, 40_000) for host in (0, 1)),
        ),
        delays=tuple(
            Delay(59_000 if link.source == 1 else 5_000 if link.target == 1 else 500) for link in chain(2, 2).links
        ),
        failures=in_order(
            Failure(20_000, CRASH, node=2),
            Failure(112_000, CRASH, node=3),
            Failure(201_500, CUT, link=UPWARDS),
            *silent(_TO_1_OF_4, (81_500, 82_000), (111_500, 112_000), (261_500, 262_000)),
        ),
        also=("TO-ATOMIC",),
    ),
    failing(
        "TO-FAIL/host-after-two-restarts",
        "a switch begins anew twice, and nobody has failed; long after that a host crashes",
        "goes on with the others: what the switch has forgotten was no failure, and what it gives up it knows",
        star(3),
        "D8",
        tuple(scatter(time, host, 0, 1) for time in range(250_000, 350_000, 20_000) for host in (0, 1)),
        failures=(
            Failure(20_000, CRASH, node=3),
            Failure(23_000, RESTART, node=3),
            Failure(40_000, CRASH, node=3),
            Failure(43_000, RESTART, node=3),
            Failure(120_000, CRASH, node=2),
        ),
        also=("TO-ORDER",),
    ),
    failing(
        "TO-FAIL/answers-about-several-hosts",
        "the hosts behind a switch are cut off together; one that is asked about them crashes without an answer",
        "waits for no answer of its about any of them, and goes on",
        chain(2, 3),
        "D8",
        tuple(scatter(time, host, 0, 1) for time in range(400_000, 500_000, 20_000) for host in (0, 1)),
        failures=(Failure(100_500, CUT, link=between(chain(2, 3), 7, 6)), Failure(101_000, CRASH, node=2)),
        also=("TO-ATOMIC",),
    ),
    *(
        failing(
            f"TO-FAIL/silent-together-after-a-restart-{number}",
            "a switch begins anew, hears one of its hosts at once, another never, and then neither any more",
            "stops, as it knows no ack barrier of one: no cut-off that it could tell is one that all keep to",
            chain(2, 3),
            "D9",
            (
                *(scatter(20_000, host, 0, 5) for host in (3, 4)),
                scatter(103_400, speaks, 0, 5),  # it comes as the switch begins anew
                *(scatter(time, host, 0, 1) for time in range(300_000, 380_000, 20_000) for host in (0, 1)),
            ),
            delays=tuple(Delay(500) for _ in chain(2, 3).links),
            failures=in_order(
                Failure(99_000, CRASH, node=7),
                Failure(99_500, CRASH, node=7 - speaks),
                Failure(103_900, RESTART, node=7),
                Failure(104_600, CRASH, node=speaks),
            ),
            also=("TO-ATOMIC",),
        )
        for number, speaks in enumerate((3, 4), 1)
    ),
    failing(
        "TO-FAIL/link-to-the-root",
        "the link from a switch to the root is cut for good, and the switch goes on hearing the root",
        "tells those behind it nothing more: they stop, and the others go on without them",
        chain(2, 2),
        "D8",
        (*everybody(chain(2, 2), BUSY), *(scatter(time + 7_000, 3, 2, 3) for time in BUSY)),
        failures=(Failure(101_000, CUT, link=UPWARDS),),
        also=("TO-ATOMIC",),
    ),
)
