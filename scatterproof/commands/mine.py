"""`scatterproof mine`: the compiled checks over a corpus, in Spark tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scatterproof.console import OK, VIOLATIONS, Progress, out, print_json, print_table
from scatterproof.options import Json, Master, Protocol, resolve
from spark.arrange import is_corpus
from spark.importing.mapping import no_mapping, read_mapping
from spark.mine import MineResult, mine
from spark.session import MASTER
from spec.errors import BadInput

SHOWN = 20


def command(
    corpus: Annotated[
        Path, typer.Argument(help="Folder that `corpus` or `import` has written, or Parquet files in any layout.")
    ],
    mapping: Annotated[
        Path | None,
        typer.Option("--mapping", help="TOML file for files in a layout of your own; they are sorted first."),
    ] = None,
    protocol: Protocol = None,
    master: Master = MASTER,
    as_json: Json = False,
) -> None:
    """Judge every run of a corpus by every clause; violations and a report are kept in the corpus's folder `mined`."""
    own = None
    if mapping is not None or not is_corpus(corpus):
        chosen = resolve(protocol)
        own = no_mapping(chosen) if mapping is None else read_mapping(mapping, chosen)
    with Progress(f"Mining {corpus}") as progress:
        result = mine(
            corpus, master, on_progress=lambda done, total: progress(f"{done} of {total} events"), mapping=own
        )
    if protocol is not None and resolve(protocol) != result.protocol:
        raise BadInput(f"{corpus}: holds traces of {result.protocol}, not of {protocol}; leave --protocol out")
    if as_json:
        print_json(result)
    else:
        _print(result)
    raise typer.Exit(OK if result.holds else VIOLATIONS)


def _print(result: MineResult) -> None:
    rows = [
        (clause.clause, clause.name, clause.verdict, clause.held, clause.broken, clause.reason)
        for clause in result.clauses
    ]
    print_table(
        f"{result.runs} runs, {result.events} events, {result.violations} violations",
        ("clause", "name", "verdict", "held", "broken", "why"),
        rows,
    )
    found = result.table().slice(0, SHOWN).to_pylist()
    for violation in found:
        out.print(f"run {violation['run']}: {violation['sentence']}", markup=False, highlight=False)
    if result.violations > len(found):
        out.print(f"and {result.violations - len(found)} more in {result.path}/mined/violations", highlight=False)
    if found:
        out.print(f"replay the first: {found[0]['replay']}", markup=False, highlight=False, soft_wrap=True)
    if result.quarantined:
        said = f"{result.quarantined} rows could not be read ({result.path}/quarantine)"
        out.print(f"{said}: the runs that they belong to are inconclusive", markup=False, highlight=False)
    if result.coverage is not None:
        for what, part in (("clauses at stake", result.coverage.clauses), ("actions", result.coverage.actions)):
            never = f"; never: {', '.join(part.never)}" if part.never else ""
            out.print(f"{what}: {len(part.counts)}{never}", markup=False, highlight=False)
    out.print(f"report: {result.path}/mined/report.html", markup=False, highlight=False)
