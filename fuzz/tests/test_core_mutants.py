"""Core mutants: how they are made and put in place, what reaches them, and what is said of them."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scatterproof.conformance.case import cases
from scatterproof.conformance.network.run import simulate
from scatterproof.fuzz import survivors as survivors_of
from scatterproof.fuzz import trying
from scatterproof.fuzz.core_edits import edits_of
from scatterproof.fuzz.core_mutants import CoreMutant, apply, area_of, core_mutants, function_at, mutants_of, places_of
from scatterproof.fuzz.mutant_journal import MeasureKey, MutantJournal
from scatterproof.fuzz.mutant_rates import rates, wilson
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.reach import Reached
from scatterproof.fuzz.survivors import SurvivorEntry, SurvivorStanding, triage
from scatterproof.fuzz.trying import CoreBench, Tried, TriedOutcome, sampled
from scatterproof.spec.clauses import protocols
from scatterproof.spec.errors import BadInput

FUNCTION = '''
def take(self, now: int, link: int, values: list[int]) -> int:
    """What it is there for."""
    if not values:
        raise BadInput("nothing to take")
    self.seen += 1
    self.last = max(now, self.last)
    self.by_link[link] = now
    for value in values:
        if value > self.least:
            self.keep(value)
    self.told = replace(self.told, last=self.last, seen=1)
    return self.last
'''


def changed(source: str) -> set[tuple[str, str]]:
    """(operator, the whole function) of each edit."""
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef)
    before = ast.unparse(tree)
    found: set[tuple[str, str]] = set()
    for edit in edits_of(tree):
        undo = edit.swap()
        found.add((edit.operator, ast.unparse(ast.fix_missing_locations(tree))))
        undo.swap()
        assert ast.unparse(tree) == before
    return found


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [
        ("drop", "    self.seen += 1\n", "    pass\n"),
        ("repeat", "self.keep(value)\n", "self.keep(value)\n            self.keep(value)\n"),
        ("exchange", "    self.seen += 1\n    self.last = max(now, self.last)", None),
        ("always", "if value > self.least", "if True"),
        ("never", "if value > self.least", "if False"),
        ("comparison", "value > self.least", "value >= self.least"),
        ("min-max", "max(now, self.last)", "min(now, self.last)"),
        ("dropped-term", "max(now, self.last)", "now"),
        ("first-stays", "self.last = max(now, self.last)", "self.last = self.last or max(now, self.last)"),
        ("sign", "self.seen += 1", "self.seen -= 1"),
        ("set-for-add", "self.seen += 1", "self.seen = 1"),
        ("stale-value", "self.by_link[link] = now", "self.by_link[link] = link"),
        ("stale-value", "self.by_link[link]", "self.by_link[now]"),
        ("attribute", "value > self.least", None),
        ("dropped-field", "replace(self.told, last=self.last, seen=1)", "replace(self.told, last=self.last)"),
        ("one-off", "return self.last", "return self.last + 1"),
        (
            "no-turn",
            "    for value in values:\n        if value > self.least:\n            self.keep(value)",
            "    pass",
        ),
    ],
)
def test_an_operator_changes_what_it_says(operator: str, before: str, after: str | None) -> None:
    source = FUNCTION.strip()
    whole = ast.unparse(ast.parse(source))
    wanted = None if after is None else ast.unparse(ast.parse(whole.replace(before.rstrip("\n"), after.rstrip("\n"))))
    found = {text for name, text in changed(source) if name == operator}
    if after is None:  # neither statement writes what the other reads; nothing stands in a place like it
        assert not found
    else:
        assert wanted in found


def test_what_misuse_alone_reaches_has_no_mutants() -> None:
    guard = "    if not values:\n        raise BadInput('nothing to take')"
    assert all(guard in text for _, text in changed(FUNCTION.strip()))


def test_what_a_comprehension_binds_is_read_by_no_other_statement() -> None:
    source = "def f(one, two):\n    a = [x for x in one]\n    b = [x for x in two]\n    return a + b"
    assert not [text for name, text in changed(source) if name == "exchange"]


@pytest.mark.parametrize(
    ("second", "matters"),
    [
        ("change(table, slot, LAST, now)", False),
        ("change(other, slot, FIRST, now)", False),
        ("change(table, other, FIRST, now)", True),
        ("change(table, slot, LAST, field(table, slot, FIRST))", True),
        ("forget(table)", True),
    ],
)
def test_changes_of_two_fields_may_come_in_any_order_and_twice(second: str, matters: bool) -> None:
    found = changed(f"def f(table, other, slot, now):\n    change(table, slot, FIRST, now)\n    {second}")
    assert ("exchange" in {name for name, _ in found}) is matters
    assert [text for name, text in found if name == "repeat" and "change" in text.split("\n")[-1]] == []


def test_what_is_in_a_set_is_not_put_there_again() -> None:
    texts = [text for name, text in changed("def f(a, b):\n    a += b\n    a |= b") if name == "repeat"]
    assert texts == ["def f(a, b):\n    a += b\n    a += b\n    a |= b"]


def test_lists_of_one_length_may_be_taken_together_without_looking() -> None:
    found = [text for name, text in changed("def f(a, b):\n    return zip(a, b, strict=True)") if name == "negation"]
    assert found == []


def test_a_number_that_no_sentence_names_has_no_mutants() -> None:
    source = (
        "def f(one: int, two: int, last: int, way: int):\n    if last:\n        return violated({}, one + two, last)\n"
    )
    ways = ("{found} is wrong", "{expected_node} is not {found}")
    for way, read in (("0", False), ("1", True), ("way", True)):
        tree = ast.parse(source.format(way)).body[0]
        assert isinstance(tree, ast.FunctionDef)
        edited = {ast.unparse(edit.new) for edit in edits_of(tree, {}, ways) if isinstance(edit.new, ast.expr)}
        assert ("one + two + 1" in edited) is read


def test_a_mark_below_0_is_as_good_as_another() -> None:
    found = {text for name, text in changed("def f():\n    return find(-1, 1)") if name == "one-off"}
    assert found == {f"def f():\n    return find({given})" for given in ("-0, 1", "-1, 2", "-1, 0")}


MATCH = """
def take(self, event: Event) -> int:
    match event:
        case Called():
            self.seen += 1
        case TimerFired() if event.now >= self.deadline:
            return 1
        case _:
            assert_never(event)
    return 0
"""


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [
        ("set-for-add", "self.seen += 1", "self.seen = 1"),
        ("never", "case Called():", "case Called() if False:"),
        ("never", "if event.now >= self.deadline", "if False"),
        ("always", "if event.now >= self.deadline", "if True"),
        ("comparison", "event.now >= self.deadline", "event.now > self.deadline"),
        ("one-off", "return 1", "return 1 + 1"),
    ],
)
def test_the_ways_of_a_match_are_changed_as_those_of_an_if(operator: str, before: str, after: str) -> None:
    whole = ast.unparse(ast.parse(MATCH))
    assert before in whole
    assert (operator, whole.replace(before, after)) in changed(MATCH.strip())


def test_what_no_match_comes_to_has_no_mutants() -> None:
    assert all("case _:\n            assert_never(event)" in text for _, text in changed(MATCH.strip()))


@pytest.fixture(scope="module", params=[name for name in sorted(protocols()) if load(name).areas])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def mutants(protocol: str) -> tuple[CoreMutant, ...]:
    return core_mutants(load(protocol).areas)


def test_there_are_many_each_with_a_name_of_its_own(protocol: str, mutants: tuple[CoreMutant, ...]) -> None:
    assert len(mutants) > 800
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert {mutant.area for mutant in mutants} == set(load(protocol).areas.values()) - {""}


def test_every_core_function_has_an_area(protocol: str) -> None:
    """A module that is new is listed, or left out on purpose."""
    here = Path(f"impl/{protocol}")
    left_out = {
        "totalorder": {"__init__", "codec", "limits", "literal_embodiments", "plugin", "records", "twin"},
        "broadcast": {
            "plugin",
            "twin",
            "__init__",
            "codec",
            "course_files",
            "literal_rules",
            "process",
            "program",
            "records",
            "settings",
            "sockets",
        },
        # Which way is the best, no clause says.
        "pubsub": {"__init__", "literal_rules", "plugin", "twin", "ways"},
        "workqueue": {
            *("__init__", "conftest", "literal_rules", "plugin", "twin"),
            # Threads over stores of the real world: tests of their own end them, and make calls fail.
            *("cleaning", "handling", "receiver", "sender", "worker"),
        },
    }[protocol]
    modules = {place.partition(":")[0].rpartition(".")[2] for place in load(protocol).areas}
    assert modules | left_out == {path.stem for path in here.glob("*.py")}


def test_a_triaged_survivor_is_a_mutant(protocol: str, mutants: tuple[CoreMutant, ...]) -> None:
    """One whose statement was changed since is gone, and so is what was said of it."""
    assert set(triage(protocol).by_mutant) <= {mutant.name for mutant in mutants}
    assert set(triage(protocol).done) <= {mutant.area for mutant in mutants}


def test_the_longest_name_of_a_place_tells_its_area() -> None:
    areas = {"a.b": "all", "a.b:C": "class", "a.b:C.m": "method", "a.b:D": ""}
    told = {place: area_of(place, areas) for place in ("a.b:f", "a.b:C", "a.b:C.n", "a.b:C.m", "a.b:D.m", "a.c:f")}
    assert list(told.values()) == ["all", "class", "class", "method", "", ""]


@pytest.fixture
def whole() -> Iterator[None]:
    """`apply` is for good: afterwards the function is as it was."""
    function = function_at("scatterproof.impl.totalorder.failure_rules", "removes")
    code = function.__code__
    yield
    function.__code__ = code


@pytest.mark.usefixtures("whole")
def test_a_mutant_takes_its_function_s_place_wherever_it_is_held() -> None:
    from scatterproof.impl.totalorder import RULES

    mutant = next(
        m
        for m in mutants_of("scatterproof.impl.totalorder.failure_rules:removes", "any")
        if m.after == "return unanswered != 0"
    )
    assert RULES.removes(0)
    apply(mutant)
    assert not RULES.removes(0)


def test_blocks_that_a_run_meets_are_told_apart() -> None:
    plugin = load("totalorder")
    reached = Reached(places_of({"scatterproof.impl.totalorder.host": "host"}))
    plain = cases("totalorder")[0]
    own = function_at("scatterproof.impl.totalorder.host", "Host.handle").__code__
    with reached:
        simulate(plain.schedule, plugin.node_with({}))
        met = reached.names(reached.bits())
        assert not reached.bits()
    ways = {(block.place, block.way) for block in met}
    assert ("scatterproof.impl.totalorder.host:Host.handle", "if isinstance(event, PacketArrived)") in ways
    assert ("scatterproof.impl.totalorder.host:Host.handle", "if not isinstance(event, Submitted)") not in ways
    assert function_at("scatterproof.impl.totalorder.host", "Host.handle").__code__ is own


@pytest.fixture(scope="module")
def bench() -> CoreBench:
    return CoreBench("broadcast", 2)


def tried(bench: CoreBench, place: str, after: str) -> Tried:
    return bench.try_mutant(next(m for m in bench.mutants.values() if place in m.name and m.after == after))


def test_mutants_end_as_they_deserve(bench: CoreBench) -> None:
    by_clause = tried(bench, "rules:majority", "return False")
    assert by_clause.outcome is TriedOutcome.BY_CLAUSE
    assert by_clause.clauses
    assert by_clause.instance
    turned = "while found[-1].last + 1 not in waiting:\n    found.append(waiting.pop(found[-1].last + 1))"
    crashing = tried(bench, "order:Fifo.receive", turned)
    assert crashing.outcome is TriedOutcome.BY_CRASH
    assert "KeyError" in crashing.why


def test_a_mutant_without_end_is_cut(bench: CoreBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "RUN_S", 0.2)
    found = tried(
        bench, "stack:UniformProcess._begin", "handed.appendleft((payload, left)); handed.appendleft((payload, left))"
    )
    assert found.outcome is TriedOutcome.BY_CRASH
    assert "RanAway" in found.why


def test_a_mutant_late_in_every_run_is_cut_after_a_time_that_goes_with_their_number(
    bench: CoreBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(_stimulus: object, found: Tried) -> Tried:
        begun = time.process_time()
        while time.process_time() < begun + 0.5:
            pass
        return found

    monkeypatch.setattr(trying, "_AT_FIRST_S", 1)
    monkeypatch.setattr(bench, "meet", late)
    found = tried(bench, "rules:majority", "return False")
    assert (found.outcome, found.why) == (TriedOutcome.BY_CRASH, "its process ended")
    assert 1 <= found.cpu_s < 2 + trying._EACH_S * found.reached < 0.5 * found.reached


def test_a_case_in_which_nothing_happens_any_more_is_told_apart(bench: CoreBench) -> None:
    """No mutant is sure to end so: most that do nothing break a clause. Here the case is about what it does not do."""
    other = replace(bench.upto(1)[0], rows=[], at_stake=("BC-LCB-CHECK",))
    found = bench.meet(other, Tried(mutant="none", outcome=TriedOutcome.SURVIVED))
    assert (found.outcome, found.clauses) == (TriedOutcome.BY_IDLENESS, ("BC-LCB-CHECK",))


def test_what_no_stimulus_reaches_survives_without_a_run(bench: CoreBench) -> None:
    bench_mutants = {m.block: m for m in bench.mutants.values() if m.function == "Segments._cut"}
    found = bench.try_mutant(bench_mutants[max(bench_mutants)])
    assert (found.outcome, found.reached, found.cpu_s) == (TriedOutcome.SURVIVED, 0, 0.0)


def test_branches_that_nothing_reaches_are_listed(bench: CoreBench) -> None:
    """No packet is refused where all are right; and some branch needs more than two schedules."""
    branches = bench.branches
    missed = {(block.place, block.way) for block in branches.missed}
    assert ("scatterproof.impl.broadcast.stack:Stack.handle", "except Refusal") in missed
    assert ("scatterproof.impl.broadcast.stack:Stack.handle", "called") not in missed
    assert branches.not_by_schedules
    assert len(branches.missed) + len(branches.not_by_schedules) + branches.by_schedules == branches.of


def test_samples_of_one_seed_are_the_same(bench: CoreBench) -> None:
    everything = list(bench.mutants.values())
    assert sampled(everything, None, 1) == everything
    assert sampled(everything, 20, 1) == sampled(everything, 20, 1) != sampled(everything, 20, 2)
    assert len(sampled(everything, 20, 3)) == 20
    fewer = [mutant for at, mutant in enumerate(everything) if at % 7]  # what stays is drawn as before
    assert {*sampled(everything, 20, 1)} & {*fewer} <= {*sampled(fewer, 20, 1)}


def test_the_interval_is_wilson_s() -> None:
    """Worked out by hand from the formula: 9 of 10, and the ends, where others leave 0 to 1."""
    assert wilson(9, 10) == pytest.approx((0.5958, 0.9821), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10) == pytest.approx((0.7225, 1.0), abs=1e-4)


def test_rates_leave_out_what_nothing_can_tell() -> None:
    outcomes = {"a": TriedOutcome.BY_CLAUSE, "b": TriedOutcome.BY_CRASH, **dict.fromkeys("cdef", TriedOutcome.SURVIVED)}
    known = {
        "c": SurvivorEntry(SurvivorStanding.EQUIVALENT, "same", ("c",)),
        "d": SurvivorEntry(SurvivorStanding.PACE, "later", ("d",)),
        "e": SurvivorEntry(SurvivorStanding.OPEN, "?", ("e",)),
        "a": SurvivorEntry(SurvivorStanding.OPEN, "killed now", ("a",)),
    }
    found = [Tried(mutant=name, outcome=outcome) for name, outcome in outcomes.items()]
    here, everything = rates(found, dict.fromkeys(outcomes, "here"), known)
    assert (here.area, everything.area) == ("here", "all")
    assert (here.killed, here.telling, here.not_killed, here.fresh) == (2, 4, 2, ("f",))
    assert here.rate == 0.5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("survivors = 3", "give each entry"),
        ('[[survivors]]\nstanding = "fine"\nreason = "x"\nmutants = ["a"]', "give each entry"),
        ('[[survivors]]\nstanding = "open"\nreason = " "\nmutants = ["a"]', "has no reason"),
        ('[[survivors]]\nstanding = "open"\nreason = "x"\nmutants = ["a", "a"]', "in two entries"),
    ],
)
def test_a_wrong_file_of_survivors_is_refused(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "survivors.toml").write_text(text)
    monkeypatch.setattr(survivors_of, "FOLDER", tmp_path)
    with pytest.raises(BadInput, match=said):
        triage("p")


def test_a_measure_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    path, what = tmp_path / "p.ndjson", MeasureKey(protocol="p", schedules=3, cores="1")
    one = Tried(mutant="a", outcome=TriedOutcome.SURVIVED)
    MutantJournal(path, what, resume=False).add(one)
    with path.open("ab") as file:
        file.write(b'{"mutant": "b", "outc')
    assert MutantJournal(path, what, resume=True).known == {"a": one}
    with pytest.raises(BadInput, match="schedules 3, not 4"):
        MutantJournal(path, MeasureKey(protocol="p", schedules=4, cores="1"), resume=True)
    assert MutantJournal(path, what, resume=False).known == {}
