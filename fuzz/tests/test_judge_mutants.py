"""Judge mutants: what is changed, what they are tried on, and how they end."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import cast

import pytest

from scatterproof.conformance import case
from scatterproof.conformance import protocol as conformance_protocol
from scatterproof.conformance.broadcast.view import label
from scatterproof.conformance.judge import judge_by_oracles
from scatterproof.fuzz import judging
from scatterproof.fuzz.core_mutants import CoreMutant, functions_of, modules_of, mutants_of, within
from scatterproof.fuzz.judging import (
    CHECKS,
    ORACLES,
    PREMISES,
    SHARED,
    JudgeBench,
    by_checks,
    by_oracles,
    damage,
    judge_areas,
    renumbered,
    trace_files,
)
from scatterproof.fuzz.survivors import triage
from scatterproof.fuzz.trying import Tried, TriedOutcome
from scatterproof.spec import trace_ndjson
from scatterproof.spec.clauses import protocols
from scatterproof.spec.trace import Kind, schema


@pytest.mark.parametrize("name", sorted(protocols()))
def test_every_judge_has_an_area(name: str) -> None:
    areas, plugin = judge_areas(name), conformance_protocol.load(name)
    assert {areas[check.step.__module__] for check in plugin.checks} == {CHECKS}
    assert {areas[premise.step.__module__] for premise in plugin.premises} == {PREMISES}
    assert {areas[oracle.__module__] for oracle in plugin.oracles.values()} == {ORACLES}
    shared = {derived.step.__module__ for check in plugin.checks for derived in check.derived}
    assert {areas[module] for module in shared} <= {SHARED, CHECKS}


def test_oracles_in_one_file_are_oracles_and_what_is_beside_them_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = conformance_protocol.load("broadcast")
    judges = replace(plugin.judges(), oracles={"label": cast(conformance_protocol.Oracle, label)})
    monkeypatch.setattr(conformance_protocol, "load", lambda name: replace(plugin, judges=lambda: judges))
    areas = judge_areas("broadcast")
    assert [module for module, area in areas.items() if area == ORACLES] == [label.__module__]


@pytest.mark.parametrize("name", sorted(protocols()))
def test_a_triaged_survivor_is_a_mutant(name: str) -> None:
    """One whose statement was changed since is gone, and so is what was said of it. Making all mutants takes long."""
    known = triage(name, judges=True)
    functions = {mutant.partition("/")[0] for mutant in known.by_mutant}
    there: list[CoreMutant] = []
    for module in modules_of(judge_areas(name)):
        places = (f"{module}:{function}" for function in functions_of(module))
        there += [m for place in places if within(place) in functions for m in mutants_of(place, "any")]
    assert set(known.by_mutant) <= {mutant.name for mutant in there}
    assert len({mutant.name for mutant in there}) == len(there)


@pytest.fixture(scope="module")
def bench() -> JudgeBench:
    return JudgeBench("broadcast", 1)


def tried(bench: JudgeBench, place: str, after: str) -> Tried:
    return bench.try_mutant(next(m for m in bench.mutants.values() if place in m.name and m.after == after))


@pytest.mark.slow
def test_checks_and_oracles_say_the_same_of_damaged_runs(bench: JudgeBench) -> None:
    assert bench.parted == []


@pytest.mark.slow
def test_an_oracle_is_told_wherever_its_module_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of publish and subscribe are no folder of their own."""
    few = [path for path in trace_files("pubsub") if path.stem.startswith("PS-RETAIN")]
    monkeypatch.setattr(judging, "trace_files", lambda name: few)
    monkeypatch.setattr(case, "cases", lambda name: ())
    bench = JudgeBench("pubsub", 0)
    mutants = [one for one in bench.mutants.values() if "keeping_oracles:retained_comes_once" in one.name]
    assert any(bench.try_mutant(one).outcome is TriedOutcome.BY_CLAUSE for one in mutants)


ONCE = "uniform_checks:delivered_once"


@pytest.mark.parametrize(
    ("place", "after", "outcome"),
    [
        (ONCE, "return violated(0, 0, row.number, -1) if False else HOLDS", TriedOutcome.BY_CLAUSE),
        (ONCE, "return violated(0, 1, row.number, -1) if learnt.again else HOLDS", TriedOutcome.SURVIVED),
        ("oracles.uniform:majority_has_it", "message = (event.number, event.number)", TriedOutcome.BY_CLAUSE),
        (
            "order_checks:fifo_without",
            "return violated(0, 0, row.receiver, -1) if learnt.ahead else HOLDS",
            TriedOutcome.BY_WORDS,
        ),
    ],
)
def test_mutants_end_as_they_deserve(bench: JudgeBench, place: str, after: str, outcome: TriedOutcome) -> None:
    assert tried(bench, place, after).outcome is outcome


def test_damage_is_one_place_and_the_same_for_a_seed() -> None:
    trace = trace_ndjson.read(sorted(trace_files("totalorder"))[0])
    kind = schema("totalorder").index("kind")
    damaged = [damage(trace, Random(seed)) for seed in range(40)]
    assert [again.rows for again in damaged] == [damage(trace, Random(seed)).rows for seed in range(40)]
    assert sum(again.rows != trace.rows for again in damaged) > 20
    submitted = [row for row in trace.rows if row[kind] == Kind.SUBMITTED]
    assert all([row for row in again.rows if row[kind] == Kind.SUBMITTED] == submitted for again in damaged)


# Of two messages of one timestamp that of the sender with the lesser number is first.
TIES = {"TO-ORDER.tie", "TO-ORDER.tie-in-order-of-arrival", "TO-LOSS-SAFE.tie-late"}


def test_who_has_which_number_changes_no_verdict_but_that_on_ties() -> None:
    told = set[str]()
    for path in trace_files("totalorder"):
        trace = trace_ndjson.read(path)
        assert renumbered(renumbered(trace)) == trace
        said, again = by_checks(trace, ()), by_checks(renumbered(trace), ())
        if (said.broken, bool(said.words)) != (again.broken, bool(again.words)):
            told.add(path.stem)
    assert told == TIES


def test_a_trace_that_is_refused_is_told_by_its_words() -> None:
    trace = trace_ndjson.read(sorted(trace_files("broadcast"))[0])
    names = schema("broadcast").columns
    at = next(n for n, row in enumerate(trace.rows) if row[names.index("kind")] == Kind.SENT)
    rows = list(trace.rows)
    rows[at] = tuple(9 if name == "link_seq" else value for name, value in zip(names, rows[at], strict=True))
    said = by_checks(type(trace)(trace.header, rows), ())
    assert not said.broken
    assert "number the packets" in said.words[0]
    assert judge_by_oracles(trace)


def test_rows_that_leave_a_clause_open_are_named_by_checks_and_oracles_alike() -> None:
    path = next(path for path in trace_files("workqueue") if path.stem == "Q-META.handed-out-late")
    trace = trace_ndjson.read(path)
    plugin = conformance_protocol.load("workqueue")
    said = by_checks(trace, ())
    assert {position for _, position in said.broken} == {11}
    assert said.broken == by_oracles(plugin, trace).broken
