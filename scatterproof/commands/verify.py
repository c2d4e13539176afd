"""`scatterproof verify`: the main job, every layer, ending with a table of clauses against layers."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from models.expected import ModelResult
from scatterproof.board import Board
from scatterproof.console import CANNOT_RUN, OK, VIOLATIONS, Progress, err, out, print_json, print_table
from scatterproof.layer_report import LayerReport, Status
from scatterproof.layers import LAYERS, Job, Layer, run_layer
from scatterproof.matrix import MatrixRow, matrix
from scatterproof.options import RESULTS, Json, Protocol, Results, Seed, resolve
from scatterproof.verify_page import write_page
from scatterproof.verify_page_parts import collect
from spec import clauses
from spec.errors import BadInput

NAMES = tuple(layer.name for layer in LAYERS)
# TLC is a process of its own, so that it runs beside the layers that are Python.
_BESIDE = frozenset({"tlc"})


def command(
    protocol: Protocol = None,
    require: Annotated[
        list[str] | None, typer.Option("--require", help=f"Fail when this layer cannot run: {', '.join(NAMES)}.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="Run this layer alone; may be repeated.")] = None,
    seed: Seed = 1,
    effort: Annotated[int, typer.Option("--effort", min=1, help="Times as many schedules and runs.")] = 1,
    results: Results = RESULTS,
    report: Annotated[Path, typer.Option("--report", help="Folder for index.html.")] = Path("report"),
    as_json: Json = False,
) -> None:
    """Run everything: models, proofs, cases over three transports, fuzzing, mutants, mining. The main job.

    Without --protocol, for one protocol after another, each with a page and a folder of results of its own.
    """
    required, chosen = _known("--require", require), _known("--only", only) or NAMES
    named = (resolve(protocol),) if protocol is not None or len(clauses.protocols()) == 1 else clauses.protocols()
    ended = []
    for name in named:
        beneath = name if len(named) > 1 else ""
        ended.append(_verify(clauses.load(name), chosen, seed, effort, results / beneath, report / beneath))
    if as_json:
        found = [
            {"protocol": e.protocol, "seed": seed, "verdict": e.verdict, "layers": e.layers, "clauses": e.clauses}
            for e in ended
        ]
        print_json(found[0] if protocol is not None else found)
    for one in ended:
        if not as_json:
            _print(one)
        for layer in one.lacking(required):
            # On stderr where stdout is one JSON document.
            (err if as_json else out).print(f"{one.protocol}: required layer {layer} did not run", style="bold red")
    if any(one.verdict is not Status.PASS for one in ended):
        raise typer.Exit(VIOLATIONS)
    raise typer.Exit(CANNOT_RUN if any(one.lacking(required) for one in ended) else OK)


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


def _verify(
    catalogue: clauses.Catalogue, chosen: tuple[str, ...], seed: int, effort: int, results: Path, report: Path
) -> _Ended:
    models: Future[list[ModelResult]] | None = Future() if "tlc" in chosen else None
    job = Job(protocol=catalogue.protocol, seed=seed, results=results, effort=effort, models=models)
    reports = _run([layer for layer in LAYERS if layer.name in chosen], job)
    rows = matrix(catalogue, reports)
    page = report / "index.html"
    ran = [one.layer for one in reports if one.status is not Status.NOT_RUN]
    with Progress("Parts of the report") as progress:
        parts = collect(catalogue.protocol, ran, page, results, progress)
    for sentence in parts.faults:
        err.print(f"{catalogue.protocol}: {sentence}", style="bold red", markup=False, highlight=False)
    ended = write_page(page, catalogue, reports, rows, parts, seed)
    return _Ended(catalogue.protocol, catalogue.title, ended, reports, rows, page)


def _known(option: str, names: list[str] | None) -> tuple[str, ...]:
    for name in names or ():
        if name not in NAMES:
            raise BadInput(f"{option} {name!r} is no layer; choose from: {', '.join(NAMES)}")
    return tuple(names or ())


def _run(layers: list[Layer], job: Job) -> list[LayerReport]:
    """Run the layers; those that are processes of their own beside the others."""
    with Board([layer.name for layer in layers]) as board, ThreadPoolExecutor(max_workers=1) as pool:

        def one(layer: Layer) -> LayerReport:
            board.begin(layer.name)
            report = run_layer(layer, job, lambda text: board.say(layer.name, text))
            board.end(report)
            return report

        beside: dict[str, Future[LayerReport]] = {
            layer.name: pool.submit(one, layer) for layer in layers if layer.name in _BESIDE
        }
        here = {layer.name: one(layer) for layer in layers if layer.name not in beside}
        here |= {name: future.result() for name, future in beside.items()}
    return [here[layer.name] for layer in layers]


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
