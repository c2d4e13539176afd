"""Conformance cases: a stimulus, the duty that it tests, and the verdict on an implementation that was given it."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass

from scatterproof.conformance.protocol import Case, load
from scatterproof.conformance.verdict import ClauseResult, Verdict, foremost
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.iut import Iut
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.trace import CLEAN, Kind, Trace, schema


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """results: one a clause of the catalogue; empty when the implementation could not be run.
    reason: why the verdict is not pass.
    trace: what the run left.
    blamed: the clauses for which it is not pass: those broken, or else those that were not at stake; none where
        something else kept it from passing.
    """

    case: Case
    verdict: Verdict
    reason: str
    results: tuple[ClauseResult, ...]
    trace: Trace | None
    blamed: tuple[str, ...] = ()


class Claims:
    """What an implementation claims: everything. `scatterproof.conformance.profile` reads from a file what others
    claim."""

    __slots__ = ()

    def why_not(self, case: Case) -> str | None:
        """Why the case is not given to the implementation, or None."""
        return None

    def why_not_schedule(self, schedule: Schedule) -> str | None:
        """Why the implementation cannot be asked to take part in a run of the schedule, or None."""
        return None

    def claims(self, clause: str) -> bool:
        return True

    def foreign(self, clause: str) -> str:
        """Why a run says nothing for the implementation when the clause holds; empty where it does."""
        return ""

    def of_claimed(self, results: Sequence[ClauseResult]) -> tuple[ClauseResult, ...]:
        """The results, without the clauses that are not claimed."""
        return tuple(results)

    def of_own(self, results: Sequence[ClauseResult]) -> tuple[ClauseResult, ...]:
        """The results, without what nodes that are not the implementation's have kept."""
        return tuple(results)

    def of_roles(self, found: CaseResult) -> CaseResult:
        """The result, without what nodes that are not the implementation's have kept."""
        return found


EVERYTHING = Claims()


def cases(protocol: str) -> tuple[Case, ...]:
    """The cases of `protocol`, in the order of its files; BadInput for an unknown one, CannotRun for one that has none
    yet."""
    return load(protocol).cases()


def select(protocol: str, patterns: Sequence[str] = (), among: Sequence[Case] | None = None) -> tuple[Case, ...]:
    """The cases that one of the patterns names: an id, a clause, either of them as an address (with the protocol before
    it), or any of these with * and ?; all when there is none. among: the protocol's, if left out."""
    everything = cases(protocol) if among is None else among
    for pattern in patterns:
        if not any(_named(case, pattern) for case in everything):
            known = [*dict.fromkeys(case.clause for case in everything), *(case.id for case in everything)]
            near = difflib.get_close_matches(pattern.removeprefix(f"{protocol}/"), known, n=3, cutoff=0.0)
            raise BadInput(
                f"no case is named {pattern!r} in {protocol}; near it are {', '.join(near)}; `conform --list` shows all"
            )
    return tuple(case for case in everything if not patterns or any(_named(case, pattern) for pattern in patterns))


def run_case(case: Case, iut: Iut, claims: Claims = EVERYTHING) -> CaseResult:
    """Run the case and judge its trace by every clause. An implementation that cannot be started here is not run, and
    one that does not claim what the case asks for is not given it: the case is not applicable."""
    from scatterproof.conformance.judge import judge  # late: a list of cases needs no judge, who imports a compiler

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
    verdict, reason, blamed = _verdict(case, at_stake, trace, results)
    found = CaseResult(case=case, verdict=verdict, reason=reason, results=results, trace=trace, blamed=blamed)
    return claims.of_roles(found)


def _named(case: Case, pattern: str) -> bool:
    of_clause = f"{case.schedule.protocol}/{case.clause}"
    return any(fnmatch.fnmatchcase(name, pattern) for name in (case.id, case.clause, case.address, of_clause))


def _verdict(
    case: Case, at_stake: Sequence[str], trace: Trace, results: Sequence[ClauseResult]
) -> tuple[Verdict, str, tuple[str, ...]]:
    """The verdict, the reason, and the clauses that are blamed. A violation of any clause fails the case. A run that
    was cut short, or did not put at stake what it should, is no pass."""
    failed = foremost(case.schedule.protocol, results, case.clause)
    if failed:
        return Verdict.FAIL, failed[0].violations[0].sentence, tuple(result.clause for result in failed)
    if not ended_as_planned(trace):
        return Verdict.INCONCLUSIVE, f"the run was cut short: {'; '.join(trace.notes) or 'nothing says why'}", ()
    idle = [result for result in results if result.clause in at_stake and result.verdict is not Verdict.PASS]
    if idle:
        blamed = tuple(result.clause for result in idle)
        return Verdict.INCONCLUSIVE, f"{idle[0].clause}: {idle[0].reason}", blamed
    return Verdict.PASS, "", ()


def ended_as_planned(trace: Trace) -> bool:
    if not trace.rows:
        return False
    columns = schema(trace.header.protocol)
    last = trace.rows[-1]
    flags = last[columns.index("flags")]
    return last[columns.index("kind")] == Kind.ENDED and flags >= 0 and bool(flags & CLEAN)
