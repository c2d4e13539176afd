"""`scatterproof conform`: the conformance cases, given to an implementation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from scatterproof import case_list, iuts
from scatterproof.baseline import Baseline, advised, read_baseline
from scatterproof.conform_options import (
    BaselineFile,
    CaseNames,
    DryRun,
    Durations,
    Explain,
    FailFast,
    HtmlFile,
    Jobs,
    JunitFile,
    Logs,
    ProfileFile,
    Resume,
    ShowList,
    Shrink,
    Strict,
    SummaryFile,
    protocol_meant,
)
from scatterproof.conformance.case import EVERYTHING, select
from scatterproof.conformance.profile import read_profile
from scatterproof.console import OK, Progress, print_json
from scatterproof.options import RESULTS, IutName, Json, Protocol, Results, refuse_file, resolve
from scatterproof.spec.errors import BadInput
from scatterproof.stress_options import IUT_COMMAND_HELP, StressOptions, with_stress

# What runs and judges is imported by the functions that do: a list of cases needs no compiler, and no page.
if TYPE_CHECKING:
    from scatterproof.suite import Files

SHRINK_SECONDS = 20.0  # where a page was asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformOptions:
    """The options of cases as they are given."""

    iut: str
    case: tuple[str, ...]
    show_list: bool
    dry_run: bool
    resume: bool
    strict: bool
    fail_fast: bool
    jobs: int
    durations: int
    shrink: float | None
    baseline: Path | None
    profile: Path | None
    results: Path
    junit: Path | None
    html: Path | None
    summary: Path | None
    as_json: bool

    @property
    def of_cases(self) -> dict[str, object]:
        """Those that say nothing of anything else, as they are written; true where they are given."""
        return {
            "--iut": self.iut != "reference",
            "--case": self.case,
            "--list": self.show_list,
            "--dry-run": self.dry_run,
            "--resume": self.resume,
            "--strict": self.strict,
            "--fail-fast": self.fail_fast,
            "--jobs": self.jobs > 1,
            "--durations": self.durations,
            "--shrink": self.shrink is not None,
            "--baseline": self.baseline,
        }

    @property
    def of_files(self) -> dict[str, Path | None]:
        """What is written beside the results folder, by option."""
        return {"--junit": self.junit, "--html": self.html, "--summary": self.summary}

    def files(self) -> Files:
        """The files to write; BadInput, before anything is run, for one that cannot be."""
        from scatterproof.suite import Files

        for option, path in self.of_files.items():
            refuse_file(option, path, self.results)
        return Files(junit=self.junit, html=self.html, summary=self.summary)


@with_stress
def command(
    iut: IutName = "reference",
    iut_command: Annotated[str | None, typer.Option("--iut-command", help=IUT_COMMAND_HELP)] = None,
    case: CaseNames = None,
    show_list: ShowList = False,
    dry_run: DryRun = False,
    explain: Explain = None,
    resume: Resume = False,
    strict: Strict = False,
    fail_fast: FailFast = False,
    jobs: Jobs = 1,
    durations: Durations = 0,
    junit_file: JunitFile = None,
    html_file: HtmlFile = None,
    shrink: Shrink = None,
    summary_file: SummaryFile = None,
    baseline_file: BaselineFile = None,
    profile_file: ProfileFile = None,
    logs: Logs = None,
    protocol: Protocol = None,
    results: Results = RESULTS,
    as_json: Json = False,
    *,
    stress: StressOptions,
) -> None:
    """Give the conformance cases to an implementation, or run a program under stress, and judge what it does."""
    how = ConformOptions(
        iut=iut, case=tuple(case or ()), show_list=show_list, dry_run=dry_run, resume=resume, strict=strict,
        fail_fast=fail_fast, jobs=jobs, durations=durations, shrink=shrink, baseline=baseline_file,
        profile=profile_file, results=results, junit=junit_file, html=html_file, summary=summary_file, as_json=as_json,
    )  # fmt: skip
    if explain is not None:
        from scatterproof.explain import explain as explain_clause

        raise typer.Exit(explain_clause(protocol, explain, as_json=as_json))
    if iut_command is not None:
        _refuse({**how.of_cases, **how.of_files, "--profile": profile_file, "--logs": logs}, "a case", "--iut-command")
        _run_program(resolve(protocol), iut_command, stress, results, as_json)
    if stress.given:
        raise BadInput(f"{', '.join(stress.given)} goes with a program under stress; add --iut-command")
    if logs is not None:
        _refuse(how.of_cases, "a case", "--logs")
        raise typer.Exit(_judge_logs(logs, protocol, how))
    raise typer.Exit(_run_cases(protocol, how))


def _run_cases(protocol: str | None, how: ConformOptions) -> int:
    """List the cases, say which would run, or run them; the exit code."""
    profile = read_profile(how.profile) if how.profile is not None else None
    chosen, among = protocol_meant(protocol, profile, how.case), None
    if how.iut.startswith(iuts.PRODUCT):
        from scatterproof.conformance.adapters.products import cases

        if how.shrink is not None:
            raise BadInput("--shrink goes with schedules, and a product has steps of its own; leave it out")
        product = iuts.product(how.iut, chosen)
        profile, among = profile or read_profile(product.profile), cases(product)
    claims, selected = profile or EVERYTHING, select(chosen, how.case, among)
    if how.show_list:
        case_list.show_list(chosen, selected, claims, as_json=how.as_json)
        return OK
    if how.dry_run:
        iuts.maker(how.iut, chosen)  # its errors name what is unknown
        return case_list.dry_run(how.iut, selected, claims, as_json=how.as_json)
    from scatterproof.suite import Suite

    known = read_baseline(how.baseline, chosen) if how.baseline is not None else ()
    suite = Suite(
        protocol=chosen,
        iut=how.iut,
        selected=selected,
        profile=profile,
        profile_file=how.profile,
        baseline=Baseline(known, frozenset() if how.strict else advised(chosen)),
        compared=how.baseline is not None,
        fail_fast=how.fail_fast,
        jobs=how.jobs,
        durations=how.durations,
        shrink=_seconds_to_shrink(how.shrink, how.html) if among is None else 0,
        resume=how.resume,
        results=how.results,
    )
    return suite.run_and_report(how.files(), as_json=how.as_json)


def _seconds_to_shrink(given: float | None, html_file: Path | None) -> float:
    if given is not None:
        return given
    return SHRINK_SECONDS if html_file is not None else 0


def _judge_logs(logs: Path, protocol: str | None, how: ConformOptions) -> int:
    from scatterproof.case_journal import alone_in
    from scatterproof.log_runs import judge_logs

    profile = read_profile(how.profile) if how.profile is not None else None
    meant = None if protocol is None and profile is None else protocol_meant(protocol, profile)
    latest, files = how.results / "latest", how.files()
    with alone_in(latest):
        kept = latest / "logs.ndjson"
        return judge_logs(logs, meant, profile or EVERYTHING, kept, files, as_json=how.as_json)


def _run_program(protocol: str, iut_command: str, options: StressOptions, results: Path, as_json: bool) -> NoReturn:
    from scatterproof.case_journal import alone_in
    from scatterproof.program_runs import exit_code, plain, refuse_commands, run_program, show

    refuse_commands(protocol, [iut_command], options)
    latest = results / "latest"
    place = latest / "programs"
    with alone_in(latest), Progress("programs under stress") as progress:
        found = run_program(protocol, iut_command, options, place, progress)
    if as_json:
        print_json(plain(found))
    else:
        show(found, place)
    raise typer.Exit(exit_code([found.judgement.verdict]))


def _refuse(options: Mapping[str, object], what: str, instead_of: str) -> None:
    """Raise BadInput for the options that are given: they go with `what`, and not with `instead_of`."""
    given = [name for name, value in options.items() if value]
    if given:
        raise BadInput(f"{', '.join(given)} goes with {what}; leave out {instead_of}, or leave {given[0]} out")
