"""Cases of environment E: each message structure, under loss; and of switches whose beacons a host makes."""

from __future__ import annotations

from scatterproof.conformance.case_building import lose
from scatterproof.conformance.network.topologies import chain, star
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.totalorder.cases.building import case, everybody
from scatterproof.conformance.totalorder.cases.loss import SOON
from scatterproof.spec.schedule import Failure, FailureKind
from scatterproof.spec.totalorder import proxies

_SHAPES = {
    "TO-FMT-5": "sends barrier and ack barrier with every message, and no beacon",
    "TO-FMT-6": "sends barriers with messages, and ack barriers in beacons",
    "TO-FMT-7": "sends bare messages, barriers in beacons, and ack barriers in other beacons",
    "TO-FMT-8": "sends bare messages, and both barriers in every beacon",
    "TO-FMT-9": "sends both barriers with every message, and both in beacons on links that are idle",
}

_ROW = chain(3, 1)


def _case(clause: str, duty: str) -> Case:
    # Without beacons the last messages of a run stay where they are, and may leave a loss unseen.
    also = () if clause == "TO-FMT-5" else ("TO-LOSS-SAFE", "TO-ACK-MEAN")
    return case(
        f"{clause}/busy-then-idle",
        "hosts scatter, some messages are lost, and later they scatter again",
        duty,
        star(3),
        clause.replace("TO-FMT-", "D"),
        everybody(star(3), (*(1_000 + 4_000 * n for n in range(6)), 70_000, 74_000)),
        faults=(*lose(0, 2), *lose(3, 3)),
        also=also,
        **SOON,
    )


CASES = (
    *(_case(clause, duty) for clause, duty in _SHAPES.items()),
    case(
        "TO-FMT-7/two-switches",
        "barriers and ack barriers travel in beacons of their own, over two switches",
        "keeps both in step with the data between them",
        chain(2, 2),
        "D7",
        everybody(chain(2, 2), (1_000, 12_000)),
        faults=lose(8, 3),
        also=("TO-SW-PATH", "TO-LOSS-SAFE"),
        **SOON,
    ),
    case(
        "TO-SW-PATH/proxy-hosts",
        "each of three switches in a row has a host make its beacons, and hosts scatter to all",
        "has no barrier overtake a message: what a host makes of beacons goes by the switch's own sending ports",
        _ROW,
        "B",
        everybody(_ROW, (1_000, 3_000, 12_000, 26_000, 55_000)),
        also=("TO-BAR-LINK", "TO-BAR-RISE", "TO-ORDER"),
        switch="proxy",
        proxies=proxies.parameter(_ROW, proxies.nearest(_ROW)),
        processor_delay_ns=3_000,
    ),
    case(
        "TO-SW-PATH/far-proxy-hosts-under-loss",
        "the host that makes a switch's beacons is behind another switch; beacons, and what is made of them, are lost",
        "counts beacons on their way there and back like all else on a link",
        _ROW,
        "D8",
        everybody(_ROW, (1_000, 3_000, 12_000, 26_000, 55_000, 90_000)),
        faults=tuple(loss for link in range(len(_ROW.links)) for loss in lose(link, 3 + link % 4, 9)),
        also=("TO-LOSS-SAFE", "TO-BAR-RISE", "TO-ORDER"),
        switch="proxy",
        proxies=proxies.parameter(_ROW, {switch: hosts[-1] for switch, hosts in proxies.choices(_ROW).items()}),
        processor_delay_ns=3_000,
        **SOON,
    ),
    case(
        "TO-RESTART/switch-with-a-proxy-host",
        "a switch restarts whose beacons a proxy host makes, while messages are in it and beacons on their way back",
        "promises nothing of what its proxy host knew, which may hold for messages that were lost in the switch",
        _ROW,
        "D8",
        everybody(_ROW, (1_000, 3_000, 12_000, 26_000, 55_000, 90_000)),
        failures=(
            Failure(13_000, FailureKind.CRASH, node=_ROW.switches()[0]),
            Failure(14_000, FailureKind.RESTART, node=_ROW.switches()[0]),
        ),
        also=("TO-BAR-MIN", "TO-ACK-MIN", "TO-LOSS-SAFE", "TO-ORDER"),
        switch="proxy",
        proxies=proxies.parameter(_ROW, proxies.nearest(_ROW)),
        processor_delay_ns=3_000,
        forwarding_delay_ns=1_000,
        **SOON,
    ),
)
