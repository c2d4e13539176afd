"""`scatterproof verify`: the main job, every layer, ending with a table of clauses against layers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from scatterproof.board import Board
from scatterproof.case_journal import alone_in
from scatterproof.console import CANNOT_RUN, INCONCLUSIVE, OK, VIOLATIONS, err, out, print_json, print_table
from scatterproof.layer_report import LayerReport, Status
from scatterproof.layers.beside import BESIDE
from scatterproof.layers.every import LAYERS
from scatterproof.layers.job import Depth, MainJob
from scatterproof.layers.main_job import ProtocolResult, run
from scatterproof.matrix import MatrixRow, matrix
from scatterproof.options import RESULTS, Json, Protocol, Results, Seed, resolve
from scatterproof.spec import clauses
from scatterproof.spec.errors import BadInput
from scatterproof.verify_page import write_page
from scatterproof.verify_page_parts import collect

NAMES = tuple(layer.name for layer in LAYERS)


def command(
    protocol: Protocol = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="In under a minute: cases in process, proofs, the smallest models.")
    ] = False,
    full: Annotated[
        bool,
        typer.Option("--full", help="All models, all cases over every transport, all mutants."),
    ] = False,
    require: Annotated[
        list[str] | None, typer.Option("--require", help=f"Fail when this layer cannot run: {', '.join(NAMES)}.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="Run this layer alone; may be repeated.")] = None,
    seed: Seed = 1,
    effort: Annotated[int, typer.Option("--effort", min=1, max=1000, help="Times as many schedules and runs.")] = 1,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            min=1,
            max=256,
            help="How many processes compute at once, and one more at the end; one a core if not given.",
        ),
    ] = None,
    results: Results = RESULTS,
    report: Annotated[Path, typer.Option("--report", help="Folder for index.html.")] = Path("report"),
    as_json: Json = False,
) -> None:
    """Run everything: models, proofs, cases over three transports, fuzzing, mutants, mining. The main job.

    Without --protocol, for all protocols, each with a page and a folder of results of its own. It says how long it will
    still take. What finds most in its time is done every day; --full does the rest, too, and --quick the least.
    """
    if quick and full:
        raise BadInput("--quick and --full are given; leave one of them out")
    depth = Depth.QUICK if quick else Depth.FULL if full else Depth.EVERYDAY
    required, named = _known("--require", require), _known("--only", only)
    chosen = [layer for layer in LAYERS if layer.name in named or not (named or (quick and not layer.quick))]
    protocols = (resolve(protocol),) if protocol is not None or len(clauses.protocols()) == 1 else clauses.protocols()
    one = len(protocols) == 1
    todo = [
        MainJob(protocol=name, seed=seed, results=results if one else results / name, depth=depth, effort=effort)
        for name in protocols
    ]
    with alone_in(results / "latest"), Board() as board:
        outcomes = run(todo, chosen, BESIDE, board, jobs or os.cpu_count() or 1)
    ended = [_ended(outcome, report if one else report / outcome.job.protocol) for outcome in outcomes]
    if as_json:
        found = [
            {"protocol": e.protocol, "seed": seed, "verdict": e.verdict, "layers": e.layers, "clauses": e.clauses}
            for e in ended
        ]
        print_json(found[0] if protocol is not None else found)
    for each in ended:
        if not as_json:
            _print(each)
        for layer in each.lacking(required):
            # On stderr where stdout is one JSON document.
            (err if as_json else out).print(f"{each.protocol}: required layer {layer} did not run", style="bold red")
    raise typer.Exit(_exit_code(ended, required))


@dataclass(frozen=True, slots=True)
class _Ended:
    """What the main job found for one protocol, and where its page is."""

    protocol: str
    title: str
    verdict: Status
    layers: list[LayerReport]
    clauses: tuple[MatrixRow, ...]
    page: Path

    def lacking(self, required: tuple[str, ...]) -> list[str]:
        return [one.layer for one in self.layers if one.layer in required and one.status is Status.NOT_RUN]


def _exit_code(ended: list[_Ended], required: tuple[str, ...]) -> int:
    verdicts = {one.verdict for one in ended}
    if Status.FAIL in verdicts:
        return VIOLATIONS
    if any(one.lacking(required) for one in ended) or verdicts - {Status.PASS, Status.INCONCLUSIVE}:
        return CANNOT_RUN
    return INCONCLUSIVE if Status.INCONCLUSIVE in verdicts else OK


def _ended(outcome: ProtocolResult, report: Path) -> _Ended:
    protocol, page = outcome.job.protocol, report / "index.html"
    catalogue = clauses.load(protocol)
    reports = list(outcome.reports)
    rows = matrix(catalogue, reports)
    (equivalence,), (coverage,) = (outcome.found.get(one.key, [None]) for one in BESIDE)
    parts = collect(protocol, page, equivalence, coverage)
    for sentence in parts.faults:
        err.print(f"{protocol}: {sentence}", style="bold red", markup=False, highlight=False)
    ended = write_page(page, catalogue, reports, rows, parts, outcome.job.seed)
    return _Ended(protocol, catalogue.title, ended, reports, rows, page)


def _known(option: str, names: list[str] | None) -> tuple[str, ...]:
    for name in names or ():
        if name not in NAMES:
            raise BadInput(f"{option} {name!r} is no layer; choose from: {', '.join(NAMES)}")
    return tuple(names or ())


def _print(ended: _Ended) -> None:
    print_table(
        f"{ended.title}: clauses against layers",
        ("clause", "name", *(report.title for report in ended.layers)),
        [(row.clause, row.name, *(cell.status for cell in row.cells)) for row in ended.clauses if not row.not_yet],
    )
    waiting = [row.clause for row in ended.clauses if row.not_yet]
    if waiting:
        out.print(f"not yet in any layer, {len(waiting)} clauses: {', '.join(waiting)}", highlight=False)
    print_table(
        "Layers",
        ("layer", "verdict", "s", "what was found"),
        [(report.layer, report.status, f"{report.seconds:.0f}", report.sentence) for report in ended.layers],
    )
    out.print(f"report: {ended.page}", markup=False, highlight=False)
