"""Conformance cases: a stimulus, the duty that it tests, and the verdict on an implementation that was given it."""

from __future__ import annotations

import fnmatch
import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from conformance.judge import judge
from conformance.verdict import ClauseResult, Verdict
from spec.errors import BadInput, CannotRun
from spec.iut import Iut
from spec.schedule import Schedule
from spec.trace import CLEAN, Kind, Trace, schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """id: clause and a word or two, TO-DELIVER/at-the-barrier. stimulus: what is done, as a sentence. duty: what the
    implementation has to do then. at_stake: the clauses that the run must put at stake, its own among them, so that a
    run in which nothing happens is no pass."""

    id: str
    clause: str
    stimulus: str
    duty: str
    schedule: Schedule
    at_stake: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """results: one a clause of the catalogue; empty when the implementation could not be run. reason: why the verdict
    is not pass. trace: what the run left."""

    case: Case
    verdict: Verdict
    reason: str
    results: tuple[ClauseResult, ...]
    trace: Trace | None


class Claims:
    """What an implementation claims: everything. `conformance.profile` reads from a file what others claim."""

    __slots__ = ()

    def why_not(self, case: Case) -> str | None:
        """Why the case is not given to the implementation, or None."""
        return None

    def claims(self, clause: str) -> bool:
        return True

    def of_claimed(self, results: Sequence[ClauseResult]) -> tuple[ClauseResult, ...]:
        """The results, without the clauses that are not claimed."""
        return tuple(results)

    def of_roles(self, found: CaseResult) -> CaseResult:
        """The result, without what nodes that are not the implementation's have kept."""
        return found


EVERYTHING = Claims()


@cache
def cases(protocol: str) -> tuple[Case, ...]:
    """The cases of `protocol`, in the order of its file; BadInput for a protocol without any."""
    schema(protocol)  # its error names the protocols there are
    if importlib.util.find_spec(f"conformance.{protocol}.cases") is None:
        raise BadInput(f"protocol {protocol!r} has no conformance cases yet")
    found: tuple[Case, ...] = importlib.import_module(f"conformance.{protocol}.cases").CASES
    return found


def select(protocol: str, patterns: Sequence[str] = ()) -> tuple[Case, ...]:
    """The cases that one of the patterns names: an id, a clause, or either with * and ?; all when there is none."""
    everything = cases(protocol)
    for pattern in patterns:
        if not any(_named(case, pattern) for case in everything):
            known = ", ".join(dict.fromkeys(case.clause for case in everything))
            raise BadInput(f"no case is named {pattern!r}; give an id, a clause ({known}), or a pattern such as 'TO-*'")
    return tuple(case for case in everything if not patterns or any(_named(case, pattern) for pattern in patterns))


def run_case(case: Case, iut: Iut, claims: Claims = EVERYTHING) -> CaseResult:
    """Run the case and judge its trace by every clause. An implementation that cannot be started here is not run, and
    one that does not claim what the case asks for is not given it: the case is not applicable."""
    unclaimed = claims.why_not(case)
    if unclaimed is not None:
        return CaseResult(case=case, verdict=Verdict.NOT_APPLICABLE, reason=unclaimed, results=(), trace=None)
    try:
        trace = iut.run(case.schedule)
    except CannotRun as error:
        return CaseResult(case=case, verdict=Verdict.NOT_RUN, reason=str(error), results=(), trace=None)
    try:
        results = claims.of_claimed(judge(trace, place=f"{iut.name}'s trace of {case.id}"))
    except BadInput as error:
        return CaseResult(case=case, verdict=Verdict.INCONCLUSIVE, reason=str(error), results=(), trace=trace)
    at_stake = [clause for clause in case.at_stake if claims.claims(clause)]
    verdict, reason = _verdict(case, at_stake, trace, results)
    found = CaseResult(case=case, verdict=verdict, reason=reason, results=results, trace=trace)
    return claims.of_roles(found)


def _named(case: Case, pattern: str) -> bool:
    return fnmatch.fnmatchcase(case.id, pattern) or fnmatch.fnmatchcase(case.clause, pattern)


def _verdict(case: Case, at_stake: Sequence[str], trace: Trace, results: Sequence[ClauseResult]) -> tuple[Verdict, str]:
    """A violation of any clause fails the case; a run that was cut short, or did not put at stake what it should, is no
    pass."""
    failed = [result for result in results if result.verdict is Verdict.FAIL]
    if failed:
        own = next((result for result in failed if result.clause == case.clause), failed[0])
        return Verdict.FAIL, own.violations[0].sentence
    if not _ended_as_planned(trace):
        return Verdict.INCONCLUSIVE, f"the run was cut short: {'; '.join(trace.notes) or 'nothing says why'}"
    for result in results:
        if result.clause in at_stake and result.verdict is not Verdict.PASS:
            return Verdict.INCONCLUSIVE, f"{result.clause}: {result.reason}"
    return Verdict.PASS, ""


def _ended_as_planned(trace: Trace) -> bool:
    if not trace.rows:
        return False
    columns = schema(trace.header.protocol)
    last = trace.rows[-1]
    flags = last[columns.index("flags")]
    return last[columns.index("kind")] == Kind.ENDED and flags >= 0 and bool(flags & CLEAN)
