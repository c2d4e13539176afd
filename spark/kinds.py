"""Kinds of runs: what a protocol's corpora draw beside the shared parts. A protocol lists its own as `KINDS` in
`spark/<protocol>/parameters.py`; the runs of a corpus take them in turn, so that even a small one has them all."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from spark.networks import anywhere
from spec.core import Parameter
from spec.errors import CannotRun
from spec.schedule import FaultKind
from spec.topology import Topology
from spec.trace import schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """hop_ns: about what a packet takes over one link. span_ns: how long submissions go on."""

    hop_ns: int
    span_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKind:
    """parameters: drawn to fit the run's pace. faults: what happens to packets; often_faulty: in three of four such
    runs, not in one. suits: which networks. fails: a node fails, and comes back or not."""

    name: str
    parameters: Callable[[Random, Pace], dict[str, Parameter]]
    faults: tuple[FaultKind, ...] = ()
    often_faulty: bool = False
    suits: Callable[[Topology], bool] = anywhere
    fails: Callable[[Random, Pace], Failing] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """Which node fails is drawn by the shared part. host: a host, or else a switch. down_ns: None for ever."""

    host: bool
    down_ns: int | None


def kinds_of(protocol: str) -> tuple[RunKind, ...]:
    """The protocol's own list; BadInput for an unknown protocol, CannotRun for one without corpora."""
    found: tuple[RunKind, ...] = _parameters_of(protocol).KINDS
    return found


def compared(protocol: str) -> tuple[RunKind, ...]:
    """The kinds that the benchmark compares, as the protocol names them in `COMPARED`."""
    named = _parameters_of(protocol).COMPARED
    return tuple(kind for kind in kinds_of(protocol) if kind.name in named)


def _parameters_of(protocol: str) -> Any:
    schema(protocol)  # its error names the protocols there are
    name = f"spark.{protocol}"
    if importlib.util.find_spec(name) is None:
        raise CannotRun(f"protocol {protocol!r} has no corpora yet; give it {name.replace('.', '/')}/parameters.py")
    return importlib.import_module(f"{name}.parameters")
