"""Latency of delivery in a simulated network: idle processes that scatter to one another now and then.

A message's latency is the true time from its submission to its delivery. Where nothing is lost every message must be
delivered; a run in which one is not is an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random

import msgspec

from ci.figures.testbed import TESTBED, Testbed, TestbedNetwork
from scatterproof.conformance.network.run import simulate
from scatterproof.impl.totalorder import make_core
from scatterproof.spec.core import Core, NodeConfig
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Fault, FaultKind, Message, Schedule, Submission, validate
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import Delivery, Environment, Packet, PacketKind
from scatterproof.spec.trace import Kind, Trace, schema

PROTOCOL = "totalorder"
INTERVALS_BETWEEN = 10  # beacon intervals from one scattering of a process to its next, on average
# Time until every link has spoken, and for the last messages where nothing is lost; some beacon intervals are added.
WARM_UP_NS = SETTLE_NS = 30_000
WARM_UP_INTERVALS, SETTLE_INTERVALS = 4, 8
LONGEST_SETTLE_NS = 20_000_000  # for the last messages, where some must be resent again and again
_NAMES = schema(PROTOCOL).columns
_TIME, _NODE, _KIND, _SENDER, _RECEIVER, _NUMBER, _PACKET = (
    _NAMES.index(name) for name in ("time_ns", "node", "kind", "sender", "receiver", "number", "packet")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySetting:
    """What is measured.

    detour: a second processor beside each switch, a round trip away, aggregates barriers (not in environment C).
    loss_rate: of every packet on every link, independently.
    pairs: who sends to whom; None for anybody to anybody.
    """

    network: TestbedNetwork
    environment: Environment
    testbed: Testbed = TESTBED
    detour: bool = False
    loss_rate: float = 0.0
    pairs: tuple[tuple[int, int], ...] | None = None


@dataclass(slots=True)
class MessageLatencies:
    """Latencies of all messages measured, in ns.

    delivery: from submission to delivery.
    arrival: from submission to arrival.
    lost: how many were never delivered.
    """

    delivery: list[int] = field(default_factory=list)
    arrival: list[int] = field(default_factory=list)
    lost: int = 0

    @property
    def mean_us(self) -> float:
        return sum(self.delivery) / len(self.delivery) / 1000

    @property
    def unordered_us(self) -> float:
        return sum(self.arrival) / len(self.arrival) / 1000

    def add(self, other: MessageLatencies) -> None:
        self.delivery += other.delivery
        self.arrival += other.arrival
        self.lost += other.lost


@dataclass(frozen=True, slots=True)
class Sample:
    """How much is measured at least.

    messages: in all runs together.
    clocks: of servers; all messages of a run share its clocks, so that few servers need many runs.
    """

    messages: int
    clocks: int


def measure(setting: LatencySetting, sample: Sample, seed: int = 1) -> MessageLatencies:
    """The latencies of several runs. Reliable messages are waited for, until LONGEST_SETTLE_NS. CannotRun when a
    message is not delivered though no link lost any, or when none is delivered."""
    found = MessageLatencies()
    runs = -(-sample.clocks // (max(setting.network.server_of) + 1))
    for run in range(runs):
        settle = SETTLE_NS
        while True:
            schedule = schedule_of(setting, -(-sample.messages // runs), seed * 1_000_003 + run, settle)
            once = collect(simulate(schedule, maker(setting)))
            if not once.lost or not setting.environment.loses or settle > LONGEST_SETTLE_NS:
                break
            settle *= 4
        if once.lost and not setting.loss_rate:
            raise CannotRun(f"figures: {once.lost} messages were not delivered, of which none was lost on a link")
        found.add(once)
    if not found.delivery:
        raise CannotRun("figures: no message was delivered; measure more of them, or lose fewer")
    return found


def schedule_of(setting: LatencySetting, messages: int, seed: int, settle_ns: int = SETTLE_NS) -> Schedule:
    """One run's schedule. Times are uniform, so that a message falls anywhere between two beacons."""
    draw, testbed, network = Random(seed), setting.testbed, setting.network
    processes = len(network.server_of)
    everybody = range(processes)
    senders = processes if setting.pairs is None else len({sender for sender, _ in setting.pairs})
    interval = testbed.beacon_interval_ns
    begin = WARM_UP_NS + WARM_UP_INTERVALS * interval
    duration = begin + -(-messages // senders) * INTERVALS_BETWEEN * interval
    submissions = []
    for number in range(messages):
        sender, receiver = draw.sample(everybody, 2) if setting.pairs is None else draw.choice(setting.pairs)
        time = draw.randrange(begin, duration)
        submissions.append(Submission(time, sender, (Message(receiver, b"%d" % number),)))
    return validate(
        Schedule(
            protocol=PROTOCOL,
            topology=network.topology,
            delays=network.delays,
            submissions=tuple(submissions),
            clocks=network.clocks(testbed.greatest_offset_ns, draw),
            parameters={
                "environment": str(setting.environment),
                "beacon_interval_ns": interval,
                "retransmit_timeout_ns": testbed.retransmit_timeout_ns,
                "retransmit_doublings": 0,
            },
            faults=tuple(_losses(setting, duration, seed)),
            seed=seed,
            # The schedule knows nothing of the detour, so how long all takes to settle cannot be told from it.
            end_ns=duration + settle_ns + SETTLE_INTERVALS * interval,
        )
    )


def _losses(setting: LatencySetting, duration: int, seed: int) -> Iterator[Fault]:
    """Lost packets, link by link: the gaps between them are geometric. No link carries more packets than are drawn: a
    few an interval."""
    if not setting.loss_rate:
        return
    most = 4 * duration // setting.testbed.beacon_interval_ns + 1_000
    for link in range(len(setting.network.topology.links)):
        draw = Random(seed * 7919 + link)

        def gap(draw: Random = draw) -> int:
            return 1 + int(math.log(1 - draw.random()) / math.log(1 - setting.loss_rate))

        for index in accumulate(iter(gap, 0), initial=-1):
            if index >= most:
                break
            if index >= 0:
                yield Fault(link, index, FaultKind.LOSE)


def maker(setting: LatencySetting) -> Callable[[NodeConfig], Core[Packet, Delivery]]:
    """A factory of reference cores. Switches get their own spacing of beacons, and a second processor where the setting
    has a detour; servers that join processes get none."""
    nodes, testbed = setting.network.topology.nodes, setting.testbed

    def make(config: NodeConfig) -> Core[Packet, Delivery]:
        if config.role is Role.SWITCH:
            own = {**config.parameters, "beacon_interval_ns": testbed.switch_spacing_ns}
            if setting.detour and not nodes[config.node].name.startswith("server"):
                own |= {"switch": "two", "processor_delay_ns": testbed.detour_ns}
            config = msgspec.structs.replace(config, parameters=own)
        return make_core(config)

    return make


def collect(trace: Trace) -> MessageLatencies:
    """The latencies of a trace's messages; CannotRun for a run that was cut."""
    into = MessageLatencies()
    if trace.notes:
        raise CannotRun(f"figures: a run was cut: {trace.notes[0]}")
    submitted: dict[tuple[int, int, int], int] = {}
    arrived: dict[tuple[int, int, int], int] = {}
    for row in trace.rows:
        kind, message = row[_KIND], (row[_SENDER], row[_RECEIVER], row[_NUMBER])
        if kind == Kind.SUBMITTED:
            submitted[message] = row[_TIME]
        elif kind == Kind.ARRIVED and row[_PACKET] == PacketKind.DATA and row[_NODE] == row[_RECEIVER]:
            arrived.setdefault(message, row[_TIME])
        elif kind == Kind.DELIVERED:
            start = submitted.pop(message)
            into.delivery.append(row[_TIME] - start)
            into.arrival.append(arrived[message] - start)
    into.lost = len(submitted)
    return into
