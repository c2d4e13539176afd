"""What the tests of corpora must know of a protocol, from its `spark/tests/<protocol>/material.py`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from scatterproof.spark.corpus import Plant
from scatterproof.spec import clauses
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.trace import Row, Trace, schema

_HERE = "scatterproof.spark.tests"
PROTOCOLS = [
    protocol
    for protocol in clauses.protocols()
    if find_spec(f"{_HERE}.{protocol}") is not None and find_spec(f"{_HERE}.{protocol}.material") is not None
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """environments: what runs are told apart by, among their parameters.
    choices: what holds in some runs and not in others.
    traces: of the reference core, in all sorts of runs.
    parted: two of them that leave some of the checks idle.
    plant: rules that change run 1 of any corpus.
    plants: wrong rules, each with a word in the names of the kinds of runs to look through, and a clause that it must
        break there.
    seed: of the corpus in which `plants` are looked for.
    damaged: columns that damage changes.
    by_damage: clauses that damage breaks.
    reconciled: columns in which an arrival says what was sent.
    owed: kinds of packets; a run has settled only when each, sent for the first time, has arrived or was lost.
    """

    environments: Collection[str]
    choices: tuple[Callable[[Schedule], bool], ...]
    traces: Callable[[], Sequence[Trace]]
    parted: Callable[[], tuple[Trace, Trace]]
    plant: Plant
    plants: tuple[tuple[Plant, str, str], ...]
    seed: int
    damaged: tuple[str, ...]
    by_damage: Collection[str]
    reconciled: tuple[str, ...]
    owed: Collection[int]


def material(protocol: str) -> Material:
    found: Material = importlib.import_module(f"{_HERE}.{protocol}.material").MATERIAL
    return found


def value(trace: Trace, row: Row, column: str) -> int:
    return row[schema(trace.header.protocol).columns.index(column)]


def change(trace: Trace, row: Row, **values: int) -> Row:
    columns = schema(trace.header.protocol).columns
    named = dict(zip(columns, row, strict=True)) | values
    return tuple(named[column] for column in columns)
