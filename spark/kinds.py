"""Kinds of runs: what a protocol's corpora draw beside the shared parts. The runs of a corpus take the kinds in turn,
so that even a small one has them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from scatterproof.spark.networks import FAMILIES, anywhere
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Call, Failure, FaultKind
from scatterproof.spec.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What parameters and failures have to fit.

    hop_ns: about what a packet takes over one link.
    span_ns: how long submissions go on.
    """

    topology: Topology
    hop_ns: int
    span_ns: int


def ten_to_400(draw: Random, topology: Topology) -> int:
    """Small numbers as likely as great ones."""
    return int(10 * 40 ** draw.random())


def one_of_ten(draw: Random) -> bytes:
    """Few different payloads, so that a check cannot tell messages apart by them alone."""
    return b"%d" % draw.randrange(10)


def nothing_fails(draw: Random, setting: Setting) -> tuple[Failure, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKind:
    """parameters: drawn to fit the setting.
    faults: those that packets may meet.
    often_faulty: three of four such runs have faults, not one of four.
    faults_a_link: how many more faults there are at most for each link.
    late_to_one: some packets in a row to one of the nodes come late, from everybody.
    networks: families of networks, by name.
    suits: whether a network will do.
    submissions: how many.
    calls: what clients call, in order of time, in place of submissions.
    to_everybody: each message is for all.
    fails: failures of nodes or links, in order of time.
    """

    name: str
    parameters: Callable[[Random, Setting], dict[str, Parameter]]
    faults: tuple[FaultKind, ...] = ()
    often_faulty: bool = False
    faults_a_link: int = 0
    late_to_one: bool = False
    networks: Mapping[str, Callable[[Random], Topology]] = field(default_factory=lambda: FAMILIES)
    suits: Callable[[Topology], bool] = anywhere
    submissions: Callable[[Random, Topology], int] = ten_to_400
    calls: Callable[[Random, Setting], tuple[Call, ...]] | None = None
    to_everybody: bool = False
    payload: Callable[[Random], bytes] = one_of_ten
    fails: Callable[[Random, Setting], tuple[Failure, ...]] = nothing_fails
