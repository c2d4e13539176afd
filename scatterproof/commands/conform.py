"""`scatterproof conform`: the conformance cases, given to an implementation."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from conformance.case import EVERYTHING, Case, CaseResult, Claims, run_case, select
from conformance.profile import Profile, read_profile
from conformance.report import folder, html, junit, terminal
from conformance.report.run import ConformanceRun
from conformance.verdict import Verdict
from scatterproof import iuts
from scatterproof.baseline import Baseline, read_baseline
from scatterproof.conform_options import BaselineFile, CaseNames, HtmlFile, JunitFile, Logs, ProfileFile, ShowList
from scatterproof.console import CANNOT_RUN, OK, VIOLATIONS, Progress, err, out, print_json, print_table
from scatterproof.log_runs import judge_logs
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
from spec.topology import Role

ALL_ROLES = frozenset(Role)


def command(
    iut: IutName = "reference",
    iut_command: Annotated[str | None, typer.Option("--iut-command", help=IUT_COMMAND_HELP)] = None,
    case: CaseNames = None,
    show_list: ShowList = False,
    junit_file: JunitFile = None,
    html_file: HtmlFile = None,
    baseline_file: BaselineFile = None,
    profile_file: ProfileFile = None,
    logs: Logs = None,
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
    profile = read_profile(profile_file) if profile_file is not None else None
    chosen, claims = _protocol(protocol, profile), profile or EVERYTHING
    options = StressOptions(
        level=level, processes=processes, messages=messages, loss=loss, delay=delay, jitter=jitter, reorder=reorder,
        duplicate=duplicate, partition=partition, kill=kill, pause=pause, seconds=seconds, patience=patience, seed=seed,
    )  # fmt: skip
    of_cases: dict[str, object] = {
        "--iut": iut != "reference", "--case": case, "--list": show_list, "--junit": junit_file, "--html": html_file,
        "--baseline": baseline_file,
    }  # fmt: skip
    if iut_command is not None:
        _refuse({**of_cases, "--profile": profile, "--logs": logs}, "a case", "leave out --iut-command")
        _run_program(chosen, iut_command, options, results, as_json)
    _refuse(dict.fromkeys(options.given, True), "a program under stress", "add --iut-command")
    if logs is not None:
        _refuse(of_cases, "a case", "leave out --logs")
        meant = None if protocol is None and profile is None else chosen
        raise typer.Exit(judge_logs(logs, meant, claims, results / "latest" / "logs.ndjson", as_json))
    selected = select(chosen, case or ())
    if show_list:
        _list(selected, claims, as_json)
        return
    baseline = read_baseline(baseline_file, chosen) if baseline_file is not None else Baseline()
    run = _run(chosen, iut, selected, profile, results)
    if junit_file is not None:
        junit.write(junit_file, run)
    if html_file is not None:
        html.write(html_file, run)
    _report(run, results, baseline if baseline_file is not None else None, as_json)


def _protocol(named: str | None, profile: Profile | None) -> str:
    """The protocol meant: the profile's, which the one that is named has to be, too."""
    if profile is None:
        return resolve(named)
    if named is not None and resolve(named) != profile.protocol:
        raise BadInput(f"{profile.name}: is a profile of {profile.protocol}, not of {named}; leave --protocol out")
    return profile.protocol


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


def _refuse(options: Mapping[str, object], what: str, mend: str) -> None:
    """Refuse the options that are given, as they go with something else."""
    given = [name for name, value in options.items() if value]
    if given:
        raise BadInput(f"{', '.join(given)} goes with {what}; {mend}, or leave {given[0]} out")


def _run(
    protocol: str, iut_name: str, selected: Sequence[Case], profile: Profile | None, results: Path
) -> ConformanceRun:
    iut = iuts.find(iut_name, protocol, results / "latest", roles=profile.roles if profile else ALL_ROLES)
    found: list[CaseResult] = []
    seconds: dict[str, float] = {}
    with Progress(f"{len(selected)} cases for {iut_name}") as progress:
        for number, case in enumerate(selected, 1):
            progress(f"{number} of {len(selected)}: {case.id}")
            start = time.monotonic()
            found.append(run_case(case, iut, profile or EVERYTHING))
            seconds[case.id] = time.monotonic() - start
    return ConformanceRun(
        protocol=protocol,
        iut=iut_name,
        catalogue=clauses.load(protocol).version,
        results=tuple(found),
        profile=profile.name if profile else "",
        seconds=seconds,
    )


def _list(selected: Sequence[Case], claims: Claims, as_json: bool) -> None:
    if as_json:
        print_json(
            [
                {
                    "id": case.id,
                    "clause": case.clause,
                    "stimulus": case.stimulus,
                    "duty": case.duty,
                    "not_applicable": claims.why_not(case),
                }
                for case in selected
            ]
        )
        return
    rows = [(case.id, case.stimulus, case.duty) for case in selected if claims.why_not(case) is None]
    print_table("Cases", ("case", "stimulus", "duty"), rows)


def _exit_code(results: Sequence[CaseResult], unexpected: Sequence[str]) -> int:
    """Violations win over what could not run: they are certain."""
    if unexpected:
        return VIOLATIONS
    if any(result.verdict is Verdict.NOT_RUN for result in results):
        return CANNOT_RUN
    # Where nothing was applicable nothing was run, and nothing may look like a pass.
    return CANNOT_RUN if all(result.verdict is Verdict.NOT_APPLICABLE for result in results) else OK
