"""`scatterproof compare`: what several implementations came to, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scatterproof.conformance.report import html, stored
from scatterproof.conformance.report.run import printable
from scatterproof.conformance.report.side_by_side import ClauseRow, clause_rows
from scatterproof.conformance.report.stored import StoredRun
from scatterproof.conformance.verdict import Verdict
from scatterproof.console import INCONCLUSIVE, OK, VIOLATIONS, err, out, print_json, print_table
from scatterproof.options import Json, Protocol, refuse_file, resolve
from scatterproof.spec.errors import BadInput


def command(
    results: Annotated[
        list[Path],
        typer.Argument(help="Folders that `conform --results` has filled, or results.json files: one a run."),
    ],
    html_file: Annotated[Path | None, typer.Option("--html", help="Write a page to this file.")] = None,
    protocol: Protocol = None,
    as_json: Json = False,
) -> None:
    """Compare conformance runs: a table of clauses against implementations, and a page with their cases and failures.

    Each run needs a folder of its own: `conform --iut A --results results/A`, the same for B, then
    `compare results/A results/B --html index.html`.
    """
    read = [stored.read(path) for path in results]
    runs = [run for run, _ in read]
    refuse_file("--html", html_file)
    _refuse_strangers(runs, [folder for _, folder in read], protocol)
    names = _names(runs, results)
    rows = clause_rows(runs)
    if html_file is not None:
        kept = [html.column_of(run, name, place, html_file) for (run, place), name in zip(read, names, strict=True)]
        html.write_columns(html_file, kept)
    if as_json:
        print_json(_plain(runs, names, results, rows))
    else:
        _show(runs, names, rows)
    if html_file is not None:
        err.print(f"the page is {html_file}", markup=False, highlight=False)
    found = {run.verdict for run in runs}
    raise typer.Exit(VIOLATIONS if Verdict.FAIL in found else INCONCLUSIVE if Verdict.INCONCLUSIVE in found else OK)


def _refuse_strangers(runs: Sequence[StoredRun], places: Sequence[Path], protocol: str | None) -> None:
    """Runs of different protocols have no clause in common."""
    wanted = runs[0].protocol if protocol is None else resolve(protocol)
    for run, place in zip(runs, places, strict=True):
        if run.protocol != wanted:
            raise BadInput(f"{place}: has results of {run.protocol}, not of {wanted}; compare runs of one protocol")


def _names(runs: Sequence[StoredRun], results: Sequence[Path]) -> list[str]:
    """The implementations' names; with the folder where several runs are of one."""
    counts = Counter(run.iut for run in runs)
    return [run.iut if counts[run.iut] == 1 else f"{run.iut} ({path})" for run, path in zip(runs, results, strict=True)]


def _plain(
    runs: Sequence[StoredRun], names: Sequence[str], results: Sequence[Path], rows: Sequence[ClauseRow]
) -> dict[str, object]:
    return {
        "protocol": runs[0].protocol,
        "runs": [
            {"name": name, "iut": run.iut, "results": path, "catalogue": run.catalogue, "verdict": run.verdict,
             "counts": run.counts, "seconds": run.seconds}
            for run, name, path in zip(runs, names, results, strict=True)
        ],
        "clauses": [
            {
                "id": row.clause.id,
                "level": row.clause.level.value,
                "verdicts": [cell.verdict for cell in row.cells],
                "cases": [
                    {"id": case.id, "verdicts": [found and found.verdict for found in case.by_run]}
                    for case in row.cases
                ],
            }
            for row in rows
        ],
    }  # fmt: skip


def _show(runs: Sequence[StoredRun], names: Sequence[str], rows: Sequence[ClauseRow]) -> None:
    columns = ("clause", "name", "level", *map(printable, names))
    table = [(r.clause.id, r.clause.name, r.clause.level, *(cell.verdict or "" for cell in r.cells)) for r in rows]
    print_table(f"{runs[0].protocol}: {len(runs)} implementations", columns, table)
    for run, name in zip(runs, names, strict=True):
        counts = ", ".join(f"{count} {verdict}" for verdict, count in run.counts.items()) or "no case"
        out.print(f"{printable(name)}: {counts} in {run.seconds:.1f} s", markup=False, highlight=False)
    if len({run.catalogue for run in runs}) > 1:
        err.print("these runs were judged by different versions of the clause catalogue", style="yellow")
