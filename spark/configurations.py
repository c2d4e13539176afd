"""Run configurations drawn from a seed: each run of a corpus is a function of (protocol, seed, run) and nothing else.

Kinds of runs take turns (`spark.kinds`). The rest is swarm style: a run switches each feature (jitter, skew, drift,
idle senders, bursts) on or off by a coin of its own, so that among many runs there are those in which a feature is not
drowned by the others.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import msgspec

from spark.kinds import Pace, RunKind, kinds_of
from spark.networks import FAMILIES, reached_by
from spec.schedule import (
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
from spec.topology import NodeId, Topology, route

MAX_DRIFT_PPB = 100_000  # an ordinary quartz clock
MAX_FAULTS = 8
FAULTY_PACKETS = 64


class Configuration(msgspec.Struct, frozen=True):
    """family: of topologies. kind: of run, by name. The rest of what was drawn is in the schedule."""

    family: str
    kind: str
    schedule: Schedule


def configuration(protocol: str, seed: int, run: int) -> Schedule:
    """The schedule of run number `run` of the corpus that `seed` stands for; BadInput for an unknown protocol."""
    return draw_run(protocol, seed, run).schedule


def draw_run(protocol: str, seed: int, run: int, kind: RunKind | None = None) -> Configuration:
    """kind: None for the one whose turn it is."""
    kinds = kinds_of(protocol)
    kind = kind or kinds[run % len(kinds)]
    draw = Random(f"{protocol} {seed} {run}")
    family, topology = _network(draw, kind.suits)
    hop_ns = 10 ** draw.randint(2, 5)
    pace = Pace(hop_ns=hop_ns, span_ns=hop_ns * draw.randint(10, 100))
    delays = _delays(draw, topology, hop_ns)
    clocks = _clocks(draw, topology, pace.span_ns)
    submissions = _submissions(draw, topology, pace.span_ns)
    failures = _failures(draw, topology, kind, pace)
    schedule = Schedule(
        protocol=protocol,
        topology=topology,
        delays=delays,
        clocks=clocks,
        submissions=submissions,
        seed=draw.getrandbits(32),
        parameters=kind.parameters(draw, pace),
        faults=_faults(draw, topology, kind, hop_ns),
        failures=failures,
    )
    return Configuration(family, kind.name, validate(schedule, f"run {run} of seed {seed}"))


def _network(draw: Random, suits: Callable[[Topology], bool]) -> tuple[str, Topology]:
    while True:
        family = draw.choice(sorted(FAMILIES))
        topology = FAMILIES[family](draw)
        if suits(topology):
            return family, topology


def _coin(draw: Random) -> bool:
    return draw.random() < 0.5


def _delays(draw: Random, topology: Topology, hop_ns: int) -> tuple[Delay, ...]:
    """About one hop a link; equal on all links, or each its own; jitter up to twice the base, or none."""
    jitter = draw.randint(1, 2 * hop_ns) if _coin(draw) else 0
    if _coin(draw):
        return (Delay(hop_ns, jitter),) * len(topology.links)
    return tuple(Delay(draw.randint(1, 2 * hop_ns), jitter) for _ in topology.links)


def _clocks(draw: Random, topology: Topology, span_ns: int) -> tuple[Clock, ...]:
    """Perfect clocks, or offsets of up to a quarter of the span, or drift, or both."""
    skew = span_ns // 4 if _coin(draw) else 0
    drift = MAX_DRIFT_PPB if _coin(draw) else 0
    if not skew and not drift:
        return ()
    return tuple(Clock(draw.randint(0, skew), draw.randint(-drift, drift)) for _ in topology.nodes)


def _faults(draw: Random, topology: Topology, kind: RunKind, hop_ns: int) -> tuple[Fault, ...]:
    """Up to MAX_FAULTS, of the first FAULTY_PACKETS packets of links that carry any; early ones are more likely."""
    if not kind.faults or draw.random() >= (0.75 if kind.often_faulty else 0.25):
        return ()
    used = sorted(route(topology).used)
    found: dict[tuple[int, int], Fault] = {}
    for _ in range(draw.randint(1, MAX_FAULTS)):
        place = (draw.choice(used), int(FAULTY_PACKETS ** draw.random()) - 1)
        chosen = draw.choice(kind.faults)
        found[place] = Fault(*place, chosen, draw.randint(1, 8 * hop_ns) if chosen is FaultKind.DELAY else 0)
    return tuple(found.values())


def _failures(draw: Random, topology: Topology, kind: RunKind, pace: Pace) -> tuple[Failure, ...]:
    """At most one node fails, while submissions go on."""
    if kind.fails is None:
        return ()
    failing = kind.fails(draw, pace)
    node = draw.choice(topology.hosts() if failing.host else topology.switches())
    at = draw.randrange(pace.span_ns)
    crash = Failure(at, FailureKind.CRASH, node=node)
    if failing.down_ns is None:
        return (crash,)
    return (crash, Failure(at + failing.down_ns, FailureKind.RESTART, node=node))


def _submissions(draw: Random, topology: Topology, span_ns: int) -> tuple[Submission, ...]:
    """10 to 400 submissions, in order of time, of hosts that are not idle; in bursts at a few instants, or spread."""
    reached = reached_by(topology)
    senders = [host for host, others in reached.items() if others]
    if _coin(draw):
        senders = draw.sample(senders, draw.randint(1, len(senders)))
    instants = [draw.randrange(span_ns) for _ in range(draw.randint(1, 8))] if _coin(draw) else []
    widest = max(len(reached[sender]) for sender in senders) if _coin(draw) else 1
    count = int(10 * 40 ** draw.random())
    return tuple(
        sorted(
            (_submission(draw, reached, senders, instants, widest, span_ns) for _ in range(count)),
            key=lambda submission: submission.time_ns,
        )
    )


def _submission(
    draw: Random,
    reached: dict[NodeId, tuple[NodeId, ...]],
    senders: list[NodeId],
    instants: list[int],
    widest: int,
    span_ns: int,
) -> Submission:
    sender = draw.choice(senders)
    others = reached[sender]
    receivers = draw.sample(others, draw.randint(1, min(widest, len(others))))
    # Few different payloads, so that a check cannot tell messages apart by them alone.
    messages = tuple(Message(receiver, b"%d" % draw.randrange(10)) for receiver in receivers)
    return Submission(draw.choice(instants) if instants else draw.randrange(span_ns), sender, messages)
