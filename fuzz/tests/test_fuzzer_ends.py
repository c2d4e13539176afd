"""However fuzzing ends, what it found until then is in whole files and in what it returns."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from scatterproof.conformance.case import EVERYTHING
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.profile import Profile
from scatterproof.conformance.verdict import Verdict
from scatterproof.fuzz.corpus import Suited, chunk_size, drawn_chunk, drawn_schedules, suited
from scatterproof.fuzz.fuzzer import FuzzResult, fuzz, violations_of
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.shrink import size
from scatterproof.fuzz.stopping import Guard, Signals, StopAsked
from scatterproof.spec import schedule as schedules
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Trace

PROTOCOL = "totalorder"
PLUGIN = load(PROTOCOL)
REFERENCE = SimulatedIut("reference", PLUGIN.node_with({}))
NO_TIE_BREAK = SimulatedIut("no-tie-break", PLUGIN.node_with({"precedence": lambda timestamp, sender: (timestamp,)}))
FOUND = 25  # schedules, among which some break TO-ORDER, and none is long


def stopping_at(run: int) -> Guard:
    """A guard within which a signal comes in this run, from 0."""
    runs = count()

    @contextmanager
    def guard() -> Iterator[None]:
        if next(runs) == run:
            raise StopAsked("SIGTERM")
        yield

    return guard


def breaking(iut: SimulatedIut, schedule: Schedule, clause: str = "TO-ORDER") -> bool:
    return clause in violations_of(iut.run(schedule))


class Faulty:
    """The reference, but for some runs, by number."""

    name = "faulty"

    def __init__(self, fails: Callable[[int], Exception | None], otherwise: SimulatedIut = REFERENCE) -> None:
        self._fails, self._otherwise, self._runs = fails, otherwise, count()

    def run(self, schedule: Schedule) -> Trace:
        error = self._fails(next(self._runs))
        if error is not None:
            raise error
        return self._otherwise.run(schedule)


@pytest.mark.slow
def test_a_failure_is_in_a_file_before_it_is_made_small(tmp_path: Path) -> None:
    seen: list[list[Path]] = []
    found = fuzz(
        PROTOCOL,
        NO_TIE_BREAK,
        examples=FOUND,
        seed=1,
        folder=tmp_path,
        max_shrink_runs=30,
        on_shrink=lambda clause, runs, smallest: seen.append(sorted(tmp_path.iterdir())),
    )
    assert [path.name for path in seen[0]] == sorted(Path(failure.as_found).name for failure in found.failures)
    for failure in found.failures:
        as_found = schedules.read(Path(failure.as_found))
        assert breaking(NO_TIE_BREAK, as_found, failure.clause)
        assert schedules.read(Path(failure.file)) == failure.schedule
        assert size(failure.schedule) < size(as_found)


@pytest.mark.slow
def test_shrinking_tells_how_many_runs_it_has_made_and_how_small_it_is(tmp_path: Path) -> None:
    told: list[tuple[str, int, Schedule]] = []
    found = fuzz(
        PROTOCOL,
        NO_TIE_BREAK,
        examples=FOUND,
        seed=1,
        folder=tmp_path,
        on_shrink=lambda *said: told.append(said),
        max_shrink_runs=40,
    )
    for failure in found.failures:
        mine = [(runs, smallest) for clause, runs, smallest in told if clause == failure.clause]
        assert [runs for runs, _ in mine] == list(range(1, len(mine) + 1))
        assert mine[-1][1] == failure.schedule
        assert failure.runs == 1 + len(mine)  # the schedule itself again, first of all


def test_stopped_while_it_draws_it_tells_what_was_run(tmp_path: Path) -> None:
    result = fuzz(PROTOCOL, REFERENCE, examples=9, seed=1, folder=tmp_path, guard=stopping_at(4))
    assert (result.examples, result.stopped, result.stopped_at) == (4, "SIGTERM", "schedule 4")
    assert result.failures == ()
    assert result.rows > 0


def test_stopped_while_it_shrinks_the_smallest_so_far_is_saved(tmp_path: Path) -> None:
    guard = stopping_at(FOUND + 20)
    result = fuzz(PROTOCOL, NO_TIE_BREAK, examples=FOUND, seed=1, folder=tmp_path, guard=guard)
    assert (result.stopped, result.stopped_at) == ("SIGTERM", f"the shrinking of {result.failures[0].clause}")
    first, *others = result.failures
    assert not first.minimal
    assert size(first.schedule) < size(schedules.read(Path(first.as_found)))
    assert schedules.read(Path(first.file)) == first.schedule
    assert breaking(NO_TIE_BREAK, first.schedule, first.clause)
    assert all(other.file == other.as_found and Path(other.file).is_file() for other in others)


def test_a_signal_stops_a_run_at_once_and_anything_else_at_the_next_run() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Signals() as signals, pytest.raises(StopAsked, match="SIGTERM"), signals.guard():
        signal.raise_signal(signal.SIGTERM)
    with Signals() as signals:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(StopAsked, match="SIGINT"), signals.guard():
            pytest.fail("a run was begun")
        with pytest.raises(StopAsked):
            signal.raise_signal(signal.SIGTERM)  # whoever asks twice does not want to wait
    assert signal.getsignal(signal.SIGTERM) == before


def ticking(step: float = 1.0) -> Callable[[], float]:
    """A clock that goes on by this many seconds when it is read."""
    reads = count()
    return lambda: next(reads) * step


def test_time_ends_it_where_no_number_is_given(tmp_path: Path) -> None:
    result = fuzz(PROTOCOL, REFERENCE, examples=None, seconds=20, seed=1, folder=tmp_path, clock=ticking())
    assert 5 < result.examples < 20
    assert result.stopped == ""
    assert fuzz(PROTOCOL, REFERENCE, examples=None, seconds=1, seed=1, clock=ticking(1000)).examples == 1
    assert fuzz(PROTOCOL, REFERENCE, examples=3, seconds=1e9, seed=1, clock=ticking()).examples == 3


def test_when_something_has_failed_half_of_the_time_is_for_making_it_small(tmp_path: Path) -> None:
    seconds = 2 * FOUND
    reads = count()
    result = fuzz(
        PROTOCOL,
        NO_TIE_BREAK,
        examples=None,
        seconds=2 * seconds,
        seed=1,
        folder=tmp_path,
        clock=lambda: float(next(reads)),
    )
    assert result.failures
    assert max(failure.found_at for failure in result.failures) < result.examples <= seconds
    assert all(0 < failure.runs < seconds and not failure.minimal for failure in result.failures)
    assert next(reads) < 2 * seconds + 10


def test_one_run_that_cannot_be_made_or_judged_ends_nothing(tmp_path: Path) -> None:
    errors = {2: CannotRun("too busy"), 4: BadInput("row 3 is no row")}
    result = fuzz(PROTOCOL, Faulty(errors.get), examples=6, seed=1, folder=tmp_path)
    assert (result.examples, result.unjudged, result.stopped) == (6, 2, "")
    assert result.because == ("schedule 2: too busy", "schedule 4: row 3 is no row")


def test_when_no_run_can_be_made_any_more_what_was_found_is_told(tmp_path: Path) -> None:
    gone = Faulty(lambda run: CannotRun("gone") if run >= FOUND else None, NO_TIE_BREAK)
    result = fuzz(PROTOCOL, gone, examples=2 * FOUND, seed=1, folder=tmp_path)
    assert result.stopped == "gone"
    assert result.examples < FOUND + 5
    assert "TO-ORDER" in {failure.clause for failure in result.failures}
    assert all(Path(failure.file).is_file() for failure in result.failures)
    with pytest.raises(CannotRun, match="never there"):
        fuzz(PROTOCOL, Faulty(lambda run: CannotRun("never there")), examples=9, seed=1, folder=tmp_path)


def test_what_cannot_be_saved_is_told_all_the_same(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    result = fuzz(PROTOCOL, NO_TIE_BREAK, examples=FOUND, seed=1, folder=in_the_way)
    assert "cannot be written" in result.stopped
    assert [failure.file for failure in result.failures] == [""]
    assert breaking(NO_TIE_BREAK, result.failures[0].schedule, result.failures[0].clause)


def test_what_does_not_fail_again_is_said_to_be_so(tmp_path: Path) -> None:
    class Once:
        name = "once"
        broken = False

        def run(self, schedule: Schedule) -> Trace:
            trace = NO_TIE_BREAK.run(schedule)
            if self.broken or not violations_of(trace):
                return REFERENCE.run(schedule)
            self.broken = True
            return trace

    result = fuzz(PROTOCOL, Once(), examples=FOUND, seed=1, folder=tmp_path)
    assert result.failures
    for failure in result.failures:
        assert (failure.repeats, failure.runs, failure.minimal) == (False, 1, False)
        assert breaking(NO_TIE_BREAK, schedules.read(Path(failure.file)), failure.clause)


def claiming(**changed: object) -> Profile:
    every: dict[str, object] = {
        "name": "mine.toml",
        "protocol": PROTOCOL,
        "roles": frozenset(Role),
        "unclaimed": {},
        "parameters": None,
    }
    return Profile(**{**every, **changed})  # type: ignore[arg-type]


def within(profile: Profile) -> Suited:
    return suited(PROTOCOL, profile.why_not_schedule)


WITHOUT_LOSS = claiming(parameters={"environment": ("A", "B", "C"), "beacon_interval_ns": None})


def test_schedules_that_a_profile_cannot_take_are_not_drawn() -> None:
    suits = within(WITHOUT_LOSS)
    chunk = drawn_chunk(PROTOCOL, 1, 0, suits)
    assert len(chunk) == chunk_size(PROTOCOL, suits)
    assert {schedule.parameters["environment"] for schedule in chunk} == {"A", "B", "C"}
    assert {name for schedule in chunk for name in schedule.parameters} == {"environment", "beacon_interval_ns"}
    everything = drawn_schedules(PROTOCOL, 1)
    assert any(WITHOUT_LOSS.why_not_schedule(next(everything)) is not None for _ in range(20))
    again = drawn_schedules(PROTOCOL, 1, suits=suits)
    assert [next(again) for _ in chunk] == chunk


def test_where_none_suits_the_commonest_reason_is_told() -> None:
    with pytest.raises(BadInput, match=r"beacon_interval_ns to \d+; mine\.toml claims 1000"):
        within(claiming(parameters={"environment": None, "beacon_interval_ns": (1000,), "causal": None}))
    with pytest.raises(BadInput, match=r"it has no switch, and mine\.toml claims nothing else"):
        suited("broadcast", claiming(protocol="broadcast", roles=frozenset({Role.SWITCH})).why_not_schedule)


def test_a_clause_that_is_not_claimed_is_neither_found_nor_made_small(tmp_path: Path) -> None:
    why = "the profile does not claim it"
    claims = claiming(unclaimed={"TO-ORDER": why, "TO-LOSS-SAFE": why})
    result = fuzz(PROTOCOL, NO_TIE_BREAK, examples=FOUND, seed=1, folder=tmp_path, claims=claims)
    assert result.failures == ()
    assert list(tmp_path.iterdir()) == []
    assert result.clauses["TO-ORDER"].verdict is Verdict.NOT_APPLICABLE
    assert result.clauses["TO-ORDER"].reason == why


def test_what_nodes_of_others_keep_is_not_to_ones_credit(tmp_path: Path) -> None:
    claims = claiming(roles=frozenset({Role.SWITCH}))
    result = fuzz(PROTOCOL, REFERENCE, examples=12, seed=1, folder=tmp_path, claims=claims)
    assert result.clauses["TO-MONO"].verdict is Verdict.NOT_APPLICABLE  # of hosts alone
    assert result.clauses["TO-BAR-MIN"].verdict is Verdict.PASS


def test_a_clause_that_was_never_at_stake_is_inconclusive_but_not_where_no_case_is_given(tmp_path: Path) -> None:
    def verdicts(result: FuzzResult) -> dict[str, Verdict]:
        return {clause: standing.verdict for clause, standing in result.clauses.items()}

    few = fuzz(PROTOCOL, REFERENCE, examples=2, seed=1, folder=tmp_path, claims=EVERYTHING)
    assert verdicts(few)["TO-RESTART"] is Verdict.INCONCLUSIVE
    assert few.clauses["TO-RESTART"].reason.startswith("in 2 of 2 runs: ")
    suits = within(WITHOUT_LOSS)
    mine = fuzz(PROTOCOL, REFERENCE, examples=40, seed=1, folder=tmp_path, claims=WITHOUT_LOSS, suits=suits)
    assert verdicts(mine)["TO-RESTART"] is Verdict.NOT_APPLICABLE
    assert set(verdicts(mine).values()) == {Verdict.PASS, Verdict.NOT_APPLICABLE}
