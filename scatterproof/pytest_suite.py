"""The cases of an implementation as pytest's tests, named scatterproof::CLAUSE::case.

A case that fails, and one that is inconclusive, is a failed test: an implementation that does nothing must not pass. So
is one that cannot be run. One that is not applicable is skipped, with the reason. One that breaks nothing but what
SHOULD be kept is an expected failure, unless the suite is strict. A session in which nothing of the suite was
applicable ends as one without tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scatterproof import iuts
from scatterproof.baseline import Baseline, advised
from scatterproof.case_journal import alone_in
from scatterproof.case_runs import run_cases
from scatterproof.conform_options import protocol_meant
from scatterproof.conformance.case import EVERYTHING, CaseResult, select
from scatterproof.conformance.profile import Profile, read_profile
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.report import folder
from scatterproof.conformance.report.run import broken, folder_name, printable
from scatterproof.conformance.verdict import Verdict
from scatterproof.options import RESULTS
from scatterproof.pytest_names import PREFIX
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.topology import Role
from scatterproof.suite import again, smaller

SHOWN = 3  # violations of a clause that are shown; the trace has them all


def suite_of(config: pytest.Config, picked: Sequence[str]) -> SuitePlugin:
    """The plugin that collects the cases that the options ask for, or those of them that node ids pick."""
    iut: str = config.getoption("--scatterproof-iut")
    profile_file = config.getoption("--scatterproof-profile")
    patterns = [*config.getoption("--scatterproof-case"), *map(_pattern, picked)]
    try:
        profile = read_profile(Path(profile_file)) if profile_file is not None else None
        protocol = protocol_meant(config.getoption("--scatterproof-protocol"), profile, patterns)
        suite = PytestSuite(
            iut=iut,
            make_iut=iuts.maker(iut, protocol, profile.roles if profile else tuple(Role)),
            cases=select(protocol, patterns),
            profile=profile,
            profile_file=Path(profile_file) if profile_file is not None else None,
            baseline=Baseline((), frozenset() if config.getoption("--scatterproof-strict") else advised(protocol)),
            results=Path(config.getoption("--scatterproof-results") or RESULTS),
        )
    except BadInput as error:
        raise pytest.UsageError(str(error)) from None
    except CannotRun as error:
        pytest.exit(str(error), returncode=error.exit_code)
    return SuitePlugin(suite)


def _pattern(nodeid: str) -> str:
    """The pattern of the cases under a node id: a case, a clause, or the suite."""
    return nodeid.removeprefix(PREFIX).replace("::", "/") or "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class PytestSuite:
    """The cases, and the implementation that they are given to. baseline: what counts as a failure."""

    iut: str
    make_iut: iuts.MakeIut
    cases: Sequence[Case]
    profile: Profile | None
    profile_file: Path | None
    baseline: Baseline
    results: Path

    def give(self, case: Case) -> CaseResult:
        """Run the case; its schedule and its trace are kept as `conform` keeps them."""
        latest = self.results / "latest"
        ((result, _),) = run_cases([case], self.make_iut, self.profile or EVERYTHING, latest)
        folder.write_case(latest, result)
        return result

    def told(self, result: CaseResult) -> str:
        """Why the case is no pass: what was asked, every violation in words, and how to run it again."""
        case = result.case
        lines = [f"{result.verdict}: {result.reason}", f"When {case.stimulus}, it {case.duty}."]
        for clause in broken(result):
            lines += [violation.sentence for violation in clause.violations[:SHOWN]]
            if clause.broken > SHOWN:
                lines.append(f"{clause.clause} is broken in {clause.broken - SHOWN} rows more")
        lines.append(f"again: {again(case, self.iut, self.profile_file)}")
        shrinking = smaller(case, self.iut, self.profile, self.results)
        if shrinking is not None:
            lines.append(f"smaller: {shrinking}")
        if result.trace is not None:
            lines.append(f"trace: {self.results / 'latest' / folder_name(case.id) / 'trace.ndjson'}")
        return printable("\n".join(lines))


class SuitePlugin:
    """Collects the suite beside the user's own tests, if there are any."""

    def __init__(self, suite: PytestSuite) -> None:
        self._suite = suite
        self._outcomes: Counter[str] = Counter()

    def pytest_report_header(self) -> str:
        suite = self._suite
        claimed = f", as claimed in {suite.profile.name}" if suite.profile else ""
        seeds = ", ".join(map(str, sorted({case.schedule.seed for case in suite.cases})))
        return f"scatterproof: {suite.iut}, {len(suite.cases)} cases{claimed}, seed {seeds} in every schedule"

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if isinstance(collector, pytest.Session) and report.result is not None:
            root = SuiteNode.from_parent(collector, name=PREFIX.rstrip(":"), nodeid=PREFIX.rstrip(":"))
            root.suite = self._suite
            report.result.append(root)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Keep other runs out of the results; workers of pytest-xdist write for the session that started them."""
        if session.config.option.collectonly or hasattr(session.config, "workerinput"):
            return (yield)
        try:
            with alone_in(self._suite.results / "latest"):
                return (yield)
        except CannotRun as error:
            pytest.exit(str(error), returncode=error.exit_code)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.nodeid.startswith(PREFIX) and report.when == "call":
            self._outcomes["xfailed" if hasattr(report, "wasxfail") else report.outcome] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.OK and set(self._outcomes) == {"skipped"}:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if set(self._outcomes) == {"skipped"}:
            terminalreporter.write_line("scatterproof: no case was applicable, so that nothing was tried: no pass")


class SuiteNode(pytest.Collector):
    """All clauses of the suite."""

    suite: PytestSuite

    def collect(self) -> Iterator[pytest.Collector]:
        by_clause: dict[str, list[Case]] = {}
        for case in self.suite.cases:
            by_clause.setdefault(case.clause, []).append(case)
        for clause, chosen in by_clause.items():
            node = ClauseNode.from_parent(self, name=clause)
            node.suite, node.cases = self.suite, chosen
            yield node


class ClauseNode(pytest.Collector):
    """The cases of one clause."""

    suite: PytestSuite
    cases: Sequence[Case]

    def collect(self) -> Iterator[pytest.Item]:
        for case in self.cases:
            item = CaseItem.from_parent(self, name=case.id.removeprefix(f"{case.clause}/"))
            item.suite, item.case = self.suite, case
            yield item


class NotKept(Exception):
    """A case that is no pass; the text says why."""


class CaseItem(pytest.Item):
    """One case."""

    suite: PytestSuite
    case: Case

    def runtest(self) -> None:
        result = self.suite.give(self.case)
        if result.verdict is Verdict.NOT_APPLICABLE:
            pytest.skip(printable(result.reason))
        if self.suite.baseline.is_advice(result):
            pytest.xfail(f"{', '.join(result.blamed)} only SHOULD be kept: {printable(result.reason)}")
        if result.verdict is not Verdict.PASS:
            raise NotKept(self.suite.told(result))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: object, **__: object) -> Any:
        """The text alone: where in our code it was raised is nothing to the user."""
        if isinstance(excinfo.value, NotKept):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.nodeid
