"""How long a failed host, link or switch stops the others: from the failure until every process that it does not cut
off has delivered a message submitted at that moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from random import Random

import msgspec

from ci.figures.curves import Curve, Point
from ci.figures.latency import PROTOCOL, LatencySetting, maker, schedule_of
from ci.figures.testbed import TESTBED, TestbedNetwork, network
from scatterproof.conformance.network.run import simulate
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Failure, FailureKind, Message, Schedule, Submission, validate
from scatterproof.spec.topology import NodeId, route
from scatterproof.spec.totalorder.messages import Environment
from scatterproof.spec.trace import Kind, Trace, schema

# The core handles failures in trees: the testbed with one switch wherever it has two side by side.
TREE = replace(TESTBED, spines_per_pod=1, cores=1)
PROCESSES = (4, 8, 16, 32, 64, 128)
TIMEOUT_NS = 10 * TESTBED.beacon_interval_ns  # of silence on a link, until it is given up
LONGEST_NS = 1_000_000  # a process that delivers nothing for this long is taken to have stopped for ever
_NAMES = schema(PROTOCOL).columns
_TIME, _KIND = _NAMES.index("time_ns"), _NAMES.index("kind")


class Failed(StrEnum):
    """What fails: the last server with its processes' cables, its cable, or the switch above it. The part of the
    network with the first host goes on."""

    HOST = "host"
    LINK = "link"
    SWITCH = "switch"


def by_recovery(seeds: int, processes: Sequence[int] = PROCESSES) -> Curve | None:
    """Recovery time by number of processes; None where the core does not recover."""
    lines: dict[str, list[Point]] = {}
    for failed in Failed:
        points = []
        for count in processes:
            times = [recovery_ns(failed, network(count, TREE), seed) for seed in range(seeds)]
            known = [time for time in times if time is not None]
            if known and len(known) == len(times):
                points.append(Point(count, sum(known) / len(known) / 1000))
        if points:
            lines[f"failed {failed}"] = points
    if not lines:
        return None
    return Curve(
        name="recovery_by_scale",
        title="Recovery by number of processes",
        x_label="processes",
        y_label="mean time until all others deliver again (us)",
        lines=lines,
        note=f"In a tree; a link is given up after {TIMEOUT_NS / 1000:g} us of silence. A point is missing where the "
        "failure leaves nobody to deliver, or where what is left delivers no more.",
    )


def recovery_ns(failed: Failed, there: TestbedNetwork, seed: int) -> int | None:
    """None when a process that is not cut off delivers no more, or when no process is left to deliver."""
    schedule, at = schedule_with(failed, there, seed)
    if not schedule.submissions:
        return None
    setting = LatencySetting(network=there, environment=Environment.D9)
    return recovered(simulate(schedule, maker(setting)), at)


def schedule_with(failed: Failed, there: TestbedNetwork, seed: int) -> tuple[Schedule, int]:
    """A run with the failure, and the failure's time in ns. At that time a message is submitted to every process that
    another one still reaches."""
    plain = schedule_of(LatencySetting(network=there, environment=Environment.D9), 1, seed)
    topology, draw = there.topology, Random(seed)
    routes = route(topology)
    last = len(there.server_of) - 1
    server: NodeId = _above(there, last) if len(set(there.server_of)) < len(there.server_of) else last
    switch = _above(there, server)
    cable = [n for n, link in enumerate(topology.links) if {link.source, link.target} == {server, switch}]
    at = plain.submissions[0].time_ns
    if failed is Failed.LINK:
        failures = tuple(Failure(at, FailureKind.CUT, link=link) for link in cable)
        gone_links, gone = set(cable), set[NodeId]()
    else:
        gone = {server if failed is Failed.HOST else switch}
        failures = tuple(Failure(at, FailureKind.CRASH, node=node) for node in gone)
        gone_links = {n for n, link in enumerate(topology.links) if {link.source, link.target} & gone}
    hosts = topology.hosts()
    # In a tree, hosts still connected to the first host are connected to each other.
    left = [
        host
        for host in hosts
        if host not in gone and not gone_links.intersection(routes.path(topology, hosts[0], host))
    ]
    pairs = [(sender, receiver) for sender in left for receiver in left if sender != receiver]
    senders: dict[NodeId, list[NodeId]] = {}
    for sender, receiver in pairs:
        senders.setdefault(receiver, []).append(sender)
    submissions = [Submission(at, draw.choice(those), (Message(receiver),)) for receiver, those in senders.items()]
    schedule = msgspec.structs.replace(
        plain,
        submissions=tuple(submissions),
        failures=failures,
        parameters={**plain.parameters, "failure_timeout_ns": TIMEOUT_NS},
        end_ns=at + LONGEST_NS,
    )
    return validate(schedule), at


def _above(there: TestbedNetwork, node: NodeId) -> NodeId:
    """The node above: nodes are numbered from processes to servers to switches."""
    return max(link.target for link in there.topology.links if link.source == node)


def recovered(trace: Trace, at: int) -> int | None:
    """ns from `at` to the last delivery; None when a message was not delivered. CannotRun for a run that was cut."""
    if trace.notes:
        raise CannotRun(f"figures: a run was cut: {trace.notes[0]}")
    kinds = [row[_KIND] for row in trace.rows]
    if kinds.count(Kind.DELIVERED) < kinds.count(Kind.SUBMITTED):
        return None
    return max(row[_TIME] for row in trace.rows if row[_KIND] == Kind.DELIVERED) - at
