"""`scatterproof conform`: the conformance cases, given to an implementation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from conformance.case import Case, CaseResult, run_case, select
from conformance.report import folder, html, junit, terminal
from conformance.report.run import ConformanceRun
from conformance.verdict import Verdict
from scatterproof import iuts
from scatterproof.baseline import Baseline, read_baseline
from scatterproof.console import CANNOT_RUN, OK, VIOLATIONS, Progress, err, out, print_json, print_table
from scatterproof.options import RESULTS, IutName, Json, Protocol, Results, resolve
from scatterproof.program_runs import failed, plain, run_program, show
from scatterproof.stress_options import (
    IUT_COMMAND_HELP,
    Delay,
    Duplicate,
    Jitter,
    Kill,
    Level,
    Loss,
    Messages,
    Partition,
    Patience,
    Pause,
    Processes,
    Reorder,
    Seconds,
    StressOptions,
    StressSeed,
)
from spec import clauses
from spec.errors import BadInput


def command(
    iut: IutName = "reference",
    iut_command: Annotated[str | None, typer.Option("--iut-command", help=IUT_COMMAND_HELP)] = None,
    case: Annotated[
        list[str] | None, typer.Option("--case", help="Only this case, or these: an id, a clause, or with * and ?.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the cases, and run none.")] = False,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file.")] = None,
    html_file: Annotated[Path | None, typer.Option("--html", help="Write a page to this file.")] = None,
    baseline_file: Annotated[
        Path | None,
        typer.Option("--baseline", help="Known failures, a case id a line: they do not count, but must still fail."),
    ] = None,
    level: Level = None,
    processes: Processes = None,
    messages: Messages = None,
    loss: Loss = None,
    delay: Delay = None,
    jitter: Jitter = None,
    reorder: Reorder = None,
    duplicate: Duplicate = None,
    partition: Partition = None,
    kill: Kill = None,
    pause: Pause = None,
    seconds: Seconds = None,
    patience: Patience = None,
    seed: StressSeed = None,
    protocol: Protocol = None,
    results: Results = RESULTS,
    as_json: Json = False,
) -> None:
    """Give the conformance cases to an implementation, or run a program under stress, and judge what it does."""
    chosen = resolve(protocol)
    options = StressOptions(
        level=level, processes=processes, messages=messages, loss=loss, delay=delay, jitter=jitter, reorder=reorder,
        duplicate=duplicate, partition=partition, kill=kill, pause=pause, seconds=seconds, patience=patience, seed=seed,
    )  # fmt: skip
    if iut_command is not None:
        others = {
            "--iut": iut != "reference",
            "--case": case,
            "--list": show_list,
            "--junit": junit_file,
            "--html": html_file,
        }
        _refuse([name for name, value in {**others, "--baseline": baseline_file}.items() if value], "a case", False)
        _run_program(chosen, iut_command, options, results, as_json)
    _refuse(options.given, "a program under stress", True)
    selected = select(chosen, case or ())
    if show_list:
        _list(selected, as_json)
        return
    baseline = read_baseline(baseline_file, chosen) if baseline_file is not None else Baseline()
    run = _run(chosen, iut, selected, results)
    if junit_file is not None:
        junit.write(junit_file, run)
    if html_file is not None:
        html.write(html_file, run)
    _report(run, results, baseline if baseline_file is not None else None, as_json)


def _report(run: ConformanceRun, results: Path, baseline: Baseline | None, as_json: bool) -> None:
    """Write and show the run, and exit as it deserves."""
    folder.write(results / "latest", run)
    known = baseline or Baseline()
    unexpected = known.unexpected(run.results)
    if as_json:
        print_json({**folder.plain(run), "baseline": known.cases, "unexpected": unexpected})
    else:
        terminal.show(run, out)
        for sentence in unexpected if baseline is not None else ():
            out.print(sentence, markup=False, highlight=False)
        err.print(f"traces and a page are in {results / 'latest'}", markup=False, highlight=False)
    raise typer.Exit(_exit_code(run.results, unexpected))


def _run_program(protocol: str, iut_command: str, options: StressOptions, results: Path, as_json: bool) -> NoReturn:
    place = results / "latest" / "programs"
    with Progress("programs under stress") as progress:
        found = run_program(protocol, iut_command, options, place, progress)
    if as_json:
        print_json(plain(found))
    else:
        show(found, place)
    raise typer.Exit(VIOLATIONS if failed(found) else OK)


def _refuse(names: Sequence[str], what: str, needs_command: bool) -> None:
    if names:
        mend = "add --iut-command" if needs_command else "leave out --iut-command"
        raise BadInput(f"{', '.join(names)} goes with {what}; {mend}, or leave {names[0]} out")


def _run(protocol: str, iut_name: str, selected: Sequence[Case], results: Path) -> ConformanceRun:
    iut = iuts.find(iut_name, protocol, results / "latest")
    found: list[CaseResult] = []
    seconds: dict[str, float] = {}
    with Progress(f"{len(selected)} cases for {iut_name}") as progress:
        for number, case in enumerate(selected, 1):
            progress(f"{number} of {len(selected)}: {case.id}")
            start = time.monotonic()
            found.append(run_case(case, iut))
            seconds[case.id] = time.monotonic() - start
    return ConformanceRun(
        protocol=protocol,
        iut=iut_name,
        catalogue=clauses.load(protocol).version,
        results=tuple(found),
        seconds=seconds,
    )


def _list(selected: Sequence[Case], as_json: bool) -> None:
    if as_json:
        print_json([{"id": c.id, "clause": c.clause, "stimulus": c.stimulus, "duty": c.duty} for c in selected])
    else:
        print_table("Cases", ("case", "stimulus", "duty"), [(c.id, c.stimulus, c.duty) for c in selected])


def _exit_code(results: Sequence[CaseResult], unexpected: Sequence[str]) -> int:
    """Violations win over what could not run: they are certain."""
    if unexpected:
        return VIOLATIONS
    if any(result.verdict is Verdict.NOT_RUN for result in results):
        return CANNOT_RUN
    return OK
