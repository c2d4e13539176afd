"""Explains a clause by two runs, which are made on demand: a mutant of the reference breaks the clause on the smallest
schedule found, and the reference itself keeps it there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from scatterproof import clause_text
from scatterproof.conformance.case import cases
from scatterproof.conformance.judge import Judging, judge
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.protocol import Case, load
from scatterproof.conformance.report.run import rows_of
from scatterproof.conformance.report.space_time import as_text, diagram
from scatterproof.conformance.verdict import ClauseResult, Verdict, Violation
from scatterproof.console import OK, Progress, out, print_json
from scatterproof.fuzz import protocol as plugins
from scatterproof.fuzz.kill_matrix import subjects_of
from scatterproof.fuzz.layers import Subject
from scatterproof.fuzz.shrink import shrink
from scatterproof.impl.protocol import load as implemented
from scatterproof.options import protocol_of, resolve
from scatterproof.spec import clauses
from scatterproof.spec.clauses import Clause, Layer
from scatterproof.spec.errors import BadInput
from scatterproof.spec.iut import Iut
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.trace import Trace

MOST_RUNS = 600  # of mutants, before one is found
SHRINK_RUNS = 200
_LINES = 24  # of a drawing: nobody reads a longer one in a terminal


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One run.

    iut: whose.
    sentence: what it shows.
    drawing: its space-time diagram up to there, or the last lines.
    """

    iut: str
    case: str
    sentence: str
    drawing: str


def explain(protocol: str | None, named: str, *, as_json: bool) -> int:
    """Print the clause, its TLA+ operator, and a run of each kind; returns the exit code. Raises BadInput for no such
    clause."""
    addressed = protocol_of([named])
    if addressed is not None and protocol is not None and resolve(protocol) != addressed:
        raise BadInput(f"{named} is of {addressed}, not of {protocol}; leave --protocol out")
    chosen = addressed or resolve(protocol)
    catalogue = clauses.load(chosen)
    clause = catalogue.clause(named.removeprefix(f"{chosen}/"))
    operator = clause_text.operator_of(chosen, clause.name) if Layer.TLC in clause.layers else None
    with Progress(f"looking for a run that breaks {clause.id}"):
        kept, broken, why_not = examples(chosen, clause)
    if as_json:
        print_json(
            {
                "clause": clause_text.as_dict(clause, catalogue),
                "operator": msgspec.to_builtins(operator),
                "kept": msgspec.to_builtins(kept),
                "broken": msgspec.to_builtins(broken),
                "why_not": why_not,
            }
        )
        return OK
    clause_text.show(clause, catalogue)
    out.print()
    clause_text.show_operator(clause, operator)
    for title, example in (("Kept", kept), ("Broken", broken)):
        if example is not None:
            out.print()
            _say(f"{title} by {example.iut}, with {example.case}:\n{example.sentence}\n\n{example.drawing}")
    if why_not:
        out.print()
        _say(why_not)
    return OK


def examples(protocol: str, clause: Clause) -> tuple[Example | None, Example | None, str]:
    """A run that keeps the clause, one that breaks it, and why one of them is missing."""
    if Layer.CHECK not in clause.layers:
        return None, None, f"No run can be shown: no check judges by it, {clause.not_yet[Layer.CHECK]}"
    reference = SimulatedIut("the reference", implemented(protocol).make_core)
    concerned = _cases_of(protocol, clause.id)
    found = _first_that_breaks(protocol, clause.id, concerned)
    if found is None:
        tried = (_kept(clause, reference, case.schedule, case.id) for case in concerned)
        kept = next(filter(None, tried), None)
        return kept, None, f"No mutant breaks it within {MOST_RUNS} runs of cases; `fuzz --mutants` tries more"
    mutant, case = found
    iut = SimulatedIut(f"mutant:{mutant.name}", mutant.make_node, mutant.max_events)

    def fails(schedule: Schedule) -> bool:
        return _violation(iut, schedule, clause.id) is not None

    small = shrink(case.schedule, fails, max_runs=SHRINK_RUNS).schedule
    violation = _violation(iut, small, clause.id)
    assert violation is not None
    loud = {violation.position, violation.witness}
    broken = Example(
        iut=f"{iut.name} ({mutant.sentence})",
        case=f"the schedule of {case.id}, made small",
        sentence=violation.sentence,
        drawing=_drawing(iut.run(small), loud, violation.position),
    )
    kept = _kept(clause, reference, small, "the same schedule") or _kept(clause, reference, case.schedule, case.id)
    return kept, broken, "" if kept else "The reference's run of that schedule does not put the clause at stake"


def _cases_of(protocol: str, clause: str) -> Sequence[Case]:
    """The cases about the clause, else those that put it at stake, else all."""
    everything = cases(protocol)
    own = [case for case in everything if case.clause == clause]
    return own or [case for case in everything if clause in case.at_stake] or everything


def _first_that_breaks(protocol: str, clause: str, concerned: Sequence[Case]) -> tuple[Subject, Case] | None:
    """The first mutant and case that break the clause; None for none. Mutants written by hand are tried first: people
    would make these mistakes."""
    subjects = subjects_of(plugins.load(protocol))
    subjects.sort(key=lambda subject: subject.operator != "hand-written")
    tries: Iterator[tuple[Subject, Case]] = ((subject, case) for subject in subjects for case in concerned)
    for _, (subject, case) in zip(range(MOST_RUNS), tries, strict=False):
        iut = SimulatedIut(subject.name, subject.make_node, subject.max_events)
        if _violation(iut, case.schedule, clause) is not None:
            return subject, case
    return None


def _violation(iut: Iut, schedule: Schedule, clause: str) -> Violation | None:
    found = _judged(iut.run(schedule), clause)
    return found.violations[0] if found is not None and found.violations else None


def _judged(trace: Trace, clause: str) -> ClauseResult | None:
    """The clause's result for the trace; None for a trace that no check may look at."""
    try:
        return next(result for result in judge(trace) if result.clause == clause)
    except BadInput:
        return None


def _kept(clause: Clause, iut: Iut, schedule: Schedule, case: str) -> Example | None:
    """The run up to the first row at which the clause was at stake and held; None where it was not."""
    trace = iut.run(schedule)
    found = _judged(trace, clause.id)
    if found is None or found.verdict is not Verdict.PASS:
        return None
    position = _first_held(trace, clause.id)
    time_ns = trace.column("time_ns")[position]
    sentence = f"{clause.id}, row {position} at {time_ns} ns: held there first, and at {rows_of(found.held)} in all"
    return Example(iut=iut.name, case=case, sentence=sentence, drawing=_drawing(trace, {position}, position))


def _first_held(trace: Trace, clause: str) -> int:
    number = next(n for n, check in enumerate(load(trace.header.protocol).checks) if check.clause == clause)
    judging = Judging(trace.header)
    for position, row in enumerate(trace.rows):
        judging.observe([row])
        if judging.held[number]:
            return position
    raise AssertionError(f"{clause} passes, and held at no row")


def _drawing(trace: Trace, loud: set[int], last: int) -> str:
    lines = as_text(diagram(trace, loud, last=last)).splitlines()
    if len(lines) <= _LINES:
        return "\n".join(lines)
    return "\n".join([lines[0], f"({len(lines) - _LINES} lines before)", *lines[1 - _LINES :]])


def _say(text: str) -> None:
    out.print(text, markup=False, highlight=False, soft_wrap=True)
