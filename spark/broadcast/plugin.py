"""The broadcast stack, as `spark` sees it, and the kinds of runs that its corpora have: each level, over links that
jitter, lose and repeat packets; with empty payloads, of which one packet may carry several; with a minority that
crashes, processes that pause, one process that gets everybody's packets late, or no majority left. Fuzzing draws the
same kinds, with fewer processes and shorter runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from scatterproof.conformance.case_building import crash
from scatterproof.conformance.network.topologies import mesh
from scatterproof.spark.kinds import RunKind, Setting
from scatterproof.spark.protocol import SparkPlugin
from scatterproof.spec.broadcast.messages import Level, in_words
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Failure, FailureKind, FaultKind
from scatterproof.spec.topology import NodeId, Topology

Parameters = dict[str, Parameter]

# About what a run costs: each message is put on every link and acknowledged there.
MOST_PACKETS = 6_000
MOST_SUBMISSIONS = 150
FAULTS_A_LINK = 12
_FAULTS = (FaultKind.LOSE, FaultKind.LOSE, FaultKind.DELAY, FaultKind.DUPLICATE)


def _processes(draw: Random) -> Topology:
    """2 to 16, few more often than many."""
    return mesh(int(2 * 8.5 ** draw.random()))


def _submissions(draw: Random, topology: Topology) -> int:
    """The fewer the more there are processes."""
    most = min(MOST_SUBMISSIONS, MOST_PACKETS // len(topology.links))
    return int(most ** draw.random())


def _few(draw: Random, topology: Topology) -> int:
    """Few submissions: no later packet may make up for a late one."""
    return draw.randint(2, 12)


def _stack(level: Level, *, long_runs: bool = False) -> Callable[[Random, Setting], Parameters]:
    """Time-outs of a few hops to forty: some expire in vain. Windows and thresholds from small ones to ones without
    effect. long_runs: thresholds that let a packet carry several messages, mostly with a bound on their number."""

    def drawn(draw: Random, setting: Setting) -> Parameters:
        chosen: Parameters = {
            "level": level.value,
            "resend_ns": setting.hop_ns * draw.randint(2, 40),
            "window": draw.choice((1, 2, 4, 16, 64)),
            "most_undelivered": draw.choice((16, 64) if long_runs else (1, 2, 8, 64)),
        }
        if long_runs and draw.random() < 0.75:
            chosen["most_in_run"] = draw.choice((2, 3, 5, 16))
        if level is Level.LCB:
            chosen["dependencies"] = _dependencies(draw, len(setting.topology.nodes))
        return chosen

    return drawn


def _dependencies(draw: Random, processes: int) -> str:
    """From no dependencies to all on all, where order is broken soonest; some processes name themselves, too."""
    likely = draw.choice((0.0, 0.2, 0.5, 1.0, 1.0, 1.0))
    names_itself = draw.random() < 0.25
    others = range(processes)
    return in_words([o for o in others if draw.random() < likely and (o != p or names_itself)] for p in others)


def _has_a_minority(topology: Topology) -> bool:
    """Whether one may crash and leave a majority."""
    return len(topology.nodes) > 2


def _in_order(failures: list[Failure]) -> tuple[Failure, ...]:
    return tuple(sorted(failures, key=lambda failure: failure.time_ns))


def _crashes(draw: Random, setting: Setting, nodes: list[NodeId]) -> list[Failure]:
    return [Failure(draw.randrange(setting.span_ns), FailureKind.CRASH, node=node) for node in nodes]


def _minority_crashes(draw: Random, setting: Setting) -> tuple[Failure, ...]:
    nodes = range(len(setting.topology.nodes))
    gone = draw.sample(nodes, draw.randint(1, (len(nodes) - 1) // 2))
    return _in_order(_crashes(draw, setting, gone))


def _majority_crashes(draw: Random, setting: Setting) -> tuple[Failure, ...]:
    """Half of the processes or more crash, and one lives: at time 0, ahead of all submissions, or at any time."""
    nodes = range(len(setting.topology.nodes))
    gone = draw.sample(nodes, draw.randint((len(nodes) + 1) // 2, len(nodes) - 1))
    if draw.random() < 0.5:
        return crash(0, *gone)
    return _in_order(_crashes(draw, setting, gone))


def _pauses(draw: Random, setting: Setting) -> tuple[Failure, ...]:
    """Some processes pause for a while; now and then one of them never goes on."""
    nodes = range(len(setting.topology.nodes))
    found: list[Failure] = []
    for number, node in enumerate(draw.sample(nodes, draw.randint(1, len(nodes)))):
        at = draw.randrange(setting.span_ns)
        found.append(Failure(at, FailureKind.PAUSE, node=node))
        ends = number == 0 and len(nodes) > 2 and draw.random() < 0.25
        then = FailureKind.CRASH if ends else FailureKind.RESUME
        found.append(Failure(at + draw.randint(1, setting.span_ns), then, node=node))
    return _in_order(found)


def _kinds(level: Level) -> tuple[RunKind, ...]:
    usual = RunKind(
        name=level.value,
        parameters=_stack(level),
        faults=_FAULTS,
        often_faulty=True,
        faults_a_link=2,
        networks={"mesh": _processes},
        submissions=_submissions,
        to_everybody=level is not Level.PL,
    )
    variants: dict[str, dict[str, Any]] = {
        "loss": {"faults_a_link": FAULTS_A_LINK},
        "empty payloads": {"parameters": _stack(level, long_runs=True), "payload": lambda draw: b""},
        "a minority crashes": {"suits": _has_a_minority, "fails": _minority_crashes},
        "pauses": {"fails": _pauses},
        "one is late": {"faults_a_link": 0, "late_to_one": True, "submissions": _few},
        "no majority": {"fails": _majority_crashes},
    }
    if level is Level.PL:
        del variants["no majority"]
    return (
        replace(usual, often_faulty=False, faults_a_link=0),
        *(replace(usual, name=f"{level}, {name}", **changed) for name, changed in variants.items()),
    )


# The benchmark compares the same run over links without and with loss.
PLUGIN = SparkPlugin(kinds=tuple(kind for level in Level for kind in _kinds(level)), compared=("fifo", "fifo, loss"))
