"""Runs of the reference implementation that the tests judge, conforming as they are or damaged on purpose."""

from __future__ import annotations

import random
from functools import cache

from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.network.topologies import chain, diamond, one_way, second_example, star
from scatterproof.impl.totalorder import make_core
from scatterproof.spec.schedule import (
    Clock,
    Delay,
    Failure,
    FailureKind,
    Fault,
    FaultKind,
    Message,
    Schedule,
    Submission,
    validate,
)
from scatterproof.spec.topology import Link, Node, Role, Topology, route
from scatterproof.spec.totalorder.messages import Environment
from scatterproof.spec.trace import Row, Trace, schema

COLUMNS = schema("totalorder").columns
# A receiver with two ingress links, one from each of two switches that are joined.
TWO_INGRESS = Topology(
    (*(Node(name, Role.HOST) for name in ("a", "b", "r")), *(Node(name, Role.SWITCH) for name in ("s", "t"))),
    tuple(Link(*ends) for pair in ((0, 3), (1, 4), (2, 3), (2, 4), (3, 4)) for ends in (pair, pair[::-1])),
)
NETWORKS = {
    "star": star(3),
    "chain": chain(2, 1),
    "one way": one_way(2, 2),
    "example 2": second_example(),
    "pair": star(2),
    "two ingress links": TWO_INGRESS,
    "diamond": diamond(2, 1),
}
INTERVAL_NS = 4000
# Environments with what else is chosen.
VARIANTS: dict[str, dict[str, int | str]] = {
    **{str(environment): {"environment": str(environment)} for environment in Environment},
    "D6 with host flags": {"environment": "D6", "host_flags": 1},
    "D9 with host flags": {"environment": "D9", "host_flags": 1},
    "D9 filled": {"environment": "D9", "fill_barrier": 1},
    "A filled": {"environment": "A", "fill_barrier": 1},
    "C filled, causal": {"environment": "C", "fill_barrier": 1, "causal": 1},
    "B, every beacon": {"environment": "B", "every_beacon": 1},
    "D8 with two processors": {"environment": "D8", "switch": "two", "processor_delay_ns": 900},
    "C adjusted": {"environment": "C", "adjustment_interval_ns": 6000},
    "D9, the switch restarts": {"environment": "D9"},
    "D9 adjusted": {"environment": "D9", "adjustment_interval_ns": 6000},
    "D9, a host fails": {"environment": "D9", "failure_timeout_ns": 12_000, "host_flags": 1},
    "D8, a host begins anew": {"environment": "D8", "failure_timeout_ns": 12_000},
    "D7, a link is cut": {"environment": "D7", "failure_timeout_ns": 12_000, "causal": 1},
    "B with two processors": {"environment": "B", "switch": "two", "processor_delay_ns": 900},
}
WITHOUT_LOSS = [(network, variant) for network in list(NETWORKS)[:4] for variant in "ABC"]
UNDER_LOSS = [
    *(("pair", f"D{structure}") for structure in range(5, 10)),
    *((network, "D9") for network in ("star", "chain", "two ingress links", "diamond")),
    ("two ingress links", "D7"),
]
WHERE = {
    **dict.fromkeys(("D9, a host fails", "D8, a host begins anew", "D7, a link is cut"), "star"),
    "C adjusted": "star",
    "D6 with host flags": "two ingress links",
    "D9 with host flags": "two ingress links",
}
WITH_CHOICES = [(WHERE.get(variant, "pair"), variant) for variant in list(VARIANTS)[8:]]


def schedule(network: Topology, variant: str, *, seed: int = 0, count: int = 6) -> Schedule:
    """A busy little run: every sender scatters to all that it reaches, some at one and the same time. Under loss a few
    packets are lost, and time-outs are short."""
    routes = route(network)
    reached = {host: [r for r in network.hosts() if routes.path(network, host, r)] for host in network.hosts()}
    senders = [host for host in network.hosts() if reached[host]]
    parameters = VARIANTS[variant]
    pace = 9000 if "adjustment_interval_ns" in parameters else 1000  # some rounds should be over
    submissions = tuple(
        Submission(
            time_ns=pace * (number // 2),
            node=senders[(number + seed) % len(senders)],
            messages=tuple(
                Message(receiver, bytes([number, receiver]))
                for receiver in reached[senders[(number + seed) % len(senders)]]
            ),
        )
        for number in range(count)
    )
    loses = Environment(str(parameters["environment"])).loses
    return validate(
        Schedule(
            protocol="totalorder",
            topology=network,
            delays=tuple(Delay(base_ns=300 + 100 * (link % 3), jitter_ns=400) for link in range(len(network.links))),
            submissions=submissions,
            clocks=tuple(Clock(offset_ns=50 * (node % 3)) for node in range(len(network.nodes))),
            parameters={"beacon_interval_ns": INTERVAL_NS, "retransmit_timeout_ns": 2 * INTERVAL_NS, **parameters},
            faults=losses(network, seed) if loses else (),
            failures=failing(network, variant),
            seed=seed,
        )
    )


def failing(network: Topology, variant: str) -> tuple[Failure, ...]:
    if "restarts" in variant:
        return restart(network)
    crash = Failure(2500, FailureKind.CRASH, node=0)
    if "anew" in variant:
        return (crash, Failure(9000, FailureKind.RESTART, node=0))
    if "cut" in variant:
        return (Failure(2500, FailureKind.CUT, link=0),)
    return (crash,) if "fails" in variant else ()


def restart(network: Topology) -> tuple[Failure, ...]:
    """The first switch stops in the midst of things, and begins anew."""
    switch = network.switches()[0]
    return (Failure(2500, FailureKind.CRASH, node=switch), Failure(9000, FailureKind.RESTART, node=switch))


def losses(network: Topology, seed: int) -> tuple[Fault, ...]:
    """Some of the first packets of every third link are lost, and the very first of one link."""
    drawn = random.Random(seed)
    links = range(seed % 3, len(network.links), 3)
    chosen = {(link, drawn.randrange(1, 6)) for link in links} | {(links[-1], 0)}
    return tuple(Fault(link, index, FaultKind.LOSE) for link, index in sorted(chosen))


@cache
def conforming(network: str, variant: str, seed: int = 0) -> Trace:
    """The trace of the reference implementation; do not change it."""
    return simulate(schedule(NETWORKS[network], variant, seed=seed), make_core)


def change(row: Row, **values: int) -> Row:
    named = dict(zip(COLUMNS, row, strict=True)) | values
    return tuple(named[column] for column in COLUMNS)


def value(row: Row, column: str) -> int:
    return row[COLUMNS.index(column)]
