"""Failing conformance cases made small, so that a report shows no more than it takes to fail."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from scatterproof.conformance.case import CaseResult, Claims
from scatterproof.conformance.judge import judge
from scatterproof.conformance.report.run import ConformanceRun, Small, broken
from scatterproof.conformance.verdict import Verdict
from scatterproof.fuzz.fuzzer import violations_of
from scatterproof.fuzz.shrink import shrink
from scatterproof.spec.errors import ScatterproofError
from scatterproof.spec.iut import Iut
from scatterproof.spec.schedule import Schedule

MAX_RUNS = 2000  # of one case


def with_small(
    run: ConformanceRun,
    iut: Iut,
    claims: Claims,
    seconds: float,
    say: Callable[[str], None] = lambda text: None,
    clock: Callable[[], float] = time.monotonic,
) -> ConformanceRun:
    """The run with its failing cases made small, within `seconds`. All have an equal share; what one leaves over goes
    to later ones. clock: seconds, from any start."""
    failing = [result for result in run.results if broken(result)]
    end = clock() + seconds
    found: dict[str, Small] = {}
    for number, result in enumerate(failing):
        say(f"making failures small, {number + 1} of {len(failing)}: {result.case.id}")
        until = clock() + (end - clock()) / (len(failing) - number)
        small = _small(result, iut, claims, lambda until=until: clock() >= until)  # type: ignore[misc]
        if small is not None:
            found[result.case.id] = small
    return replace(run, small=found)


def _small(result: CaseResult, iut: Iut, claims: Claims, is_over: Callable[[], bool]) -> Small | None:
    """The case made small; None where nothing smaller was found, or where it does not fail when it is tried again."""
    clause = broken(result)[0].clause

    def fails(candidate: Schedule) -> bool:
        try:
            return clause in violations_of(iut.run(candidate))
        except ScatterproofError:
            return False  # not a schedule that this implementation, or its checks, can do anything with

    whole = result.case.schedule
    shrunk = shrink(whole, fails, max_runs=MAX_RUNS, is_over=is_over)
    if shrunk.schedule == whole and not shrunk.minimal:
        return None
    try:
        trace = iut.run(shrunk.schedule)
        results = claims.of_claimed(judge(trace))
    except ScatterproofError:
        return None
    if not any(one.clause == clause and one.verdict is Verdict.FAIL for one in results):
        return None
    return Small(
        schedule=shrunk.schedule,
        trace=trace,
        results=results,
        runs=shrunk.runs,
        minimal=shrunk.minimal,
    )
