"""Run configurations drawn from a seed: each run of a corpus is a function of (protocol, seed, run) and nothing else.

Swarm style: a run switches each feature (jitter, skew, drift, idle senders, bursts) on or off by a coin of its own, so
that among many runs there are those in which a feature is not drowned by the others.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from random import Random

import msgspec

from conformance.network import topologies
from spec.core import Parameter
from spec.errors import BadInput
from spec.schedule import Clock, Delay, Message, Schedule, Submission, validate
from spec.topology import NO_LINK, NodeId, Topology, route
from spec.trace import schema

MAX_DRIFT_PPB = 100_000  # an ordinary quartz clock

_FAMILIES: dict[str, Callable[[Random], Topology]] = {
    "star": lambda draw: topologies.star(draw.randint(2, 12)),
    "chain": lambda draw: topologies.chain(draw.randint(2, 4), draw.randint(1, 4)),
    "fat_tree": lambda draw: topologies.fat_tree(draw.randint(4, 16), 4),
    "diamond": lambda draw: topologies.diamond(draw.randint(2, 3), draw.randint(1, 4)),
    "one_way": lambda draw: topologies.one_way(draw.randint(1, 6), draw.randint(1, 4), draw.randint(1, 3)),
    "first_example": lambda draw: topologies.first_example(),
    "second_example": lambda draw: topologies.second_example(),
}


class Configuration(msgspec.Struct, frozen=True):
    """family: of topologies; the rest of what was drawn is in the schedule."""

    family: str
    schedule: Schedule


def configuration(protocol: str, seed: int, run: int) -> Schedule:
    """The schedule of run number `run` of the corpus that `seed` stands for; BadInput for an unknown protocol."""
    return draw_run(protocol, seed, run).schedule


def draw_run(protocol: str, seed: int, run: int) -> Configuration:
    draw_parameters = _parameters_of(protocol)
    draw = Random(f"{protocol} {seed} {run}")
    family = draw.choice(sorted(_FAMILIES))
    topology = _FAMILIES[family](draw)
    hop_ns = 10 ** draw.randint(2, 5)
    span_ns = hop_ns * draw.randint(10, 100)
    schedule = Schedule(
        protocol=protocol,
        topology=topology,
        parameters=draw_parameters(draw, span_ns),
        delays=_delays(draw, topology, hop_ns),
        clocks=_clocks(draw, topology, span_ns),
        submissions=_submissions(draw, topology, span_ns),
        seed=draw.getrandbits(32),
    )
    return Configuration(family, validate(schedule, f"run {run} of seed {seed}"))


def _parameters_of(protocol: str) -> Callable[[Random, int], dict[str, Parameter]]:
    """`draw_parameters` of the protocol's own module."""
    schema(protocol)  # its error names the protocols there are
    name = f"spark.{protocol}"
    if importlib.util.find_spec(name) is None:
        raise BadInput(f"protocol {protocol!r} has no corpora yet; give it {name.replace('.', '/')}/parameters.py")
    found: Callable[[Random, int], dict[str, Parameter]] = importlib.import_module(f"{name}.parameters").draw_parameters
    return found


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


def _submissions(draw: Random, topology: Topology, span_ns: int) -> tuple[Submission, ...]:
    """10 to 400 submissions, in order of time, of hosts that are not idle; in bursts at a few instants, or spread."""
    routes = route(topology)
    reached: dict[NodeId, tuple[NodeId, ...]] = {
        host: tuple(other for other in topology.hosts() if routes.next_link[host][other] != NO_LINK)
        for host in topology.hosts()
    }
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
