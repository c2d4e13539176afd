"""Progress of layers that run side by side."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from types import TracebackType

from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

from scatterproof.console import err
from scatterproof.layer_report import LayerReport, Status

_MARKS = {Status.PASS: "green", Status.FAIL: "bold red", Status.INCONCLUSIVE: "yellow", Status.NOT_RUN: "yellow"}
_SPEAKS_EVERY_S = 30.0
_FORESEES_FROM = 0.05  # of the work: strictly below, the rest cannot be foretold


class Board:
    """On a terminal a live line a row; elsewhere a line when a row ends, and every half minute in between.

    It says how long the rest will take, from the seconds that were expected of the work done, and of the work left.
    """

    def __init__(self) -> None:
        self._live: RichProgress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._expected = self._done = 0.0
        self._began = self._spoke = time.monotonic()

    def __enter__(self) -> Board:
        if err.is_terminal and not os.environ.get("CI"):
            self._live = RichProgress(
                SpinnerColumn(),
                TextColumn("{task.description:26}"),
                BarColumn(bar_width=16),
                TimeElapsedColumn(),
                TextColumn("{task.fields[text]}"),
                console=err,
            )
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()
        if kind is KeyboardInterrupt:
            err.print(f"stopped, {self.foreseen().partition(',')[0]}; no page was written", highlight=False)

    def expect(self, weights: Mapping[str, float]) -> None:
        """The rows, each with the seconds of computing that are expected of it."""
        self._expected = sum(weights.values())
        if self._live is not None:
            self._tasks[""] = self._live.add_task("all", total=self._expected, text="")
            for row, weight in weights.items():
                self._tasks[row] = self._live.add_task(row, total=weight or 1, text="waiting")

    def did(self, row: str, weight: float, text: str) -> None:
        """A piece of work of the row is done."""
        self._done += weight
        if self._live is not None:
            self._live.update(self._tasks[row], advance=weight, text=text[:80])
            self._live.update(self._tasks[""], advance=weight, text=self.foreseen())
        elif time.monotonic() - self._spoke >= _SPEAKS_EVERY_S:
            self._spoke = time.monotonic()
            err.print(f"  {self.foreseen()}; just done: {row}, {text}", markup=False, highlight=False)

    def foreseen(self) -> str:
        """How much is done, and how long the rest will take if it goes on like this."""
        share = self._done / self._expected if self._expected else 1.0
        told = f"{share:.0%} done"
        if _FORESEES_FROM <= share < 1:
            left = (time.monotonic() - self._began) * (1 - share) / share
            told += f", about {_length(left)} to go"
        return told

    def end(self, row: str, report: LayerReport) -> None:
        if self._live is not None:
            colour = _MARKS.get(report.status, "dim")
            text = f"[{colour}]{report.status}[/{colour}] {report.sentence}"
            self._live.update(self._tasks[row], completed=1, total=1, text=text)
            return
        self._spoke = time.monotonic()
        err.print(f"{row}: {report.status}, {report.sentence} ({report.seconds:.0f} s)", markup=False, highlight=False)


def _length(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
