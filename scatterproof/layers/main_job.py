"""The main job: the pieces of work of all layers of all protocols, done side by side on all cores.

The longest are begun first. What runs in real time has processes of its own, which come before those that compute;
when it is through, one of them computes, too, as model checkers wait now and then. Spark has one process, so that its
session is started once for all protocols.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import msgspec

from scatterproof.board import Board
from scatterproof.jobs import JobQueue, as_done
from scatterproof.layer_report import LayerReport, not_run
from scatterproof.layers.drawn import stop_spark
from scatterproof.layers.job import Beside, Found, JobLayer, Lane, MainJob, Unit
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.plugins import lacking

REAL_TIME_JOBS = 3  # they wait most of the time
BEHIND = 5  # how much nicer those are that compute


@dataclass(frozen=True, slots=True)
class ProtocolResult:
    """What came of one protocol: a report a layer, in their order, and what units returned, by layer and by key."""

    job: MainJob
    reports: tuple[LayerReport, ...]
    found: Found


@dataclass(slots=True)
class _Part:
    """The units of one layer, or of something beside it, of one protocol.

    results: None where nothing is there yet.
    problem: why it did not run.
    """

    job: MainJob
    name: str
    layer: JobLayer | None
    units: Sequence[Unit] = ()
    results: list[Any] = field(default_factory=list)
    left: int = 0
    seconds: float = 0.0
    problem: str = ""
    report: LayerReport | None = None

    @property
    def row(self) -> str:
        return f"{self.job.protocol} {self.name}"

    def plan(self, units: Callable[[MainJob], Sequence[Unit]]) -> None:
        try:
            self.units = units(self.job)
        except CannotRun as error:
            self.problem = str(error)
        except ImportError as error:
            told = lacking(error)
            if not isinstance(told, CannotRun):
                raise told or error from None
            self.problem = str(told)
        self.left = len(self.units)
        self.results = [None] * self.left

    def take(self, at: int, result: Any) -> None:
        """The result of one of its units; one that could not run keeps the whole layer from having run."""
        self.left -= 1
        if isinstance(result, BadInput):
            raise result
        if isinstance(result, CannotRun):
            self.problem = self.problem or str(result)
        else:
            seconds, self.results[at] = result
            self.seconds += seconds


def run(
    jobs: Sequence[MainJob], layers: Sequence[JobLayer], beside: Sequence[Beside], board: Board, processes: int
) -> list[ProtocolResult]:
    """Do it all, `processes` computing at a time, and one more at the end where they are several. Raises BadInput where
    a unit does, and CannotRun where a process ends before its work is done; a layer that this machine cannot run is
    reported as not run."""
    parts = [_planned(job, layer.name, layer, layer.units) for job in jobs for layer in layers]
    parts += [
        _planned(job, extra.key, None, extra.units)
        for job in jobs
        for extra in beside
        if extra.layer in {layer.name for layer in layers}
    ]
    pieces = [(part, at) for part in parts for at in range(len(part.units))]
    board.expect({part.row: sum(unit.weight for unit in part.units) for part in parts})
    for part in parts:
        _conclude(part, parts, board)
    with closing(as_done(lambda number: _timed(_unit(pieces[number])), _queues(pieces, processes))) as results:
        for number, result in results:
            part, at = pieces[number]
            part.take(at, result)
            board.did(part.row, part.units[at].weight, part.units[at].text)
            for one in parts:
                _conclude(one, parts, board)
    return [_outcome(job, parts) for job in jobs]


def _planned(job: MainJob, name: str, layer: JobLayer | None, units: Callable[[MainJob], Sequence[Unit]]) -> _Part:
    part = _Part(job, name, layer)
    part.plan(units)
    return part


def _unit(piece: tuple[_Part, int]) -> Unit:
    part, at = piece
    return part.units[at]


def _timed(unit: Unit) -> tuple[float, Any]:
    start = time.monotonic()
    result = unit.work()
    return time.monotonic() - start, result


def _queues(pieces: Sequence[tuple[_Part, int]], processes: int) -> list[JobQueue]:
    longest_first = sorted(range(len(pieces)), key=lambda number: -_unit(pieces[number]).weight)
    of = {lane: [number for number in longest_first if _unit(pieces[number]).lane is lane] for lane in Lane}
    computing = JobQueue(of[Lane.COMPUTING], processes, BEHIND)
    then = computing if processes > 1 else None
    return [
        JobQueue(of[Lane.SPARK], 1, BEHIND, stop_spark),
        computing,
        JobQueue(of[Lane.REAL_TIME], REAL_TIME_JOBS, then=then),
    ]


def _conclude(part: _Part, parts: Sequence[_Part], board: Board) -> None:
    """The report of a layer all of whose results, and those of layers before it, are there."""
    if part.report is not None or part.layer is None or part.left:
        return
    mine = {one.name: one for one in parts if one.job is part.job}
    if any(mine[name].left for name in part.layer.after if name in mine):
        return
    report = (
        not_run(part.layer.name, part.layer.title, part.problem)
        if part.problem
        else part.layer.report(part.job, _found(part.job, parts))
    )
    part.report = msgspec.structs.replace(
        report, layer=part.layer.name, title=part.layer.title, seconds=round(part.seconds, 1)
    )
    board.end(part.row, part.report)


def _found(job: MainJob, parts: Sequence[_Part]) -> dict[str, Sequence[Any]]:
    return {part.name: part.results for part in parts if part.job is job and not part.problem and not part.left}


def _outcome(job: MainJob, parts: Sequence[_Part]) -> ProtocolResult:
    reports = tuple(part.report for part in parts if part.job is job and part.report is not None)
    return ProtocolResult(job, reports, _found(job, parts))
