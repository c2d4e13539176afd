"""Progress of several layers that run side by side."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence

from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

from scatterproof.console import err
from scatterproof.layer_report import LayerReport, Status

_MARKS = {Status.PASS: "green", Status.FAIL: "bold red", Status.INCONCLUSIVE: "yellow", Status.NOT_RUN: "yellow"}


class Board:
    """On a terminal one live line a layer; elsewhere a line when a layer ends, and every half minute in between.

    Layers may speak from different threads."""

    def __init__(self, layers: Sequence[str]) -> None:
        self._live: RichProgress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._lock = threading.Lock()
        self._spoke = time.monotonic()
        if err.is_terminal and not os.environ.get("CI"):
            self._live = RichProgress(
                SpinnerColumn(),
                TextColumn("{task.description:14}"),
                TimeElapsedColumn(),
                BarColumn(bar_width=10),
                TextColumn("{task.fields[text]}"),
                console=err,
            )
            self._tasks = {layer: self._live.add_task(layer, total=1, text="waiting", start=False) for layer in layers}

    def __enter__(self) -> Board:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def begin(self, layer: str) -> None:
        if self._live is not None:
            self._live.start_task(self._tasks[layer])

    def say(self, layer: str, text: str) -> None:
        """The latest news of a layer; may be called often."""
        if self._live is not None:
            self._live.update(self._tasks[layer], text=text[:100])
            return
        with self._lock:
            if time.monotonic() - self._spoke < 30:
                return
            self._spoke = time.monotonic()
        err.print(f"  {layer}: {text}", markup=False, highlight=False)

    def end(self, report: LayerReport) -> None:
        colour = _MARKS.get(report.status, "dim")
        if self._live is not None:
            text = f"[{colour}]{report.status}[/{colour}] {report.sentence}"
            self._live.update(self._tasks[report.layer], completed=1, text=text)
            return
        with self._lock:
            self._spoke = time.monotonic()
        err.print(f"{report.layer}: {report.status}, {report.sentence} ({report.seconds:.0f} s)", highlight=False)
