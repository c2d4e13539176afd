"""The layers that a mutant is tried in: the columns of the kill matrix, each a function of (bench, subject)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from scatterproof.conformance.case import cases, run_case
from scatterproof.conformance.judge import judge, judge_by_oracles
from scatterproof.conformance.network.run import MakeNode, SimulatedIut
from scatterproof.conformance.network.simulator import MAX_EVENTS
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.fuzz.corpus import drawn_schedules
from scatterproof.fuzz.fuzzer import RUN_ENDS, broken_by, digest, ends_as_planned, violations_of
from scatterproof.fuzz.machines import first_failure
from scatterproof.fuzz.protocol import FuzzPlugin, load
from scatterproof.fuzz.shrink import shrink
from scatterproof.models.claim import Claim, first_refuted, prove_under
from scatterproof.models.expected import Model, ModelResult, check_model, models_of
from scatterproof.models.java import find_java
from scatterproof.models.tlc import TlcOutcome as TlcOutcome
from scatterproof.models.trace_validation import Judgement, validate_all
from scatterproof.models.z3_claims import claims_of
from scatterproof.spec.clauses import load as load_clauses
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Schedule, write
from scatterproof.spec.trace import Row, Trace

# Schedules tried before a mutant counts as surviving; every mutant that a run can show does so within a tenth of them.
FUZZED = 150
# Schedules that checks and oracles see beside the one that fuzzing found.
JUDGED = 8
SEEDS = 3
Z3_TIMEOUT_MS = 2_000


class KillOutcome(StrEnum):
    KILLED = "killed"
    SURVIVED = "survived"
    NOT_EXPRESSED = "not expressed"  # the layer knows no such change
    NOT_RUN = "not run"  # a tool is missing
    NOT_ASKED = "not asked"  # another layer had killed it before


class KillCell(msgspec.Struct, frozen=True):
    """instance: what killed it: a claim, case, schedule file or model; else why nothing did.
    clauses: those broken.
    """

    outcome: KillOutcome
    instance: str = ""
    clauses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A mutant, as every layer can take it: rule functions (empty where nodes differ), and nodes.

    group: the group of rules that it belongs to.
    max_events: how many events a run of it has before it is cut.
    """

    name: str
    operator: str
    sentence: str
    functions: Mapping[str, Callable[..., Any]]
    make_node: MakeNode
    group: int = 0
    max_events: int = MAX_EVENTS

    @property
    def iut(self) -> SimulatedIut:
        return SimulatedIut(self.name, self.make_node, self.max_events)


@dataclass(slots=True)
class RecordedIut:
    """An implementation whose run was made already."""

    name: str
    trace: Trace

    def run(self, schedule: Schedule) -> Trace:
        return self.trace


@dataclass(slots=True)
class Bench:
    """What is made once for all mutants: Z3 claims, what TLC said of models, and what fuzzing found so far.

    subjects: all mutants that are tried.
    failed_cases: by id, how many mutants each case failed on.
    walked: see `rules_walked`.
    read: by mutant, what TLC said of a run of it.
    shrinking: whether schedules that fuzzing finds are made small, which takes most of its time.
    may_check: whether TLC is asked of models that are not known yet.
    """

    plugin: FuzzPlugin
    seed: int
    folder: Path
    claims: tuple[Claim, ...] = ()
    models: dict[str, ModelResult] = field(default_factory=dict)
    found: dict[str, tuple[Schedule, str] | None] = field(default_factory=dict)
    subjects: Sequence[Subject] = ()
    failed_cases: Counter[str] = field(default_factory=Counter)
    walked: frozenset[str] | None = None
    read: dict[str, KillCell] = field(default_factory=dict)
    shrinking: bool = True
    may_check: bool = True

    def runs_of(self, group: int) -> tuple[list[Schedule], list[list[Row]]]:
        """The schedules drawn for a group of rules, and the rows that the rules themselves leave of each, which break
        nothing."""
        return _unharmed(self.plugin.name, self.seed, group)

    def rows_of(self, case: Case) -> list[Row]:
        """What the rules themselves leave of a case, which passes on them."""
        return _passed(self.plugin.name, case.id)

    def rules_walked(self) -> frozenset[str]:
        """The rules that the walks of the state machines call at all."""
        if self.walked is None:
            called: set[str] = set()

            def watched(rule: Callable[..., Any]) -> Callable[..., Any]:
                def watching(*arguments: Any) -> Any:
                    called.add(rule.__name__)
                    return rule(*arguments)

                return watching

            nodes = self.plugin.node_with({rule.__name__: watched(rule) for rule in self.plugin.rules})
            failure = first_failure(self.plugin.machines(nodes), SEEDS)
            if failure is not None:
                raise CannotRun(f"the reference core itself parts from its state machine: {failure}")
            self.walked = frozenset(called)
        return self.walked

    def failing(self, subject: Subject) -> tuple[Schedule, str] | None:
        """The mutant's first failing schedule and its file; None when none of `FUZZED` fails."""
        if subject.name not in self.found:
            self.found[subject.name] = self._fuzz(subject)
        return self.found[subject.name]

    def _fuzz(self, subject: Subject) -> tuple[Schedule, str] | None:
        iut = subject.iut
        for schedule, unharmed in zip(*self.runs_of(subject.group), strict=True):
            trace = iut.run(schedule)
            if trace.rows != unharmed and (broken := violations_of(trace)):
                kept = self._shrunk(subject, schedule, min(broken)) if self.shrinking else schedule
                path = self.folder / f"{subject.name.replace('/', '-')}-{digest(kept)}.json"
                write(path, kept)
                return kept, str(path)
        return None

    def _shrunk(self, subject: Subject, schedule: Schedule, clause: str) -> Schedule:
        fails = lambda smaller: clause in violations_of(subject.iut.run(smaller))  # noqa: E731
        return shrink(schedule, fails, max_runs=self.plugin.shrinking).schedule

    def model_result(self, model: Model) -> ModelResult:
        """What TLC finds in the model; it is run when nobody has run it yet."""
        if model.name not in self.models:
            self.models[model.name] = check_model(model, self.plugin.name).result
        return self.models[model.name]

    def clause_names(self) -> dict[str, str]:
        """Clause name, as TLA+ operators bear it, to clause id."""
        return {clause.name: clause.id for clause in load_clauses(self.plugin.name).clauses}

    def telling_traces(self, subject: Subject) -> Iterator[tuple[str, Trace]]:
        """Traces of the mutant that may show it, named: of the schedule that fuzzing found, and of the first few drawn
        on which it differs at all."""
        found, iut = self.failing(subject), subject.iut
        if found is not None:
            yield found[1], iut.run(found[0])
        schedules, unharmed = self.runs_of(subject.group)
        for number, schedule in enumerate(schedules[:JUDGED]):
            trace = iut.run(schedule)
            if trace.rows != unharmed[number]:
                yield f"seed {self.seed}, schedule {number}", trace


def _reference(plugin: FuzzPlugin) -> SimulatedIut:
    """The reference core with the rules themselves, bounded as its mutants are."""
    return SimulatedIut("rules", plugin.node_with({}), plugin.max_events)


@cache
def _unharmed(protocol: str, seed: int, group: int) -> tuple[list[Schedule], list[list[Row]]]:
    rules = _reference(load(protocol))
    schedules = list(islice(drawn_schedules(protocol, seed, group), FUZZED))
    unharmed: list[list[Row]] = []
    for number, schedule in enumerate(schedules):
        trace = rules.run(schedule)
        broken = sorted(violations_of(trace))
        if broken:
            place = f"seed {seed}, group {group}, schedule {number}"
            raise CannotRun(f"{place}: the reference core itself breaks {broken[0]}; mend it before its mutants")
        unharmed.append(trace.rows)
    return schedules, unharmed


@cache
def _passed(protocol: str, case_id: str) -> list[Row]:
    case = next(case for case in cases(protocol) if case.id == case_id)
    result = run_case(case, _reference(load(protocol)))
    if result.verdict is not Verdict.PASS or result.trace is None:
        raise CannotRun(f"{case_id} does not pass on the reference core itself: {result.reason}")
    return result.trace.rows


def by_z3(bench: Bench, subject: Subject) -> KillCell:
    """Does a claim about the corrected rules fail with the mutant in place of the rule?"""
    if not subject.functions:
        return KillCell(KillOutcome.NOT_EXPRESSED, "the change is in a node, not in a rule")
    if not bench.claims:
        bench.claims = _claims_about_rules(bench.plugin)
    functions = bench.plugin.as_claimed(subject.functions)
    about, asked = False, False
    for claim in bench.claims:
        if not functions.keys() & claim.rules.keys():
            continue
        about = True
        try:
            refuted = first_refuted(prove_under(claim, functions, timeout_ms=Z3_TIMEOUT_MS))
        except (CannotRun, TypeError, RuntimeError):
            continue  # the mutant does not run, or not to an end, on terms of this claim's kind
        asked = True
        if refuted is not None:
            return KillCell(KillOutcome.KILLED, f"{claim.name}: {refuted.name}", claim.clauses[:1])
    if asked:
        return KillCell(KillOutcome.SURVIVED)
    why = "it does not run on the terms of the claims" if about else "no claim is about this rule"
    return KillCell(KillOutcome.NOT_EXPRESSED, why)


def _claims_about_rules(plugin: FuzzPlugin) -> tuple[Claim, ...]:
    """The claims that hold the rules themselves, the cheapest first: not those about another rule in one's place."""
    rules = plugin.as_claimed({rule.__name__: rule for rule in plugin.rules}).keys()
    about = [
        claim
        for claim in claims_of(plugin.name, if_any=True)
        if all(function.__name__ == name for name, function in claim.rules.items() if name in rules)
    ]
    return tuple(sorted(about, key=lambda claim: len(claim.rules)))


def by_tlc(bench: Bench, subject: Subject) -> KillCell:
    """Does TLC refute a model that differs from the corrected one by the same change?"""
    said = bench.plugin.on_model.get(subject.name)
    if said is None:
        return KillCell(KillOutcome.NOT_EXPRESSED, "the module has no such operator")
    constant, operator = said
    same = [model for model in models_of(bench.plugin.name) if model.set == {constant: operator}]
    if not same:
        return KillCell(KillOutcome.NOT_EXPRESSED, f"no model has {constant} <- {operator}")
    if not bench.may_check:
        same = [model for model in same if model.name in bench.models]
        if not same:
            return KillCell(KillOutcome.NOT_ASKED, "TLC has checked no model of it now")
    for model in sorted(same, key=lambda model: model.violates is None):
        try:
            seen = bench.model_result(model)
        except CannotRun as error:
            return KillCell(KillOutcome.NOT_RUN, str(error))
        if seen.seen.result not in (TlcOutcome.HOLDS, TlcOutcome.VIOLATED):
            return KillCell(KillOutcome.NOT_RUN, f"{model.name}: {'; '.join(seen.differences) or seen.seen.result}")
        if seen.seen.violates is not None:
            names = bench.clause_names()
            clauses = [names[name] for name in seen.seen.violates.split(" or ") if name in names]
            return KillCell(KillOutcome.KILLED, f"{model.name}: {seen.seen.violates}", tuple(clauses) or model.clauses)
    return KillCell(KillOutcome.SURVIVED, f"{same[0].name}: {same[0].because or 'holds'}")


def by_trace(bench: Bench, subject: Subject) -> KillCell:
    """Does TLC, which reads a run of the mutant row by row, reject it? All mutants' runs go through it together."""
    if subject.name not in bench.read:
        bench.read |= _read_by_tlc(bench, [*bench.subjects, subject])
    return bench.read[subject.name]


def _read_by_tlc(bench: Bench, subjects: Sequence[Subject]) -> dict[str, KillCell]:
    """A cell for each mutant; one whose runs all equal the reference's leaves nothing to read."""
    try:
        find_java()
    except CannotRun as error:
        return {subject.name: KillCell(KillOutcome.NOT_RUN, str(error)) for subject in subjects}
    telling = {subject.name: next(bench.telling_traces(subject), None) for subject in subjects}
    named = {name: one for name, one in telling.items() if one is not None}
    validations = validate_all([trace for _, trace in named.values()])
    cells = {name: KillCell(KillOutcome.SURVIVED, "no run differs") for name in telling}
    for (name, (instance, _)), one in zip(named.items(), validations, strict=True):
        match one.judgement:
            case Judgement.REJECTED:
                cells[name] = KillCell(KillOutcome.KILLED, f"{instance}: row {one.position}", one.clauses)
            case Judgement.ACCEPTED:
                cells[name] = KillCell(KillOutcome.SURVIVED, instance)
            case Judgement.CANNOT_RUN:
                cells[name] = KillCell(KillOutcome.NOT_EXPRESSED, one.reason)
    return cells


def by_cases(bench: Bench, subject: Subject) -> KillCell:
    """Does a conformance case fail? Those that failed on most mutants so far are tried first; a run that leaves what
    the rules themselves leave need not be judged."""
    iut = subject.iut
    for case in sorted(cases(bench.plugin.name), key=lambda case: -bench.failed_cases[case.id]):
        trace = iut.run(case.schedule)
        if trace.rows == bench.rows_of(case):
            continue
        result = run_case(case, RecordedIut(iut.name, trace))
        if result.verdict is Verdict.FAIL:
            bench.failed_cases[case.id] += 1
            broken = sorted(found.clause for found in result.results if found.verdict is Verdict.FAIL)
            return KillCell(KillOutcome.KILLED, case.id, tuple(broken))
    return KillCell(KillOutcome.SURVIVED, f"{len(cases(bench.plugin.name))} cases")


def by_checks(bench: Bench, subject: Subject) -> KillCell:
    """Do the online checks find a violation in the mutant's traces?"""
    return _judged(bench, subject, lambda trace: judge(trace, shown=1))


def by_oracles(bench: Bench, subject: Subject) -> KillCell:
    """Do the oracles?"""
    return _judged(bench, subject, lambda trace: judge_by_oracles(trace, shown=1))


def _judged(bench: Bench, subject: Subject, judging: Callable[[Trace], list[ClauseResult]]) -> KillCell:
    for name, trace in bench.telling_traces(subject):
        clauses = sorted(set(broken_by(trace, judging(trace))) - {RUN_ENDS})
        if clauses or not ends_as_planned(trace):
            return KillCell(KillOutcome.KILLED, name, tuple(clauses))
    return KillCell(KillOutcome.SURVIVED)


def by_fuzzing(bench: Bench, subject: Subject) -> KillCell:
    """Does one of the drawn schedules fail?"""
    found = bench.failing(subject)
    if found is None:
        return KillCell(KillOutcome.SURVIVED, f"seed {bench.seed}, {FUZZED} schedules")
    schedule, file = found
    return KillCell(KillOutcome.KILLED, file, tuple(sorted(violations_of(subject.iut.run(schedule)))))


def by_machine(bench: Bench, subject: Subject) -> KillCell:
    """Does a walk of the state machine part from its model?"""
    machines = bench.plugin.machines(subject.make_node)
    if not machines:
        return KillCell(KillOutcome.NOT_EXPRESSED, "the protocol has no state machine")
    if subject.functions and not subject.functions.keys() & bench.rules_walked():
        return KillCell(KillOutcome.NOT_EXPRESSED, "no walk calls this rule")
    failure = first_failure(machines, SEEDS)
    if failure is None:
        return KillCell(KillOutcome.SURVIVED, f"{SEEDS} seeds")
    return KillCell(KillOutcome.KILLED, failure, _named_in(failure))


def _named_in(message: str) -> tuple[str, ...]:
    """The clause ids with which a failure of the machine begins."""
    return tuple(word.strip() for word in message.split(":")[0].split(",") if word.strip().isupper())


Layer = Callable[[Bench, Subject], KillCell]
LAYERS: dict[str, Layer] = {
    "tlc": by_tlc,
    "trace": by_trace,
    "z3": by_z3,
    "oracle": by_oracles,
    "check": by_checks,
    "case": by_cases,
    "fuzz": by_fuzzing,
    "machine": by_machine,
}
