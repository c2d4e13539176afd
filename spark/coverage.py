"""What a corpus exercised, and what it never did: so that a user knows what a clean result is worth.

A configuration has dimensions (kind of run, family of networks, whether there are faults, failures, and each
parameter); classes are the values of one dimension, and pairs those of two. What a corpus could have and lacks is
listed where that is known: the kinds and families that the protocol draws, the actions of its specification, and of
parameters the values that occur.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from random import Random
from typing import TypeVar

import msgspec

from scatterproof.conformance.protocol import gauge
from scatterproof.conformance.verdict import Verdict
from scatterproof.spark.kinds import RunKind
from scatterproof.spark.layout import RunClass
from scatterproof.spark.measured import Measured
from scatterproof.spark.protocol import SparkPlugin
from scatterproof.spec import plugins
from scatterproof.spec.core import Parameter

MOST_VALUES = 8  # of a parameter; beyond, and of times, it is only said whether it is 0
DRAWS = 20  # networks of a family, to see whether one suits a kind
NONE, SOME = "none", "some"
Key = TypeVar("Key")


class CoveragePart(msgspec.Struct, frozen=True):
    """counts: how often what occurred.
    never: what did not, and could have, as far as is known.
    """

    counts: dict[str, int]
    never: tuple[str, ...]


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """clauses: at how many rows each was at stake and held; without those that apply to no run.
    classes: of each dimension, how many runs are in each.
    pairs: the same of two dimensions.
    actions: how many rows are each action.
    action_pairs: how often one action directly follows another; not every pair need be possible.
    """

    clauses: CoveragePart
    classes: dict[str, CoveragePart]
    pairs: dict[str, CoveragePart]
    actions: CoveragePart
    action_pairs: CoveragePart

    @property
    def never(self) -> int:
        """How much could be seen and never was, pairs of actions left out."""
        parts = (self.clauses, self.actions, *self.classes.values(), *self.pairs.values())
        return sum(len(part.never) for part in parts)


def coverage(
    protocol: str,
    runs: Mapping[RunClass, int],
    clauses: Iterable[tuple[str, int, Mapping[Verdict, int]]],
    measured: Measured,
) -> Coverage:
    """runs: how many there are of each class. clauses: id, how often it held, how many runs have which verdict."""
    held = {clause: count for clause, count, runs in clauses if set(runs) - {Verdict.NOT_APPLICABLE}}
    dimensions, counts = _dimensions(runs)
    known = _known(protocol, runs)
    values = {name: sorted({*known.get(name, ()), *column}) for name, column in dimensions.items()}
    actions, action_pairs = _actions(protocol, measured)
    return Coverage(
        clauses=_part(held, held),
        classes={name: _part(_sums(column, counts), values[name]) for name, column in dimensions.items()},
        pairs={
            f"{one} and {other}": _pairs(
                _sums(zip(dimensions[one], dimensions[other], strict=True), counts),
                values[one],
                values[other],
                _impossible(protocol, one, other),
            )
            for one, other in combinations(dimensions, 2)
            if len(values[one]) > 1 and len(values[other]) > 1
        },
        actions=actions,
        action_pairs=action_pairs,
    )


def _part(counts: Mapping[str, int], possible: Iterable[str]) -> CoveragePart:
    found = {name: count for name, count in counts.items() if count}
    return CoveragePart(found, tuple(name for name in possible if name not in found))


def _dimensions(runs: Mapping[RunClass, int]) -> tuple[dict[str, tuple[str, ...]], tuple[int, ...]]:
    """By dimension a column of values, and how many runs have the values in each row."""
    found: dict[str, Iterable[str]] = {
        "kind": [one.kind or "unknown" for one in runs],
        "family": [one.family for one in runs],
        "faults": [SOME if one.faults else NONE for one in runs],
        "failures": [SOME if one.failures else NONE for one in runs],
    }
    read = msgspec.json.Decoder(dict[str, Parameter]).decode
    given = [read(one.parameters) for one in runs]
    for name in sorted({name for parameters in given for name in parameters}):
        column = [parameters.get(name) for parameters in given]
        few = len(set(column)) <= MOST_VALUES and not name.endswith("_ns")
        found[name] = [_shown(value, few) for value in column]
    # Rows that are alike are counted once: there are as many pairs of dimensions as a run has columns squared.
    rows = _sums(zip(*found.values(), strict=True), runs.values())
    return dict(zip(found, zip(*rows, strict=True), strict=True)), tuple(rows.values())


def _sums(keys: Iterable[Key], counts: Iterable[int]) -> Counter[Key]:
    sums = Counter[Key]()
    for key, count in zip(keys, counts, strict=True):
        sums[key] += count
    return sums


def _shown(value: Parameter | None, few: bool) -> str:
    if value is None:
        return "not given"
    if few:
        return str(value)
    return str(value) if value in (0, "") else "above 0" if isinstance(value, int) else "given"


def _drawn(protocol: str) -> tuple[RunKind, ...]:
    """The kinds of runs that corpora of the protocol draw; none for one without corpora."""
    plugin = plugins.find("spark", SparkPlugin, protocol)
    return () if plugin is None else plugin.kinds


def _known(protocol: str, runs: Iterable[RunClass]) -> dict[str, set[str]]:
    """The values that drawn runs can have; nothing for runs that were imported."""
    known: dict[str, set[str]] = {"faults": {NONE, SOME}, "failures": {NONE, SOME}}
    kinds = _drawn(protocol)
    if all(one.imported for one in runs) or not kinds:
        return known
    return {**known, "kind": {kind.name for kind in kinds}, "family": {f for kind in kinds for f in kind.networks}}


def _pairs(
    found: Mapping[tuple[str, str], int], ones: Iterable[str], others: Sequence[str], impossible: set[str]
) -> CoveragePart:
    counts = {f"{a} and {b}": count for (a, b), count in found.items()}
    every = (f"{a} and {b}" for a in ones for b in others)
    return _part(counts, [pair for pair in every if pair not in impossible])


def _impossible(protocol: str, one: str, other: str) -> set[str]:
    """Pairs that no run can have: kinds and families that do not suit each other, and faults for kinds without any."""
    kinds = _drawn(protocol)
    if one != "kind":
        return set()
    if other == "faults":
        return {f"{kind.name} and {SOME}" for kind in kinds if not kind.faults}
    if other != "family":
        return set()
    families = {name: draw for kind in kinds for name, draw in kind.networks.items()}
    return {
        f"{kind.name} and {name}"
        for kind in kinds
        for name, draw in families.items()
        if name not in kind.networks or not any(kind.suits(draw(Random(seed))) for seed in range(DRAWS))
    }


def _actions(protocol: str, measured: Measured) -> tuple[CoveragePart, CoveragePart]:
    found = gauge(protocol)
    if found is None or found.actions is None:
        return CoveragePart({}, ()), CoveragePart({}, ())
    names, regular = found.actions.names, found.actions.names[: found.actions.regular]
    taken = dict(zip(names, measured.taken.tolist(), strict=True))
    pairs = {
        f"{first} then {second}": int(measured.pairs[a, b])
        for a, first in enumerate(names)
        for b, second in enumerate(names)
    }
    every = [f"{first} then {second}" for first in regular for second in regular]
    return _part(taken, regular), _part(pairs, every)
