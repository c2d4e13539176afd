"""One busy schedule that must deliver the same with every carrier of barriers and every form of switches (TO-SW-1 to
TO-SW-6). `scatterproof.conformance.report.equivalence` compares the runs."""

from __future__ import annotations

from scatterproof.conformance.network.topologies import chain
from scatterproof.conformance.report.equivalence import Comparison
from scatterproof.conformance.totalorder.variants import WITHOUT_BEACONS, variants
from scatterproof.spec.schedule import Clock, Delay, Fault, FaultKind, Message, Schedule, Submission, validate

ROUNDS = 24


def busy() -> Schedule:
    """Two hosts at each of two switches. Every 3 ns one host sends to all, and now and then two do so at once. Clocks
    are 3 ns apart, so that timestamps tie. Every third link loses one of its first packets, where links may lose
    any."""
    topology = chain(2, 2)
    to_all = tuple(Message(receiver) for receiver in topology.hosts())
    return validate(
        Schedule(
            protocol="totalorder",
            topology=topology,
            delays=tuple(Delay(4, 3) for _ in topology.links),
            submissions=tuple(
                Submission(3 * number, host, to_all)
                for number in range(ROUNDS)
                for host in sorted({number % 4, number * number % 4})
            ),
            clocks=tuple(Clock(offset_ns=3 * (node % 3)) for node in range(len(topology.nodes))),
            parameters={"beacon_interval_ns": 10},
            faults=tuple(Fault(link, link % 5 + 1, FaultKind.LOSE) for link in range(0, len(topology.links), 3)),
        )
    )


COMPARISON = Comparison(variants=variants(busy()), reference="C", prefixes=WITHOUT_BEACONS)
