"""The layers in which the reference implementation is given the conformance cases: in process, as processes on stdio,
and over real sockets, in real time."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

import msgspec

from scatterproof import iuts
from scatterproof.conformance.adapters.real_time import longest_s
from scatterproof.conformance.case import CaseResult, cases, ended_as_planned, run_case
from scatterproof.conformance.protocol import Case, programs_of
from scatterproof.conformance.report.run import broken, folder_name
from scatterproof.conformance.verdict import Verdict
from scatterproof.layer_report import LayerReport, Status, StatusCell, detail, gravest
from scatterproof.layers.job import OF_VERDICT, Found, Lane, MainJob, Unit, by_clause, report_of, shares
from scatterproof.program_layer import program_at, summarise_programs
from scatterproof.program_runs import reference_command
from scatterproof.spec.iut import Iut

IN_PROCESS, STDIO, UDP = "reference", "reference-stdio", "reference-udp"
REAL_TIME_TRIES = 3
CASES_TRIED = 2  # of a clause, over real sockets
CASES_A_UNIT = 6
NODE_STARTS_S = 0.15  # a process of Python
SIMULATED_S = 0.05  # a case in process
WAITED_FOR = 0.5  # of the longest that a run in real time may take


def in_process(job: MainJob) -> list[Unit]:
    everything = cases(job.protocol)
    return [Unit(text="cases", weight=SIMULATED_S * len(everything), work=partial(_give, IN_PROCESS, everything, job))]


def over_stdio(job: MainJob) -> list[Unit]:
    chosen = sorted(chain.from_iterable(_chosen(job, _nodes)), key=_nodes)
    return [
        Unit(
            text=f"{few[0].id} and {len(few) - 1} more",
            weight=NODE_STARTS_S * sum(map(_nodes, few)),
            work=partial(_give, STDIO, few, job),
        )
        for few in shares(chosen, CASES_A_UNIT)
    ]


def over_udp(job: MainJob) -> list[Unit]:
    """The cases over real sockets; of a protocol whose reference is a program, that program under stress, level by
    level."""
    command = reference_command(job.protocol)
    if command is not None:
        folder = job.results / "latest" / "programs"
        return [
            Unit(
                text=f"the program, {level}",
                weight=8.0,
                work=partial(program_at, job.protocol, command, level, job.seed, folder),
                lane=Lane.REAL_TIME,
            )
            for level in programs_of(job.protocol).levels
        ]
    return [
        Unit(
            text=some[0].id,
            weight=1.0 + WAITED_FOR * longest_s(some[0].schedule),
            work=partial(until_told, some, job),
            lane=Lane.REAL_TIME,
        )
        for some in _chosen(job, lambda case: longest_s(case.schedule), CASES_TRIED, why_not_in_real_time)
    ]


def until_told(some: Sequence[Case], job: MainJob) -> list[CaseResult]:
    """Give one case of a clause after another over real sockets, until one has a verdict: the machine decides whether a
    case's stimulus comes about. Where none has, the first, not run."""
    given: list[CaseResult] = []
    for case in some:
        given += _give(UDP, [case], job, _in_real_time)
        if given[-1].verdict is not Verdict.NOT_RUN:
            return given[-1:]
    return given[:1]


def why_not_in_real_time(case: Case) -> str:
    """Why an everyday run leaves this case over real sockets out; empty where it does not."""
    return "it asks for clocks that drift, and those of one machine do not" if _drifts(case) else ""


def _drifts(case: Case) -> bool:
    return any(clock.drift_ppb for clock in case.schedule.clocks)


def _nodes(case: Case) -> int:
    return len(case.schedule.topology.nodes)


def _chosen(
    job: MainJob, cost: Callable[[Case], float], at_most: int = 1, why_not: Callable[[Case], str] = lambda case: ""
) -> list[list[Case]]:
    """All cases in a full run, each by itself; else of each clause the cheapest of those that are of use."""
    everything = cases(job.protocol)
    if job.full:
        return [[case] for case in everything]
    cheapest: dict[str, list[Case]] = {case.clause: [] for case in everything}
    for case in sorted(everything, key=cost):
        if not why_not(case):
            cheapest[case.clause].append(case)
    return [some[:at_most] for some in cheapest.values() if some]


def _give(
    iut_name: str, some: Sequence[Case], job: MainJob, give: Callable[..., CaseResult] = run_case
) -> list[CaseResult]:
    """The result of each case, without its trace, which nobody needs here."""
    make_iut, folder = iuts.maker(iut_name, job.protocol), job.results / "latest" / iut_name
    return [replace(give(case, make_iut(folder / folder_name(case.id))), trace=None) for case in some]


def _in_real_time(case: Case, iut: Iut) -> CaseResult:
    """Give the case again when its run ended as planned and its stimulus did not come about: that is up to the machine,
    and in the end the case is not run."""
    for _ in range(REAL_TIME_TRIES):
        found = run_case(case, iut)
        if found.verdict is not Verdict.INCONCLUSIVE or found.trace is None or not ended_as_planned(found.trace):
            return found
    return replace(found, verdict=Verdict.NOT_RUN, reason=f"{REAL_TIME_TRIES} runs left it open: {found.reason}")


def report_in_process(job: MainJob, found: Found) -> LayerReport:
    return summarise_cases(IN_PROCESS, _together(found["conform"]))


def report_stdio(job: MainJob, found: Found) -> LayerReport:
    return summarise_cases(STDIO, _together(found["conform-stdio"]))


def report_udp(job: MainJob, found: Found) -> LayerReport:
    """A clause none of whose cases was given is not run, with the reason."""
    if reference_command(job.protocol) is not None:
        return summarise_programs(job.protocol, found["conform-udp"])
    report = summarise_cases(UDP, _together(found["conform-udp"]))
    left_out = {
        case.clause: StatusCell(Status.NOT_RUN, f"{case.id}: {why_not_in_real_time(case)}")
        for case in cases(job.protocol)
        if why_not_in_real_time(case)
    }
    return msgspec.structs.replace(report, cells=left_out | report.cells)


def _together(some: Sequence[Sequence[CaseResult]]) -> list[CaseResult]:
    return list(chain.from_iterable(some))


def summarise_cases(iut_name: str, results: Sequence[CaseResult]) -> LayerReport:
    """A clause passes with the cases that are about it; any case in which it is broken fails it."""
    parts = [(result.case.clause, OF_VERDICT[result.verdict]) for result in results]
    parts += [
        (judged.clause, Status.FAIL)
        for result in results
        for judged in result.results
        if judged.verdict is Verdict.FAIL and judged.clause != result.case.clause
    ]
    passed = sum(result.verdict is Verdict.PASS for result in results)
    ran = [result for result in results if result.verdict is not Verdict.NOT_RUN]
    status = gravest(OF_VERDICT[result.verdict] for result in ran or results)
    left_out = f"; {len(results) - len(ran)} not run, with the reason each" if len(ran) < len(results) else ""
    rows = [(r.case.id, r.verdict, r.case.stimulus, r.case.duty, r.reason) for r in results]
    again = [_explored(iut_name, result) for result in results]
    return report_of(
        Status.INCONCLUSIVE if status is Status.NONE else status,
        f"{passed} of {len(results)} cases passed by {iut_name}{left_out}",
        by_clause(parts, "case"),
        detail(f"Cases given to {iut_name}", ("case", "verdict", "stimulus", "duty", "reason"), rows, again),
    )


def _explored(iut: str, result: CaseResult) -> str:
    """The commands that give a failing case again, and open the explorer at the row that breaks a clause."""
    found = broken(result)
    if not found:
        return ""
    trace = f"results/latest/{folder_name(result.case.id)}/trace.ndjson"
    give = shlex.join(["scatterproof", "conform", "--case", result.case.address, "--iut", iut])
    return f"{give}; {shlex.join(['scatterproof', 'explore', trace, '--row', str(found[0].violations[0].position)])}"
