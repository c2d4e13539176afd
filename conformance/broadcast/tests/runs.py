"""Runs of the reference implementation that the tests judge, and damage."""

from __future__ import annotations

import random
from functools import cache

from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.network.topologies import mesh
from scatterproof.impl.broadcast import make_core
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import (
    EVERYBODY,
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
from scatterproof.spec.trace import Trace

LEVELS = ("pl", "urb", "fifo", "lcb")
# What runs have beside their level and number of processes.
SHAPES = ("plain", "empty payloads", "a crash", "no majority", "a pause")
RUNS = [(level, shape, processes) for level in LEVELS for shape in SHAPES for processes in (3, 4)]


def schedule(level: str, shape: str, processes: int, seed: int = 0, count: int = 5) -> Schedule:
    """Every process hands over some messages, with short windows and thresholds; links lose, delay and repeat."""
    draw = random.Random(f"{level} {shape} {processes} {seed}")
    network = mesh(processes)
    submissions = tuple(
        Submission(40 * number, number % processes, _messages(draw, level, shape, number, processes))
        for number in range(count)
    )
    parameters: dict[str, Parameter] = {"level": level, "resend_ns": 160, "window": 3, "most_undelivered": 2}
    if shape == "empty payloads":
        parameters |= {"most_undelivered": 16}
    if level == "lcb":
        some = [[str(o) for o in range(processes) if o != p and draw.random() < 0.6] for p in range(processes)]
        parameters["dependencies"] = ";".join(map(",".join, some))
    return validate(
        Schedule(
            protocol="broadcast",
            topology=network,
            delays=tuple(Delay(10, 40) for _ in network.links),
            submissions=submissions,
            parameters=parameters,
            faults=_faults(draw, len(network.links)),
            failures=_failures(draw, shape, processes),
            seed=seed,
        )
    )


def _messages(draw: random.Random, level: str, shape: str, number: int, processes: int) -> tuple[Message, ...]:
    if level == "pl":
        receivers = [other for other in range(processes) if other != number % processes]
        return tuple(Message(receiver, bytes([number])) for receiver in receivers)
    many = 6 if shape == "empty payloads" else draw.randint(1, 3)
    return tuple(Message(EVERYBODY, b"" if shape == "empty payloads" else bytes([number, at])) for at in range(many))


def _faults(draw: random.Random, links: int) -> tuple[Fault, ...]:
    found: list[Fault] = []
    for link in range(links):
        for index in range(8):
            if draw.random() < 0.25:
                kind = draw.choice(list(FaultKind))
                late = 0 if kind is FaultKind.LOSE else draw.randrange(1, 300)
                found.append(Fault(link, index, kind, late))
    return tuple(found)


def _failures(draw: random.Random, shape: str, processes: int) -> tuple[Failure, ...]:
    match shape:
        case "a crash":
            return (Failure(draw.randrange(150), FailureKind.CRASH, node=draw.randrange(processes)),)
        case "no majority":
            gone = draw.sample(range(processes), (processes + 1) // 2)
            return tuple(Failure(5, FailureKind.CRASH, node=node) for node in gone)
        case "a pause":
            node = draw.randrange(processes)
            return (Failure(30, FailureKind.PAUSE, node=node), Failure(600, FailureKind.RESUME, node=node))
        case _:
            return ()


@cache
def conforming(level: str, shape: str, processes: int, seed: int = 0) -> Trace:
    """The trace of the reference implementation; do not change it."""
    return simulate(schedule(level, shape, processes, seed), make_core)
