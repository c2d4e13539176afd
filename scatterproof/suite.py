"""The conformance suite as `conform` runs it: the cases, what is written of them and shown, and the exit code."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from scatterproof import iuts
from scatterproof.baseline import Baseline
from scatterproof.case_journal import Journal, Whose, alone_in, profile_of
from scatterproof.case_runs import run_cases
from scatterproof.conformance.case import EVERYTHING, CaseResult
from scatterproof.conformance.profile import Profile
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.report import folder, html, junit, markdown, terminal
from scatterproof.conformance.report.run import ConformanceRun, folder_name
from scatterproof.conformance.verdict import Verdict
from scatterproof.console import CANNOT_RUN, INCONCLUSIVE, OK, VIOLATIONS, Progress, err, out, print_json, print_table
from scatterproof.iuts import MakeIut
from scatterproof.spec import clauses
from scatterproof.spec.topology import Role

_SLOW = 3  # slowest cases that are named without --durations


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """What is written beside the results folder; None where it was not asked for."""

    junit: Path | None = None
    html: Path | None = None
    summary: Path | None = None

    def write(self, run: ConformanceRun) -> None:
        if self.junit is not None:
            junit.write(self.junit, run)
        if self.html is not None:
            html.write(self.html, run)
        if self.summary is not None:
            markdown.append(self.summary, run)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """baseline: which failures count.
    compared: whether the user gave a baseline.
    durations: how many of the slowest cases are shown.
    shrink: for how many seconds failing cases are made small.
    resume: whether to take over the cases that an interrupted run has left in the folder.
    """

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
    resume: bool = False

    @property
    def latest(self) -> Path:
        return self.results / "latest"

    def run_and_report(self, files: Files, *, as_json: bool) -> int:
        """Run the suite, with nobody else in its folder, write and show the result, and return the exit code."""
        profile = self.profile
        make_iut = iuts.maker(self.iut, self.protocol, profile.roles if profile else tuple(Role))
        whose = Whose(
            protocol=self.protocol,
            iut=self.iut,
            profile=profile_of(self.profile_file),
            catalogue=clauses.load(self.protocol).version,
        )
        with alone_in(self.latest):
            journal = Journal(self.latest, whose, self.selected, resume=self.resume)
            try:
                run = self._run(make_iut, journal)
            except KeyboardInterrupt:
                _note("the same command goes on there with --resume")
                raise
            return self._report(run, files, as_json=as_json)

    def _run(self, make_iut: MakeIut, journal: Journal) -> ConformanceRun:
        """Give the cases to the implementation; with `fail_fast` none after the first failure."""
        profile = self.profile
        found = dict(journal.known)
        left = [case for case in self.selected if case.id not in found]
        first, count = len(found) + 1, len(self.selected)
        if found:
            _note(f"{len(found)} of {count} cases are known from the run that this one goes on with")
        with Progress(f"{count} {'case' if count == 1 else 'cases'} for {self.iut}") as progress:
            with closing(run_cases(left, make_iut, profile or EVERYTHING, self.latest, self.jobs)) as runs:
                for number, case in enumerate(left, first):
                    progress(f"case {number} of {count}: {case.id}")
                    one = next(runs)
                    journal.add(one)
                    found[case.id] = one
                    if self.fail_fast and self.baseline.unexpected([one.result]):
                        break
            known = [found[case.id] for case in self.selected if case.id in found]
            run = ConformanceRun(
                protocol=self.protocol,
                iut=self.iut,
                catalogue=clauses.load(self.protocol).version,
                results=tuple(one.result for one in known),
                profile=profile.name if profile else "",
                seconds={one.result.case.id: one.seconds for one in known},
                folder=str(self.latest),
            )
            if self.shrink:
                from scatterproof.small_runs import with_small  # late: it brings the fuzzer with it

                run = with_small(run, make_iut(self.latest / "small"), profile or EVERYTHING, self.shrink, progress)
        return run

    def _report(self, run: ConformanceRun, files: Files, *, as_json: bool) -> int:
        folder.finish(self.latest, run)
        files.write(run)
        unexpected = self.baseline.unexpected(run.results)
        advice = [result for result in run.results if self.baseline.is_advice(result)]
        given = {result.case.id for result in run.results}
        left_out = [case.id for case in self.selected if case.id not in given]
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
        return exit_code(run.results, self.baseline)

    def _show_durations(self, run: ConformanceRun) -> None:
        if self.durations:
            slowest = _slowest(run, self.durations)
            print_table("The slowest cases", ("case", "s"), [(case, f"{seconds:.3f}") for case, seconds in slowest])

    def _tell(self, run: ConformanceRun) -> None:
        """Say what stands beside the results: the slowest cases, how to run the first failure again, and where to
        look."""
        slowest = ", ".join(f"{case} {seconds:.2f} s" for case, seconds in _slowest(run, _SLOW))
        _note(f"seed {', '.join(map(str, _seeds(run)))} in every case's schedule; the slowest: {slowest}")
        failed = next((result for result in run.results if self.baseline.counts(result)), None)
        if failed is not None:
            _note(f"the first that does not pass, again: {again(failed.case, self.iut, self.profile_file)}")
        _note(f"traces and a page are in {self.latest}")


def again(case: Case, iut: str, profile: Path | None) -> str:
    """The command that gives the case alone to the implementation: the same schedule, and so the same run of any
    implementation that is deterministic."""
    words = ["scatterproof", "conform", "--iut", iut, *(["--profile", str(profile)] if profile else [])]
    return shlex.join([*words, "--case", case.address])


def smaller(case: Case, iut: str, profile: Profile | None, results: Path) -> str | None:
    """The command that makes the case's schedule as small as it can be and still fail; None where the reference plays
    some nodes, which the command would not know."""
    if profile is not None and profile.roles != frozenset(Role):
        return None
    schedule = results / "latest" / folder_name(case.id) / "schedule.json"
    return shlex.join(["scatterproof", "replay", str(schedule), "--iut", iut, "--shrink"])


def exit_code(results: Sequence[CaseResult], baseline: Baseline) -> int:
    """The gravest verdict decides: violations are certain. A suite that shows nothing must not look like a pass, even
    where no case was applicable."""
    if baseline.unexpected(results):
        return VIOLATIONS if baseline.violated(results) else INCONCLUSIVE
    found = {result.verdict for result in results}
    return CANNOT_RUN if Verdict.NOT_RUN in found or found == {Verdict.NOT_APPLICABLE} else OK


def _seeds(run: ConformanceRun) -> list[int]:
    return sorted({result.case.schedule.seed for result in run.results})


def _slowest(run: ConformanceRun, count: int) -> list[tuple[str, float]]:
    return sorted(run.seconds.items(), key=lambda item: -item[1])[:count]


def _say(sentence: str) -> None:
    out.print(sentence, markup=False, highlight=False)


def _note(sentence: str) -> None:
    err.print(sentence, markup=False, highlight=False, soft_wrap=True)
