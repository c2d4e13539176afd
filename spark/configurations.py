"""Run configurations drawn from a seed: each run of a corpus is a function of (protocol, seed, run) and nothing else.

Kinds of runs take turns (`scatterproof.spark.kinds`). The rest is swarm style: a run switches each feature (jitter,
skew, drift, idle senders, bursts) on or off by a coin of its own, and draws which kinds of faults it has, so that some
runs show one feature undisturbed by the others.
"""

from __future__ import annotations

from random import Random

import msgspec

from scatterproof.spark.kinds import RunKind, Setting
from scatterproof.spark.networks import reached_by
from scatterproof.spark.protocol import kinds_of
from scatterproof.spec.schedule import (
    EVERYBODY,
    Clock,
    Delay,
    Fault,
    FaultKind,
    Message,
    Schedule,
    Submission,
    validate,
)
from scatterproof.spec.topology import NodeId, Topology, route

MAX_DRIFT_PPB = 100_000  # an ordinary quartz clock
MAX_FAULTS = 8
FAULTY_PACKETS = 64
MOST_LATE = 8
MOST_IN_A_ROW = 6  # messages of one submission, where each is for all


class Configuration(msgspec.Struct, frozen=True):
    """family: of topologies.
    kind: of run, by name. The rest of what was drawn is in the schedule.
    """

    family: str
    kind: str
    schedule: Schedule


def configuration(protocol: str, seed: int, run: int) -> Schedule:
    """The schedule of run number `run` of the corpus that `seed` stands for; BadInput for an unknown protocol."""
    return draw_run(protocol, seed, run).schedule


def draw_run(protocol: str, seed: int, run: int, kind: RunKind | None = None) -> Configuration:
    """The configuration of one run; BadInput for an unknown protocol. kind: None for the one whose turn it is."""
    kinds = kinds_of(protocol)
    kind = kind or kinds[run % len(kinds)]
    draw = Random(f"{protocol} {seed} {run}")
    family, topology = _network(draw, kind)
    hop_ns = 10 ** draw.randint(2, 5)
    setting = Setting(topology=topology, hop_ns=hop_ns, span_ns=hop_ns * draw.randint(10, 100))
    delays = _delays(draw, topology, hop_ns)
    clocks = _clocks(draw, topology, setting.span_ns)
    submissions = _submissions(draw, kind, setting) if kind.calls is None else ()
    failures = kind.fails(draw, setting)
    schedule = Schedule(
        protocol=protocol,
        topology=topology,
        delays=delays,
        clocks=clocks,
        submissions=submissions,
        calls=() if kind.calls is None else kind.calls(draw, setting),
        seed=draw.getrandbits(32),
        parameters=kind.parameters(draw, setting),
        faults=_faults(draw, topology, kind, hop_ns),
        failures=failures,
    )
    return Configuration(family, kind.name, validate(schedule, f"run {run} of seed {seed}"))


def _network(draw: Random, kind: RunKind) -> tuple[str, Topology]:
    while True:
        family = draw.choice(sorted(kind.networks))
        topology = kind.networks[family](draw)
        if kind.suits(topology):
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
    """Up to MAX_FAULTS faults, and `faults_a_link` more for each link in use, among the first FAULTY_PACKETS packets of
    a link; early packets are more likely. A run has some or all of the kind's faults."""
    likely = 1 if kind.late_to_one else 0.75 if kind.often_faulty else 0.25
    if not kind.faults or draw.random() >= likely:
        return ()
    used = sorted(route(topology).used)
    found: dict[tuple[int, int], Fault] = {}
    if kind.late_to_one:
        first = int(FAULTY_PACKETS ** draw.random()) - 1
        some, late_ns = range(first, first + draw.randint(1, MOST_LATE)), hop_ns * draw.randint(4, 64)
        to = topology.links[draw.choice(used)].target
        places = ((link, index) for link in used if topology.links[link].target == to for index in some)
        found |= {place: Fault(*place, FaultKind.DELAY, late_ns) for place in places}
    some_faults = draw.sample(kind.faults, draw.randint(1, len(kind.faults)))
    for _ in range(draw.randint(1, MAX_FAULTS + kind.faults_a_link * len(used))):
        place = (draw.choice(used), int(FAULTY_PACKETS ** draw.random()) - 1)
        chosen = draw.choice(some_faults)
        found[place] = Fault(*place, chosen, 0 if chosen is FaultKind.LOSE else draw.randint(1, 8 * hop_ns))
    return tuple(found.values())


def _submissions(draw: Random, kind: RunKind, setting: Setting) -> tuple[Submission, ...]:
    """In order of time, from hosts that are not idle; in bursts at a few instants, or spread."""
    reached = reached_by(setting.topology)
    senders = [host for host, others in reached.items() if others]
    if _coin(draw):
        senders = draw.sample(senders, draw.randint(1, len(senders)))
    instants = [draw.randrange(setting.span_ns) for _ in range(draw.randint(1, 8))] if _coin(draw) else []
    widest = 1
    if _coin(draw):
        widest = MOST_IN_A_ROW if kind.to_everybody else max(len(reached[sender]) for sender in senders)
    made: list[Submission] = []
    for _ in range(kind.submissions(draw, setting.topology)):
        sender = draw.choice(senders)
        messages = _messages(draw, kind, reached[sender], widest)
        made.append(
            Submission(draw.choice(instants) if instants else draw.randrange(setting.span_ns), sender, messages)
        )
    return tuple(sorted(made, key=lambda submission: submission.time_ns))


def _messages(draw: Random, kind: RunKind, others: tuple[NodeId, ...], widest: int) -> tuple[Message, ...]:
    """Each for another receiver, or all for everybody."""
    if kind.to_everybody:
        receivers = [EVERYBODY] * draw.randint(1, widest)
    else:
        receivers = draw.sample(others, draw.randint(1, min(widest, len(others))))
    return tuple(Message(receiver, kind.payload(draw)) for receiver in receivers)
