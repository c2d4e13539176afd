"""The judge that tries every order, held to labelled traces and to the plainest way of trying all; and checks and
oracles on drawn histories held to it."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations, permutations
from pathlib import Path

import pytest

from scatterproof.conformance import judge as judging
from scatterproof.conformance.judge import judge
from scatterproof.conformance.linear import search
from scatterproof.conformance.protocol import load
from scatterproof.conformance.verdict import Verdict
from scatterproof.conformance.workqueue.linear.history import boxes
from scatterproof.conformance.workqueue.linear.machine import MachineState, carried_out, may_refuse
from scatterproof.conformance.workqueue.linear.search import order_of
from scatterproof.fuzz.workqueue.histories import history
from scatterproof.models.trace_validation import Judgement, validate_all
from scatterproof.spec import trace_ndjson
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Kind, Trace, schema


def is_leased(path: Path) -> bool:
    return '"leased"' in path.read_text()


LABELLED = Path(judging.__file__).parent / "traces/workqueue"
CONFORMING, VIOLATING = (
    [path for path in sorted((LABELLED / label).glob("*.ndjson")) if not is_leased(path)]
    for label in ("conforming", "violating")
)
OVERLOOKED = sorted((LABELLED / "overlooked").glob("*.ndjson"))
JUDGES = load("workqueue")


@pytest.mark.parametrize("path", CONFORMING, ids=lambda path: path.stem)
def test_a_conforming_trace_has_an_order(path: Path) -> None:
    assert order_of(trace_ndjson.read(path)) is not None


@pytest.mark.slow
def test_an_overlooked_trace_has_none_or_is_none_of_the_models() -> None:
    """Of leases TLC alone knows; it counts locks and groups, too, which no order does."""
    found = [(is_leased(path), trace_ndjson.read(path)) for path in OVERLOOKED]
    left = [trace for leased, trace in found if leased or order_of(trace) is not None]
    assert {one.judgement for one in validate_all(left)} == {Judgement.REJECTED}


@pytest.mark.parametrize("path", VIOLATING, ids=lambda path: path.stem)
def test_a_violating_trace_has_none(path: Path) -> None:
    """Q-ANSWER is about packets."""
    assert (order_of(trace_ndjson.read(path)) is None) == (not path.stem.startswith("Q-ANSWER"))


def test_too_many_orders_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST", 2)
    with pytest.raises(BadInput, match="too many orders to try"):
        order_of(trace_ndjson.read(LABELLED / "conforming/Q-ONCE.whole.ndjson"))


def is_explained_in_the_plainest_way(trace: Trace) -> bool:
    """By some order of all calls with known ends and some of the others."""
    calls = boxes(trace)
    unknown = [call for call in calls if call.outcome is Outcome.UNKNOWN]
    known = [call for call in calls if call.outcome is not Outcome.UNKNOWN]
    some = chain.from_iterable(combinations(unknown, count) for count in range(len(unknown) + 1))
    for order in chain.from_iterable(permutations([*known, *more]) for more in some):
        after = {MachineState()}
        for number, call in enumerate(order):
            if any(
                earlier.outcome is not Outcome.UNKNOWN
                and (earlier.row < call.row if earlier.client == call.client else earlier.returned_ns < call.called_ns)
                for earlier in order[number + 1 :]
            ):
                after = set()
            elif call.outcome is Outcome.REFUSED:
                after = {state for state in after if may_refuse(state, call)}
            else:
                after = {one for state in after for one in carried_out(state, call)}
        if after:
            return True
    return False


def test_the_search_finds_an_order_where_trying_all_does() -> None:
    found = []
    for number in range(400):
        trace = history(number)
        if len(boxes(trace)) == 6:
            found.append(order_of(trace) is not None)
            assert found[-1] == is_explained_in_the_plainest_way(trace), number
    assert min(found.count(True), found.count(False)) >= 5


# What is left of 10,000 histories, by number, read by hand. Silent: no order explains it, and nothing is said to be
# broken.
CLEANED = "a group that was being begun, or ended, while a cleaning went on may be gone for all that checks know"
ONE_MOMENT = "calls of one client at one moment are taken to overlap"
UNKNOWN_NEXT = "how often a group was handed out is not judged beside a next_group that overlaps or has no known end"
UNKNOWN_OPEN = "a group that nobody heard of may be that of an open_group which overlaps, or has no known end"
ENDED_TWICE = "of two calls that end a group, one overlaps or has no known end: which is wrong is not judged"
REFUSED = "a close_group is refused whose effect a worker has seen"
COUNTED = "a cleaning counts while a call of unknown outcome may have moved what it counts"
SILENT = {
    **dict.fromkeys((100, 3703, 5672, 7989), CLEANED),
    **dict.fromkeys((6882, 8020, 8123), ONE_MOMENT),
    **dict.fromkeys((1715, 2641, 5068, 7894, 8997), UNKNOWN_NEXT),
    **dict.fromkeys((3062, 5916, 6797, 8850), UNKNOWN_OPEN),
    **dict.fromkeys((6991, 7492), ENDED_TWICE),
    **dict.fromkeys((6398, 9148), REFUSED),
    5075: COUNTED,
}
# False alarms: an order explains it, and a clause is said to be broken.
ROWS = "rows at one moment are taken in their order, by which no order explains it"
ALARMS = dict.fromkeys((1132, 3005, 9141), ROWS)


def without_counts(trace: Trace) -> Trace:
    """As if nobody knew how cleanings and starts of receivers ended, or whom they took for dead. Checks judge what they
    count only where no other call moves groups meanwhile."""
    index = schema("workqueue").index
    cleans, starts = (schema("workqueue").calls[name] for name in ("clean", "unlock_server_groups"))
    rows = []
    for row in trace.rows:
        new = list(row)
        if row[index("kind")] == Kind.RETURNED and row[index("call")] in (cleans, starts):
            new[index("outcome")] = Outcome.UNKNOWN
        elif row[index("call")] == cleans:
            new[index("senders_before")] = new[index("receivers_before")] = 1
        rows.append(tuple(new))
    return Trace(trace.header, rows)


def parted(
    numbers: range, most_tries: int = 0, held: Counter[str] | None = None, *, marks: bool = False
) -> Counter[tuple[bool, bool]]:
    """Whether an order explains a history, and whether checks break no clause in it: how many there are of each.
    Oracles say what checks say, and where the judges part it is of a kind that is known. held: counts, by clause, how
    often its checks held."""
    found: Counter[tuple[bool, bool]] = Counter()
    held = Counter() if held is None else held
    for number in numbers:
        trace = history(number, most_tries, marks=marks)
        results = judge(trace)
        for result in results:
            held[result.clause] += result.held
        failed = [result for result in results if result.verdict is Verdict.FAIL]
        broken = {(result.name, violation.position) for result in failed for violation in result.violations}
        judged = [check.name for check in JUDGES.applicable(trace.header) if not check.doubt]
        oracles = {name: JUDGES.oracles[name](trace) for name in judged}
        assert broken == {(name, position) for name, positions in oracles.items() for position in positions}, number
        explained = order_of(trace) is not None
        if explained and broken:
            assert number in ALARMS, number
            assert order_of(trace, by_rows=True) is None, number
        elif not explained and not broken:
            assert (order_of(without_counts(trace)) is None) == (number in SILENT), number
        else:
            assert number not in SILENT, number
            assert number not in ALARMS, number
        found[explained, not broken] += 1
    return found


@pytest.mark.parametrize("most_tries", [0, 1, 2])
def test_checks_and_oracles_part_from_the_search_in_known_ways_alone(most_tries: int) -> None:
    found = parted(range(300), most_tries)
    assert min(found[True, True], found[False, False]) > 30


def test_so_they_do_where_groups_wait_for_the_last_one() -> None:
    held: Counter[str] = Counter()
    found = parted(range(20_000, 20_300), held=held, marks=True)
    assert min(found[True, True], found[False, False]) > 30
    assert held["Q-CORR-LAST"] > 0


@pytest.mark.slow
def test_checks_and_oracles_part_from_the_search_in_known_ways_alone_in_ten_thousand() -> None:
    found = parted(range(10_000))
    assert found[True, False] == len(ALARMS)
    assert found[False, True] < 300 < found[False, False]


@pytest.mark.slow
def test_so_they_do_where_messages_are_set_aside() -> None:
    """Which happens to some of each hundred."""
    held: Counter[str] = Counter()
    parted(range(3_000), 1, held)
    assert held["Q-POISON"] >= 20
