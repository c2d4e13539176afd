"""Conformance runs as one HTML page that loads nothing else: one run, or several side by side, clause by clause.

The rows of the table and the details of each failure are in the page as HTML. The verdicts of all clauses in each case
are there as compact JSON, which becomes HTML when somebody opens the case. Styles and the script are allowed by their
hash alone, so that nothing else in the page can run, whatever text an implementation has put there.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup

from scatterproof.conformance.report.look import Head, render
from scatterproof.conformance.report.run import GRAVITY, ConformanceRun, folder_name, printable
from scatterproof.conformance.report.schedule_words import words
from scatterproof.conformance.report.side_by_side import ClauseRow, clause_rows
from scatterproof.conformance.report.space_time import Diagram, as_svg, as_text
from scatterproof.conformance.report.stored import StoredCase, StoredClause, StoredRun, store
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.files import write_atomically
from scatterproof.spec.schedule import Schedule

_HERE = Path(__file__).parent
_LETTERS = dict(zip(Verdict, "pfian", strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A run on the page.

    name: of its column.
    folder: where its files are, as a user would type it; None where nothing can be run again.
    links: the path from the page to that folder, None where the page has to stand alone.
    """

    run: StoredRun
    name: str
    folder: str | None
    links: str | None = None


def write(path: Path, run: ConformanceRun) -> None:
    """The page of one run. It may be taken elsewhere, and links to no other file."""
    write_columns(path, [Column(run=store(run), name=run.iut, folder=run.folder or None)])


def write_columns(path: Path, columns: Sequence[Column]) -> None:
    """The page of several runs of one protocol, side by side, or of one."""
    write_atomically(path, encode(columns).encode())


def column_of(run: StoredRun, name: str, folder: Path, page: Path) -> Column:
    """The column of a run whose files are in `folder`, on a page at `page` that links to them."""
    way = Path(os.path.relpath(folder.resolve(), page.resolve().parent)).as_posix()
    return Column(run=run, name=name, folder=str(folder), links=way)


def encode(columns: Sequence[Column]) -> str:
    """The page. The runs are of one protocol."""
    rows = clause_rows([column.run for column in columns])
    return render(
        _HERE / "page.html.jinja",
        head_of(columns),
        styles=[_HERE / "page.css"],
        scripts=[_HERE / "page.js"],
        columns=columns,
        rows=rows,
        names={row.clause.id: row.clause.name for row in rows},
        levels=sorted({row.clause.level for row in rows}),
        verdicts=[verdict for verdict in Verdict if any(column.run.counts.get(verdict) for column in columns)],
        versions=_versions(columns),
        data=Markup(_data(columns, rows)),
        folder_name=folder_name,
        drawing=_drawing,
        as_text=as_text,
        words=words,
        as_json=_as_json,
        replay=_replay,
        explore=_explore,
        seconds=_seconds,
        FAIL=Verdict.FAIL,
    ).text


def head_of(columns: Sequence[Column]) -> Head:
    """The head of the page: the gravest verdict of all its runs, and how many cases have which."""
    runs = [column.run for column in columns]
    counts = Counter[Verdict]()
    for run in runs:
        counts.update(run.counts)
    single = len(columns) == 1
    return Head(
        title=f"Conformance of {columns[0].name}" if single else f"{len(columns)} implementations side by side",
        verdict=next((verdict for verdict in GRAVITY if any(run.verdict == verdict for run in runs)), Verdict.NOT_RUN),
        sentence=", ".join(f"{counts[verdict]} {verdict}" for verdict in GRAVITY if counts[verdict]) or "no case",
        about=(f"{runs[0].protocol}, clauses {' and '.join(_versions(columns)) or 'without a version'}",),
    )


def _versions(columns: Sequence[Column]) -> list[str]:
    return sorted({column.run.catalogue for column in columns} - {""})


def _drawing(picture: Diagram, title: str, tip: str) -> Markup:
    # Names come from implementations, and may have characters that must not be shown.
    return Markup(printable(as_svg(picture, title, style=None, tip=tip)))


def _as_json(schedule: Schedule) -> str:
    return msgspec.json.format(msgspec.json.encode(schedule), indent=1).decode()


def _replay(column: Column, case: StoredCase) -> str:
    """The command that runs again what the page shows; the whole case where a profile says who plays which node."""
    assert column.folder is not None
    run = column.run
    if run.profile:
        address = f"{run.protocol}/{case.id}"
        return shlex.join(["scatterproof", "conform", "--iut", run.iut, "--profile", run.profile, "--case", address])
    name = "small.json" if case.failure is not None and case.failure.runs else "schedule.json"
    path = (Path(column.folder) / folder_name(case.id) / name).as_posix()
    return shlex.join(["scatterproof", "replay", path, "--iut", run.iut])


def _explore(column: Column, case: StoredCase) -> str:
    """The command that opens the explorer at the first violation of the clause that tells most. It cannot be a link: a
    page in a file can neither start a server nor know the secret address of one."""
    assert column.folder is not None
    first = next((one.violations[0] for one in column.run.broken(case) if one.violations), None)
    path = (Path(column.folder) / folder_name(case.id) / "trace.ndjson").as_posix()
    return shlex.join(["scatterproof", "explore", path, "--row", str(first.position if first is not None else 0)])


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms" if seconds >= 0.001 else "< 1 ms"


# ------------------------------------------------------------------------------------------------ data for the script


def _data(columns: Sequence[Column], rows: Sequence[ClauseRow]) -> str:
    """The JSON that the script makes details from. It has the cases in the order of the table, and for each run of a
    case the letters of its clauses' verdicts, how often each clause held, and the numbers of the reasons, 0 for
    none."""
    clauses = [row.clause for row in rows]
    reasons: dict[str, int] = {"": 0}
    cases = [
        [None if case is None else _case(case, clauses, reasons) for case in cases.by_run]
        for row in rows
        for cases in row.cases
    ]
    document = {
        "letters": {letter: verdict for verdict, letter in _LETTERS.items()},
        "clauses": [[clause.id, clause.name] for clause in clauses],
        "names": [printable(column.name) for column in columns],
        "duties": [printable(f"When {case.some.stimulus}, it {case.some.duty}.") for row in rows for case in row.cases],
        "cases": cases,
        "reasons": [printable(reason) for reason in reasons],
    }
    text = msgspec.json.encode(document).decode()
    # Within <script> nothing may look like its end, or like the beginning of a comment.
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _case(case: StoredCase, clauses: Sequence[StoredClause], reasons: dict[str, int]) -> dict[str, Any]:
    found: Mapping[str, Any] = {result.clause: result for result in case.clauses}
    here = [number for number, clause in enumerate(clauses) if clause.id in found]
    results = [found[clauses[number].id] for number in here]
    counts = Counter(_LETTERS[result.verdict] for result in results)
    return {
        # Mostly all clauses are judged; then there is no need to list them.
        "c": None if len(here) == len(clauses) else here,
        "v": "".join(_LETTERS[result.verdict] for result in results),
        "h": [result.held for result in results],
        "b": {str(n): result.broken for n, result in enumerate(results) if result.broken},
        "r": [reasons.setdefault(result.reason, len(reasons)) for result in results],
        "n": counts,
    }
