"""The conformance suite as `conform` runs it: the cases, what is written of them and shown, and the exit code."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from conformance.case import EVERYTHING, Case, CaseResult, protocol_of
from conformance.profile import Profile
from conformance.report import folder, html, junit, markdown, terminal
from conformance.report.run import ConformanceRun, folder_name
from conformance.verdict import Verdict
from scatterproof import iuts
from scatterproof.baseline import Baseline
from scatterproof.case_runs import run_cases
from scatterproof.console import CANNOT_RUN, OK, VIOLATIONS, Progress, err, out, print_json, print_table
from scatterproof.options import resolve
from scatterproof.small_runs import with_small
from spec import clauses
from spec.errors import BadInput
from spec.topology import Role

_SLOW = 3  # cases that are named though nobody asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """What is written beside the results folder; None where it was not asked for."""

    junit: Path | None = None
    html: Path | None = None
    summary: Path | None = None

    @property
    def given(self) -> dict[str, object]:
        return {"--junit": self.junit, "--html": self.html, "--summary": self.summary}

    def write(self, run: ConformanceRun) -> None:
        if self.junit is not None:
            junit.write(self.junit, run)
        if self.html is not None:
            html.write(self.html, run)
        if self.summary is not None:
            markdown.append(self.summary, run)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """baseline: which failures count. compared: whether the user gave one. durations: how many of the slowest cases are
    shown. shrink: for how many seconds failing cases are made small."""

    protocol: str
    iut: str
    selected: Sequence[Case]
    profile: Profile | None
    profile_file: Path | None
    baseline: Baseline
    compared: bool
    fail_fast: bool
    jobs: int
    durations: int
    results: Path
    shrink: float = 0

    def run(self) -> ConformanceRun:
        """Give the cases to the implementation; with `fail_fast` no further than to the first that fails."""
        profile = self.profile
        make_iut = iuts.maker(self.iut, self.protocol, profile.roles if profile else tuple(Role))
        found: list[CaseResult] = []
        seconds: dict[str, float] = {}
        count = len(self.selected)
        with Progress(f"{count} {'case' if count == 1 else 'cases'} for {self.iut}") as progress:
            progress(f"1 of {count}: {self.selected[0].id}")
            folder_of_cases = self.results / "latest"
            every = run_cases(self.selected, make_iut, profile or EVERYTHING, folder_of_cases, self.jobs)
            with closing(every) as runs:
                for number, (result, spent) in enumerate(runs, 1):
                    found.append(result)
                    seconds[result.case.id] = spent
                    if self.fail_fast and self.baseline.unexpected([result]):
                        break
                    if number < count:
                        progress(f"{number + 1} of {count}: {self.selected[number].id}")
            run = ConformanceRun(
                protocol=self.protocol,
                iut=self.iut,
                catalogue=clauses.load(self.protocol).version,
                results=tuple(found),
                profile=profile.name if profile else "",
                seconds=seconds,
                folder=str(folder_of_cases),
            )
            if self.shrink:
                smaller_iut = make_iut(folder_of_cases / "small")
                run = with_small(run, smaller_iut, profile or EVERYTHING, self.shrink, progress)
        return run

    def report(self, run: ConformanceRun, files: Files, *, as_json: bool) -> int:
        """Write and show the run; the exit code that it deserves."""
        folder.write(self.results / "latest", run)
        files.write(run)
        unexpected = self.baseline.unexpected(run.results)
        advice = [result for result in run.results if self.baseline.is_advice(result)]
        left_out = [case.id for case in self.selected[len(run.results) :]]
        if as_json:
            more = {
                "seeds": _seeds(run),
                "baseline": self.baseline.cases,
                "unexpected": unexpected,
                "advice": [result.case.id for result in advice],
                "not_given": left_out,
            }
            print_json({**folder.plain(run), **more})
        else:
            terminal.show(run, out)
            for sentence in unexpected if self.compared else ():
                _say(sentence)
            for result in advice:
                clause = ", ".join(result.blamed)
                _say(f"{result.case.id}: {result.verdict}, but {clause} only SHOULD be kept; --strict counts it")
            if left_out:
                _say(f"{len(left_out)} of {len(self.selected)} cases were not given: --fail-fast")
            self._show_durations(run)
            self._tell(run)
        return exit_code(run.results, unexpected)

    def _show_durations(self, run: ConformanceRun) -> None:
        if self.durations:
            slowest = _slowest(run, self.durations)
            print_table("The slowest cases", ("case", "s"), [(case, f"{seconds:.3f}") for case, seconds in slowest])

    def _tell(self, run: ConformanceRun) -> None:
        """Beside the results: how long it took, what it takes to have it again, and where to look."""
        slowest = ", ".join(f"{case} {seconds:.2f} s" for case, seconds in _slowest(run, _SLOW))
        _note(f"seed {', '.join(map(str, _seeds(run)))} in every case's schedule; the slowest: {slowest}")
        failed = next((result for result in run.results if self.baseline.counts(result)), None)
        if failed is not None:
            _note(f"the first that fails, again: {again(failed.case, self.iut, self.profile_file)}")
        _note(f"traces and a page are in {self.results / 'latest'}")


def protocol_meant(named: str | None, profile: Profile | None, case: Sequence[str] = ()) -> str:
    """The protocol meant: the one that the profile, the cases' addresses or the user names, who have to agree."""
    addressed = protocol_of(case)
    if profile is not None:
        for other in (named, addressed):
            if other is not None and resolve(other) != profile.protocol:
                raise BadInput(f"{profile.name}: is a profile of {profile.protocol}, not of {other}; leave {other} out")
        return profile.protocol
    if named is not None and addressed not in (None, resolve(named)):
        raise BadInput(f"--case names {addressed}, and --protocol {named}; leave --protocol out")
    return addressed or resolve(named)


def again(case: Case, iut: str, profile: Path | None) -> str:
    """The command that gives the case alone to the implementation: the same schedule, and so the same run of any
    implementation that is deterministic."""
    words = ["scatterproof", "conform", "--iut", iut, *(["--profile", str(profile)] if profile else [])]
    return shlex.join([*words, "--case", case.address])


def smaller(case: Case, iut: str, profile: Profile | None, results: Path) -> str | None:
    """The command that makes the case's schedule as small as it can be and still fail; None where the reference plays
    some nodes, as it would not then."""
    if profile is not None and profile.roles != frozenset(Role):
        return None
    schedule = results / "latest" / folder_name(case.id) / "schedule.json"
    return shlex.join(["scatterproof", "replay", str(schedule), "--iut", iut, "--shrink"])


def exit_code(results: Sequence[CaseResult], unexpected: Sequence[str]) -> int:
    """Violations win over what could not run: they are certain."""
    if unexpected:
        return VIOLATIONS
    if any(result.verdict is Verdict.NOT_RUN for result in results):
        return CANNOT_RUN
    # Where nothing was applicable nothing was run, and nothing may look like a pass.
    return CANNOT_RUN if all(result.verdict is Verdict.NOT_APPLICABLE for result in results) else OK


def _seeds(run: ConformanceRun) -> list[int]:
    return sorted({result.case.schedule.seed for result in run.results})


def _slowest(run: ConformanceRun, count: int) -> list[tuple[str, float]]:
    return sorted(run.seconds.items(), key=lambda item: -item[1])[:count]


def _say(sentence: str) -> None:
    out.print(sentence, markup=False, highlight=False)


def _note(sentence: str) -> None:
    err.print(sentence, markup=False, highlight=False, soft_wrap=True)
