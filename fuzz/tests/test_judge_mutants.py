"""Judge mutants: what is changed, what they are tried on, and how they end."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import cast

import msgspec
import pytest

from scatterproof.conformance import case
from scatterproof.conformance import protocol as conformance_protocol
from scatterproof.conformance.broadcast.view import label
from scatterproof.conformance.judge import judge_by_oracles
from scatterproof.fuzz import damages, judging, stakes
from scatterproof.fuzz.core_mutants import CoreMutant, functions_of, modules_of, mutants_of, within
from scatterproof.fuzz.damage_search import DamageSearch
from scatterproof.fuzz.damages import (
    EDITS,
    damaged,
    draw_edit,
    kept,
    labelled,
    renamed,
    renumbered,
    trace_files,
    write_kept,
)
from scatterproof.fuzz.judging import (
    CHECKS,
    ORACLES,
    PREMISES,
    SHARED,
    JudgeBench,
    Known,
    by_checks,
    by_oracles,
    judge_areas,
)
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.stakes import staked, stakes_of
from scatterproof.fuzz.survivors import triage
from scatterproof.fuzz.trying import Tried, TriedOutcome
from scatterproof.spec import trace_ndjson
from scatterproof.spec.clauses import protocols
from scatterproof.spec.errors import BadInput
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


def small_bench(monkeypatch: pytest.MonkeyPatch, protocol: str, beginning: str) -> JudgeBench:
    """Of the labelled traces whose names begin so, and nothing else."""
    few = [path for path in trace_files(protocol) if path.stem.startswith(beginning)]
    monkeypatch.setattr(judging, "trace_files", lambda name: few)
    monkeypatch.setattr(case, "cases", lambda name: ())
    return JudgeBench(protocol, 0)


def tried(bench: JudgeBench, place: str, after: str) -> Tried:
    return bench.try_mutant(next(m for m in bench.mutants.values() if place in m.name and m.after == after))


@pytest.mark.slow
def test_checks_and_oracles_say_the_same_of_damaged_runs(bench: JudgeBench) -> None:
    assert bench.parted == []


@pytest.mark.slow
def test_a_mutant_may_read_a_column_that_its_check_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = small_bench(monkeypatch, "totalorder", "TO-ACK-MEAN")
    of_link = next(m for m in bench.mutants.values() if "stopped[row.link_seq]" in m.after)
    assert bench.try_mutant(of_link).outcome is TriedOutcome.BY_DAMAGE


@pytest.mark.slow
def test_an_oracle_is_told_wherever_its_module_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of publish and subscribe are no folder of their own."""
    bench = small_bench(monkeypatch, "pubsub", "PS-RETAIN")
    mutants = [one for one in bench.mutants.values() if "keeping_oracles:retained_comes_once" in one.name]
    assert any(bench.try_mutant(one).outcome is TriedOutcome.BY_CLAUSE for one in mutants)


def test_what_is_shared_has_mutants_where_the_protocol_runs_it(bench: JudgeBench) -> None:
    """A premise is made when its module is imported, and no judge runs that."""
    shared = [one for one in bench.mutants.values() if one.module.endswith("checks.premises")]
    functions = {one.function for one in shared}
    assert "follow" in functions
    assert "premise_of_packets" not in functions
    assert not any("violated(_BEHIND" in one.before and "if" not in one.before for one in shared)  # links are not FIFO


@pytest.mark.slow
@pytest.mark.parametrize("others", [False, True])
def test_what_is_shared_is_told_by_traces_of_any_protocol(others: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Links of broadcast are not FIFO."""
    refused = {name: [path for path in trace_files(name) if path.stem.startswith("PREMISE")] for name in protocols()}
    monkeypatch.setattr(judging, "trace_files", refused.get)
    monkeypatch.setattr(judging, "protocols", lambda: ("broadcast", "totalorder"))
    monkeypatch.setattr(judging, "kept", lambda name: ())
    bench = JudgeBench("broadcast", 0, files_alone=True, others=others)
    late = next(m for m in bench.mutants.values() if m.after.startswith("if is_fifo and link_seq > latest[link]"))
    assert bench.try_mutant(late).killed is others


ONCE = "uniform_checks:delivered_once"


@pytest.mark.parametrize(
    ("place", "after", "outcome"),
    [
        (ONCE, "return violated(0, 0, row.number) if False else HOLDS", TriedOutcome.BY_CLAUSE),
        ("packets:oldest_of", "least = pseq if least == 0 or pseq <= least else least", TriedOutcome.SURVIVED),
        ("oracles.uniform:majority_has_it", "message = (event.number, event.number)", TriedOutcome.BY_CLAUSE),
        (
            "order_checks:fifo_without",
            "return violated(0, 0, row.receiver) if learnt.ahead else HOLDS",
            TriedOutcome.BY_WORDS,
        ),
    ],
)
def test_mutants_end_as_they_deserve(bench: JudgeBench, place: str, after: str, outcome: TriedOutcome) -> None:
    assert tried(bench, place, after).outcome is outcome


@pytest.mark.parametrize("name", sorted(protocols()))
def test_checks_and_oracles_say_the_same_of_the_damaged_traces_that_are_kept(name: str) -> None:
    plugin = conformance_protocol.load(name)
    for title, trace in kept(name):
        said = by_checks(trace, ())
        assert said.refused or said.broken == by_oracles(plugin, trace).broken, title


@pytest.mark.parametrize("name", sorted(protocols()))
def test_clauses_are_at_stake_where_a_reader_says_so(name: str) -> None:
    plugin, idle = conformance_protocol.load(name), stakes_of(name).idle
    for title, trace, clauses in staked(name):
        said = by_checks(trace, clauses)
        assert not said.refused, title
        assert said.idle == set(idle.get(title, ())), title
        assert said.broken == by_oracles(plugin, trace).broken, title
        assert not {clause.rstrip("?") for clause, _ in said.broken} & set(clauses), title


def test_what_is_said_of_a_trace_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "at_stake.toml"
    monkeypatch.setattr(stakes, "stakes_file", lambda name: path)
    path.write_text('[idle]\n"PS-ORDER.none: delete 1" = ["PS-ORDER"]\n')
    with pytest.raises(BadInput, match=f"{path}: PS-ORDER.none: delete 1: .*; take it out"):
        list(staked("pubsub"))
    path.write_text("[silent]\n")
    with pytest.raises(BadInput, match=f"{path}: .*; give clauses for each trace below"):
        stakes_of("pubsub")


def test_an_edit_is_the_same_for_a_seed_and_can_be_done() -> None:
    words = set[str]()
    for title, trace in labelled("workqueue").items():
        edits = [draw_edit(trace, Random(f"{title} {seed}")) for seed in range(20)]
        assert edits == [draw_edit(trace, Random(f"{title} {seed}")) for seed in range(20)]
        assert any(damaged(trace, edit) != trace for edit in edits)
        words |= {one.partition(" ")[0] for edit in edits for one in edit.split("; ")}
    assert words >= {*EDITS, "take", "parameter"} - {"set-packet"}


@pytest.mark.parametrize("how", ["delete 999", "set 0 nothing 1", "mend 3"])
def test_an_edit_that_cannot_be_done_is_told(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "damages.toml"
    monkeypatch.setattr(damages, "kept_file", lambda name: path)
    base = next(iter(labelled("broadcast")))
    write_kept("broadcast", {base: ["delete 0", how]})
    with pytest.raises(BadInput, match=f"{path}: {base}: {how}: .*; take it out"):
        list(kept("broadcast"))


# Of two messages of one timestamp that of the sender with the lesser number is first.
TIES = {"TO-ORDER.tie", "TO-ORDER.tie-in-order-of-arrival", "TO-LOSS-SAFE.tie-late"}


def test_who_has_which_number_changes_no_verdict_but_that_on_ties() -> None:
    told = set[str]()
    for path in trace_files("totalorder"):
        trace = trace_ndjson.read(path)
        assert renumbered(renumbered(trace)) == trace
        said, again = by_checks(trace, ()), by_checks(renumbered(trace), ())
        if (said.broken, said.refused) != (again.broken, again.refused):
            told.add(path.stem)
    assert told == TIES


def test_what_is_named_by_which_number_changes_no_verdict() -> None:
    columns = load("workqueue").names
    for path in trace_files("workqueue"):
        trace = trace_ndjson.read(path)
        other = renumbered(renamed(trace, columns))
        assert other.rows != trace.rows
        said, again = by_checks(trace, ()), by_checks(other, ())
        assert (said.broken, said.refused) == (again.broken, again.refused), path.stem


def test_a_trace_that_is_refused_breaks_nothing() -> None:
    trace = trace_ndjson.read(sorted(trace_files("broadcast"))[0])
    names = schema("broadcast").columns
    at = next(n for n, row in enumerate(trace.rows) if row[names.index("kind")] == Kind.SENT)
    rows = list(trace.rows)
    rows[at] = tuple(9 if name == "link_seq" else value for name, value in zip(names, rows[at], strict=True))
    said = by_checks(type(trace)(trace.header, rows), ())
    assert said.refused
    assert not said.broken
    assert judge_by_oracles(trace)


def test_what_checks_find_in_a_trace_that_is_refused_tells_no_mutant(
    bench: JudgeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody hears of it: only why the trace is refused is said."""
    count = len(bench.plugin.checks)
    known = next(one for one in bench.known if one.checks.refused and any(f.check < count for f in one.checks.found))
    without = msgspec.structs.replace(
        known.checks, found=frozenset(one for one in known.checks.found if one.check >= count)
    )
    monkeypatch.setattr(judging, "by_checks", lambda *given: without)
    mutant = next(one for one in bench.mutants.values() if one.area == CHECKS)
    assert known.labelled
    assert not bench.meet(known, Tried(mutant=mutant.name, outcome=TriedOutcome.SURVIVED)).killed


def test_rows_that_leave_a_clause_open_are_named_by_checks_and_oracles_alike() -> None:
    path = next(path for path in trace_files("workqueue") if path.stem == "Q-META.handed-out-late")
    trace = trace_ndjson.read(path)
    plugin = conformance_protocol.load("workqueue")
    said = by_checks(trace, ())
    assert {position for _, position in said.broken} == {11}
    assert said.broken == by_oracles(plugin, trace).broken


@pytest.mark.slow
def test_what_is_searched_for_tells_a_mutant_and_is_judged_alike(
    bench: JudgeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    parted: list[str] = []
    search = DamageSearch(bench, 1, parted.append)
    monkeypatch.setattr(search, "kept", {})
    monkeypatch.setattr(search, "known", [known for known in bench.known if known.name.startswith("BC-URB-ONCE")])
    monkeypatch.setattr(bench, "known", [])
    after = "return violated(0, 0, row.number) if False else HOLDS"
    search.alive = [next(m for m in bench.mutants.values() if ONCE in m.name and m.after == after)]
    [said_of_it] = search.search(time.monotonic() + 10)
    assert not search.alive
    assert not parted
    [(base, [how])] = search.kept.items()
    assert said_of_it.startswith(f"{base}: {how}: tells uniform_checks:delivered_once/")
    trace = damaged(labelled("broadcast")[base], how)
    said = by_checks(trace, ())
    assert "BC-URB-ONCE" in {clause for clause, _ in said.broken}
    assert said.broken == by_oracles(bench.plugin, trace).broken


def test_who_is_asked_about_in_a_round_is_not_changed_by_what_it_finds(
    bench: JudgeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = DamageSearch(bench, 1, lambda title: None)
    search.alive = [mutant for mutant in bench.mutants.values() if ONCE in mutant.name][:3]
    first, *others = [mutant.name for mutant in search.alive]
    asked: list[str] = []

    def told(mutant: CoreMutant, drawn: object) -> Known | None:
        asked.append(mutant.name)
        return bench.known[0] if mutant.name == first else None

    monkeypatch.setattr(search, "kept", {})
    monkeypatch.setattr(search, "_told", told)
    monkeypatch.setattr(search, "_drawn", lambda mutants: [])
    monkeypatch.setattr(bench, "known", list(bench.known))
    monkeypatch.setattr(bench, "try_mutant", lambda mutant: _tried(mutant, killed=mutant.name == first))
    assert len(list(search.search(time.monotonic() + 10))) == 1
    assert asked == [first, *others]
    assert [mutant.name for mutant in search.alive] == others


def _tried(mutant: CoreMutant, *, killed: bool) -> Tried:
    outcome = TriedOutcome.BY_DAMAGE if killed else TriedOutcome.SURVIVED
    return Tried(mutant=mutant.name, outcome=outcome)
