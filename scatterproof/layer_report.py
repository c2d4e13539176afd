"""What one layer says of every clause: the cells of the table that `verify` ends with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec


class Status(StrEnum):
    """In the order of gravity: a cell of several parts shows the gravest."""

    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"  # ran, and shows nothing: not good enough for a reference
    NOT_RUN = "not run"
    PASS = "pass"
    NOT_YET = "not yet"  # the catalogue says why
    NONE = ""


class StatusCell(msgspec.Struct, frozen=True):
    """note: what stands behind the status, in a few words."""

    status: Status
    note: str = ""


class Detail(msgspec.Struct, frozen=True):
    """A table of the report: one row a model, a claim, a case, a mutant. again: for each row the command that shows it
    again, empty where there is none; or nothing for all."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    again: tuple[str, ...] = ()


class LayerReport(msgspec.Struct, frozen=True, kw_only=True):
    """sentence: the layer in one line.
    cells: by clause id; a clause that is not there is not this layer's.
    """

    layer: str
    title: str
    status: Status
    sentence: str
    seconds: float
    cells: dict[str, StatusCell]
    details: tuple[Detail, ...] = ()


def gravest(statuses: Iterable[Status]) -> Status:
    """The gravest of the statuses; NONE when there is none."""
    ranks = list(Status)
    return min(statuses, key=ranks.index, default=Status.NONE)


def detail(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], again: Iterable[str] = ()) -> Detail:
    return Detail(title, tuple(columns), tuple(tuple(str(value) for value in row) for row in rows), tuple(again))


def not_run(layer: str, title: str, reason: str) -> LayerReport:
    return LayerReport(layer=layer, title=title, status=Status.NOT_RUN, sentence=reason, seconds=0.0, cells={})
