"""Measures of runs: small histograms that steps of the machinery of checks fill, and which actions of the specification
the rows are. They judge nothing.

A measure's step counts into its state
`bins`: BINS integers for each of its groups, the bin of a value being `bin_of(value)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba.extending import register_jitable

from scatterproof.conformance.checks.compiled import Kernel
from scatterproof.conformance.checks.step import Check, State
from scatterproof.conformance.checks.surroundings import Surroundings
from scatterproof.spec.core import Parameter
from scatterproof.spec.topology import Topology, route
from scatterproof.spec.trace import Header, Kind

BINS = 256
NO_ACTION = -1
_EXACT = 8  # values below have bins of their own; above, four bins share each doubling
_GREATEST = 1 << 62
_ALONE: dict[int, str] = {
    Kind.SUBMITTED: "Submit",
    Kind.DELIVERED: "Deliver",
    Kind.REFUSED: "Refuse",
    Kind.LOST: "Lose",
    Kind.CRASHED: "Crash",
    Kind.RESTARTED: "Restart",
    Kind.PAUSED: "Pause",
    Kind.RESUMED: "Resume",
}


@register_jitable
def bin_of(value: int) -> int:
    """The bin of a value; the first one for what is negative."""
    if value < _EXACT:
        return max(value, 0)
    octave = 3
    while value >> (octave + 1):
        octave += 1
    return _EXACT + 4 * (octave - 3) + ((value >> (octave - 2)) & 3)


def least_of(number: int) -> int:
    """The least value of a bin."""
    if number < _EXACT:
        return number
    octave, quarter = divmod(number - _EXACT, 4)
    return (4 + quarter) << (octave + 1)


@register_jitable
def tally(bins: State, group: int, value: int) -> None:
    bins[group * BINS + bin_of(value)] += 1


@register_jitable
def count_span(bins: State, group: int, since: int, until: int) -> None:
    """The span between two times; times that are absent or absurd are passed over."""
    if 0 <= since <= _GREATEST and 0 <= until <= _GREATEST:
        tally(bins, group, until - since)


@register_jitable
def count_action(action: int, taken: State, pairs: State, latest: State) -> None:
    """The row is this action, or NO_ACTION, over which no pair goes. latest: what the row in front of it was."""
    if action != NO_ACTION:
        taken[action] += 1
        if latest[0] != NO_ACTION:
            pairs[latest[0] * len(taken) + action] += 1
    latest[0] = action


def by_kind(names: Sequence[str]) -> tuple[int, ...]:
    """By kind of row, the action, among these, that such a row is whatever else it says; NO_ACTION where more counts.
    A packet's way over a link, the end and what a protocol alone has are its own."""
    kinds = range(max(Kind) + 1)
    return tuple(names.index(_ALONE[kind]) if _ALONE.get(kind) in names else NO_ACTION for kind in kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """check: its step fills `bins`.
    unit: "ns" or what is counted.
    groups: what the parts of `bins` are, in words.
    """

    name: str
    title: str
    unit: str
    groups: tuple[str, ...]
    check: Check


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """check: its step counts in `taken` the actions that rows are, and in `pairs` those that follow one another, each a
        number: its place in `names`.
    names: those of a run that keeps to the rules, then the others.
    """

    names: tuple[str, ...]
    regular: int
    check: Check


@dataclass(frozen=True, kw_only=True)
class Gauge:
    """All that is measured in runs of a protocol.

    carrier: the group of runs, by parameters.
    columns: of its rows.
    """

    measures: tuple[Measure, ...]
    actions: Actions | None = None
    carrier: Callable[[Mapping[str, Parameter]], str]
    columns: tuple[str, ...]

    @cached_property
    def kernel(self) -> Kernel:
        """All of it as one compiled pass."""
        checks = [measure.check for measure in self.measures]
        return Kernel([*checks, *([self.actions.check] if self.actions else [])], self.columns)


def hops(topology: Topology) -> np.ndarray[Any, np.dtype[np.int64]]:
    routes, nodes = route(topology), range(len(topology.nodes))
    return np.array([len(routes.path(topology, a, b)) for a in nodes for b in nodes], dtype=np.int64)


def with_hops(around: Surroundings, header: Header) -> Surroundings:
    """What the measures' steps read: that of the checks, and more."""
    return {**around, "applies": 1, "hops": hops(header.topology)}
