"""What a layer of the main job is: pieces of work, done side by side, and a report made of their results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any, TypeVar

from scatterproof.conformance.verdict import Verdict
from scatterproof.layer_report import Detail, LayerReport, Status, StatusCell, gravest

OF_VERDICT = {
    Verdict.PASS: Status.PASS,
    Verdict.FAIL: Status.FAIL,
    Verdict.INCONCLUSIVE: Status.INCONCLUSIVE,
    Verdict.NOT_RUN: Status.NOT_RUN,
    Verdict.NOT_APPLICABLE: Status.NONE,
}


class Depth(IntEnum):
    """How much of the work is done; what is left out is said."""

    QUICK = 0  # under a minute: cases in process, proofs, the smallest models
    EVERYDAY = 1  # minutes: every layer, and in it what finds most in its time
    FULL = 2  # all there is


class Lane(StrEnum):
    """Which processes do a piece of work."""

    COMPUTING = "computing"  # one a core, behind the others in priority
    REAL_TIME = "real time"  # it mostly waits, and must not be kept waiting
    SPARK = "Spark"  # one process for all, as it has one session


@dataclass(frozen=True, slots=True, kw_only=True)
class MainJob:
    """One run of the main job for one protocol.

    protocol: its name.
    seed: of schedules and runs.
    results: the folder in which layers leave what they write.
    depth: how much is done.
    effort: schedules and runs are multiplied by it.
    """

    protocol: str
    seed: int
    results: Path
    depth: Depth = Depth.EVERYDAY
    effort: int = 1

    @property
    def full(self) -> bool:
        return self.depth is Depth.FULL


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A piece of work that one process does by itself.

    text: what it is, in a few words.
    weight: the seconds that it is expected to take on an idle core; only ratios count.
    work: does it; what it returns is pickled. Raises CannotRun where this machine lacks what it needs.
    lane: which processes do it.
    """

    text: str
    weight: float
    work: Callable[[], Any]
    lane: Lane = Lane.COMPUTING


Item = TypeVar("Item")
Found = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLayer:
    """One layer.

    name: as it is given on the command line.
    title: the heading of its column.
    units: its pieces of work. Raises CannotRun where the layer cannot run at all.
    report: made of the job and of what units returned, by layer: in the order of the units; nothing of a layer that did
        not run.
    after: layers whose results the report is made of, too.
    quick: whether it is part of the quick depth.
    """

    name: str
    title: str
    units: Callable[[MainJob], Sequence[Unit]]
    report: Callable[[MainJob, Found], LayerReport]
    after: tuple[str, ...] = ()
    quick: bool = False


@dataclass(frozen=True, slots=True)
class Beside:
    """What is made for the page alone.

    key: under which its results are found.
    layer: the one that it is left out without.
    """

    key: str
    layer: str
    units: Callable[[MainJob], Sequence[Unit]]


def shares(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """The items in their order, in pieces of that size at the most."""
    return [items[at : at + size] for at in range(0, len(items), size)]


def report_of(status: Status, sentence: str, cells: Mapping[str, StatusCell], *details: Detail) -> LayerReport:
    """A report whose name, title and time are filled in by who runs the layer."""
    return LayerReport(
        layer="", title="", status=status, sentence=sentence, seconds=0.0, cells=dict(cells), details=details
    )


def by_clause(parts: Iterable[tuple[str, Status]], noun: str) -> dict[str, StatusCell]:
    """One cell a clause: the gravest status of its parts, and how many there are; `noun` is one of them."""
    statuses: dict[str, list[Status]] = defaultdict(list)
    for clause, status in parts:
        statuses[clause].append(status)
    return {
        clause: StatusCell(gravest(found), f"{len(found)} {noun}{'' if len(found) == 1 else 's'}")
        for clause, found in statuses.items()
    }
