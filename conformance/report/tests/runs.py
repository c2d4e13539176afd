"""Runs to make pages of: one that passes, one that fails, and one with text that no page may obey."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from msgspec import structs

from scatterproof.conformance.case import CaseResult, cases, run_case
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.report.run import ConformanceRun, Small
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import RULES, make_core

NAMES = ("TO-MONO/one-instant", "TO-ORDER/ties", "TO-DELIVER/at-the-barrier", "TO-SW-PATH/two-processors")
FAILING = "TO-DELIVER/at-the-barrier"
# The end of a script and an image that fails, a text that is read backwards, and what terminals and XML obey.
NASTY = (
    "</script><img src=x onerror=alert(1)>\u202egnp.elbat\u202c \x00\x1b[31m\x07 ${1} {{ 7 * 7 }} \u2028 <!--<script>"
)

CASES = {case.id: case for case in cases("totalorder")}


@cache
def passing() -> ConformanceRun:
    iut = SimulatedIut("reference", make_core)
    results = tuple(run_case(CASES[name], iut) for name in NAMES)
    return ConformanceRun(
        protocol="totalorder", iut="reference", catalogue="1", results=results, folder="results/latest"
    )


@cache
def failing() -> ConformanceRun:
    """A message is delivered too early: its timestamp is at the barrier, not strictly below it."""
    rules = replace(RULES, deliverable=lambda timestamp, barrier: timestamp <= barrier)
    iut = SimulatedIut("hasty", lambda config: make_core(config, rules))
    results = tuple(run_case(CASES[name], iut) for name in NAMES)
    seconds = dict.fromkeys(NAMES, 0.25)
    run = ConformanceRun(protocol="totalorder", iut="hasty", catalogue="1", results=results, seconds=seconds)
    return replace(run, folder="results/latest")


@cache
def small() -> ConformanceRun:
    """The same, with one case made smaller by hand."""
    run = failing()
    rules = replace(RULES, deliverable=lambda timestamp, barrier: timestamp <= barrier)
    iut = SimulatedIut("hasty", lambda config: make_core(config, rules))
    whole = CASES[FAILING]
    schedule = structs.replace(whole.schedule, submissions=whole.schedule.submissions[:2])
    result = run_case(replace(whole, schedule=schedule), iut)
    assert result.trace is not None
    found = Small(schedule=schedule, trace=result.trace, results=result.results, runs=17, minimal=True)
    return replace(run, small={FAILING: found})


@cache
def nasty() -> ConformanceRun:
    """An implementation all of whose text contains what a browser might obey."""
    run = failing()
    told = []
    for result in run.results:
        trace = result.trace
        assert trace is not None
        nodes = tuple(structs.replace(node, name=NASTY) for node in trace.header.topology.nodes)
        topology = structs.replace(trace.header.topology, nodes=nodes)
        header = structs.replace(trace.header, topology=topology, notes=(NASTY,), iut=NASTY)
        clauses = tuple(
            structs.replace(
                clause,
                reason=NASTY,
                violations=tuple(structs.replace(one, sentence=NASTY) for one in clause.violations),
            )
            for clause in result.results
        )
        case = replace(result.case, schedule=structs.replace(result.case.schedule, topology=topology))
        told.append(
            replace(result, case=case, reason=NASTY, results=clauses, trace=structs.replace(trace, header=header))
        )
    told[0] = CaseResult(case=told[0].case, verdict=Verdict.INCONCLUSIVE, reason=NASTY, results=(), trace=None)
    return replace(run, iut=NASTY, profile=NASTY, results=tuple(told))
