"""What mining found as one static page, `mined/report.html`, that asks for nothing else: tables, and pictures in it."""

from __future__ import annotations

import base64
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from scatterproof.conformance.protocol import gauge
from scatterproof.conformance.report.look import TABLES, Head, render
from scatterproof.conformance.report.run import GRAVITY
from scatterproof.conformance.verdict import Verdict
from scatterproof.spark.layout import RunClass
from scatterproof.spark.measured import Histogram
from scatterproof.spark.plots import Bars, PlotLine, bars, distribution, matrix
from scatterproof.spec import clauses
from scatterproof.spec.files import write_atomically

if TYPE_CHECKING:
    from scatterproof.spark.mined import MineResult

REPORT = "report.html"
_TEMPLATE = Path(__file__).with_name("report.html.j2")
SHOWN = 50  # violations, one a run and clause
NEVER_SHOWN = 40
NOT_MEASURED = "not measured, as the protocol's record in conformance has no gauge for it"
_SHARES = (0.5, 0.9, 0.99, 1.0)


class Shown(NamedTuple):
    """A violation on the page: the first of its clause in its run, and how many there are of it there."""

    clause: str
    run: int
    sentence: str
    replay: str
    explore: str
    times: int


class Drawn(NamedTuple):
    """A measure on the page. rows: carrier, group, count, then the quantiles."""

    title: str
    unit: str
    pictures: list[str]
    rows: list[tuple[str, ...]]


def write_report(
    folder: Path,
    result: MineResult,
    runs: Mapping[int, RunClass],
    times: Mapping[tuple[str, int], int],
    tables: Iterable[pa.Table],
) -> None:
    """Write the page into `folder`. runs: by number. times: by clause and run, how often it is broken. tables: of
    violations; as many as the page shows are taken."""
    shown = _shown(result.path, times, tables)
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for (clause, run), count in times.items():
        by_kind[clause][runs[run].kind or runs[run].family] += count
    assert result.coverage is not None
    page = render(
        _TEMPLATE,
        _head(result),
        styles=TABLES.styles,
        scripts=TABLES.scripts,
        result=result,
        clauses=sorted(result.clauses, key=lambda clause: GRAVITY.index(clause.verdict)),
        verdicts=[verdict for verdict in GRAVITY if any(clause.verdict is verdict for clause in result.clauses)],
        coverage=result.coverage,
        violations=_pictured(by_kind),
        shown=shown,
        more=len(times) - len(shown),
        measures=list(_drawn(result)),
        actions=_action_matrix(result),
        dimensions=[(name, part) for name, part in result.coverage.classes.items()],
        pairs=[(name, part) for name, part in result.coverage.pairs.items() if part.never],
        never_shown=NEVER_SHOWN,
        not_measured=NOT_MEASURED,
    )
    write_atomically(folder / REPORT, page.text.encode())


def _head(result: MineResult) -> Head:
    """The head of the page: one verdict for the corpus, as the exit code tells it."""
    found = {clause.verdict for clause in result.clauses}
    counts = f"{result.runs:,} runs, {result.events:,} events, {result.files} files"
    return Head(
        title=f"Mining {result.path}",
        verdict=next((verdict for verdict in GRAVITY if verdict in found), Verdict.NOT_RUN),
        sentence=f"{result.violations:,} violations in {counts}",
        about=(f"{result.protocol}, clauses {clauses.load(result.protocol).version}",),
    )


def _image(drawn: str) -> str:
    """The picture as a data address: written into the page, its styles would need a permission of their own."""
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}" if drawn else ""


def _shown(corpus: str, times: Mapping[tuple[str, int], int], tables: Iterable[pa.Table]) -> list[Shown]:
    """The first of each clause and run, until there are as many as are shown."""
    first: dict[tuple[str, int], Shown] = {}
    for table in tables:
        columns = (table.column(name).to_pylist() for name in ("clause", "run", "position", "sentence", "replay"))
        for clause, run, position, sentence, replay in zip(*columns, strict=True):
            if len(first) == SHOWN:
                break
            explore = shlex.join(["scatterproof", "explore", corpus, "--run", str(run), "--row", str(position)])
            first.setdefault((clause, run), Shown(clause, run, sentence, replay, explore, times[clause, run]))
        if len(first) == SHOWN:
            break
    return sorted(first.values(), key=lambda one: (one.run, one.clause))


def _pictured(by_kind: Mapping[str, Counter[str]]) -> str:
    """Violations by clause and configuration."""
    if not by_kind:
        return ""
    kinds = sorted({kind for counts in by_kind.values() for kind in counts})
    clauses = sorted(by_kind)
    stacks = {kind: [by_kind[clause][kind] for clause in clauses] for kind in kinds}
    return _image(bars(Bars("Violations by clause and kind of run", "violations", clauses, stacks)))


def _drawn(result: MineResult) -> Iterable[Drawn]:
    found = gauge(result.protocol)
    for measure in found.measures if found else ():
        own = [one for one in result.histograms if one.measure == measure.name]
        if not own:
            continue
        label = "time in ns" if measure.unit == "ns" else measure.unit
        sums = {"runs": lambda one: one.carrier, "group": lambda one: one.group}
        pictures = []
        for name, key in sums.items():
            lines = _lines(own, key)
            if name == "runs" or len(lines) > 1:
                title = f"{measure.title}, by {name}"
                pictures.append(_image(distribution(title, label, lines)))
        rows = [(one.carrier, one.group, f"{one.count:,}", *(f"{one.quantile(s):,}" for s in _SHARES)) for one in own]
        yield Drawn(measure.title, measure.unit, pictures, rows)


def _lines(histograms: Iterable[Histogram], key: object) -> list[PlotLine]:
    """One line for each value of the key, over all histograms that have it."""
    assert callable(key)
    sums: dict[str, Counter[int]] = defaultdict(Counter)
    for one in histograms:
        for least, count in one.bins:
            sums[key(one)][least] += count
    return [PlotLine(name, sorted(counts.items())) for name, counts in sums.items()]


def _action_matrix(result: MineResult) -> str:
    found = gauge(result.protocol)
    if found is None or found.actions is None or result.coverage is None:
        return ""
    names = found.actions.names
    counts = result.coverage.action_pairs.counts
    table = np.array([[counts.get(f"{first} then {second}", 0) for second in names] for first in names])
    return _image(matrix("Actions, one after the other (blank: never)", names, table))
