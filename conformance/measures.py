"""Measures of runs: small histograms that steps of the machinery of checks fill, and which actions of the specification
the rows are. They judge nothing.

A measure's step counts into its state `bins`: BINS integers for each of its groups, the bin of a value being
`bin_of(value)`. The step of actions hands what it takes a row for to `count_action`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from scatterproof.conformance.checks.compiled import Kernel
from scatterproof.conformance.checks.step import SILENT, Bins, Cell, Check, Outcome, State, check
from scatterproof.conformance.checks.surroundings import Surroundings
from scatterproof.spec.core import Parameter
from scatterproof.spec.topology import NO_LINK, Topology, route
from scatterproof.spec.trace import Header, Kind, Order

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
    """The bin of a value; negative values are in the first one."""
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


class Counted(NamedTuple):
    """How often each action was taken, and each after each; what the row in front was; how many actions there are."""

    taken: State
    pairs: State
    latest: State
    many: State


@register_jitable
def count_action(action: int, counted: Counted) -> Outcome:
    """Count the row as this action. NO_ACTION is not counted, and no pair of actions goes across it."""
    if action != NO_ACTION:
        counted.taken[action] += 1
        if counted.latest[0] != NO_ACTION:
            counted.pairs[counted.latest[0] * counted.many[0] + action] += 1
    counted.latest[0] = action
    return SILENT


def by_kind(names: Sequence[str]) -> tuple[int, ...]:
    """For each kind of row, the action that every row of this kind is; NO_ACTION where other columns decide. A protocol
    decides itself what a packet's rows, the end, and rows of its own kinds are."""
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

    @property
    def step(self) -> Callable[..., Outcome]:
        """As a check has it: by the step's name compiled loops find it."""
        return self.check.step


def measure(
    title: str, unit: str, *groups: str, kinds: tuple[int, ...], **more: Any
) -> Callable[[Callable[..., Outcome]], Measure]:
    """Declare the decorated step to be a measure of its name; `more` as of `check`."""
    bins = Bins(len(groups) * BINS)
    declare = check("MEASURE", kinds=kinds, order=Order.NODE, ways=(), bins=bins, **more)

    def made(step: Callable[..., Outcome]) -> Measure:
        return Measure(name=step.__name__, title=title, unit=unit, groups=groups, check=declare(step))

    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """check: its step counts in `taken` the actions that rows are, and in `pairs` those that follow one another, each a
        number: its place in `names`.
    names: those of a run that keeps to the rules, then the others.
    """

    names: tuple[str, ...]
    regular: int
    check: Check

    @property
    def step(self) -> Callable[..., Outcome]:
        """As a measure's."""
        return self.check.step


def actions_of(names: Sequence[str], regular: int, **more: Any) -> Callable[[Callable[..., Outcome]], Actions]:
    """Declare the decorated step to tell which of these actions a row is, the first `regular` of them by the rules;
    `more` as of `check`."""
    counted: Any = {
        "taken": Bins(len(names)),
        "pairs": Bins(len(names) ** 2),
        "latest": Cell(NO_ACTION),
        "many": Cell(len(names)),
    }
    declare = check("ACTIONS", kinds=tuple(Kind), order=Order.LINK, ways=(), **counted, **more)
    return lambda step: Actions(names=tuple(names), regular=regular, check=declare(step))


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


@lru_cache(maxsize=256)
def hops(topology: Topology) -> np.ndarray[Any, np.dtype[np.int64]]:
    """How many links data take from each node to each other, a row a node, in one array; 0 where there is no way."""
    table = np.array(route(topology).next_link, dtype=np.int64)
    target = np.array([link.target for link in topology.links], dtype=np.int64)
    receiver = np.arange(len(table))
    link, count = table, np.zeros_like(table)
    while (going := link != NO_LINK).any():
        count += going
        node = target[link]
        link = np.where(going & (node != receiver), table[node, receiver], NO_LINK)
    return count.ravel()


def with_hops(around: Surroundings, header: Header) -> Surroundings:
    """What the measures' steps read: that of the checks, and more."""
    return {**around, "applies": 1, "hops": hops(header.topology)}
