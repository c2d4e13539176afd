"""Fuzzing shared out: the same failures however that is done, told apart by their schedules, but for names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.fuzz.alike import alike
from scatterproof.fuzz.corpus import chunk_size, drawn_chunk, drawn_schedules
from scatterproof.fuzz.fuzzer import fuzz, violations_of
from scatterproof.fuzz.plain import plainer, shrink_plainly, without_link
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.spread import Distinct, Share, SpreadResult, distinct, fuzz_spread, try_share
from scatterproof.fuzz.strategies import network_of
from scatterproof.spec import schedule as schedules
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Clock, Delay, FailureKind, Fault, FaultKind, Message, Schedule, Submission
from scatterproof.spec.schedule import Failure as Failing
from scatterproof.spec.topology import Link, Node, Role, Topology

EXAMPLES, SEED = 30, 1
REFERENCE = SimulatedIut("reference", load("totalorder").node_with({}))


def no_tie_break() -> SimulatedIut:
    node = load("totalorder").node_with({"precedence": lambda timestamp, sender: (timestamp,)})
    return SimulatedIut("no-tie-break", node)


def here(
    items: Sequence[Any],
    work: Callable[[Any], Any],
    *,
    weights: Sequence[int],
    on_progress: Callable[[int, int], None] | None = None,
    backwards: bool = False,
) -> Sequence[Any]:
    assert len(weights) == len(items)
    numbers = range(len(items))
    done = {number: work(items[number]) for number in (reversed(numbers) if backwards else numbers)}
    if on_progress is not None:
        on_progress(sum(weights), sum(weights))
    return [done[number] for number in numbers]


@pytest.fixture(scope="module", autouse=True)
def small_chunks() -> Iterator[None]:
    """So that there are several, and little is drawn in vain."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scatterproof.fuzz.corpus.CHUNK", 24)
        yield


@pytest.fixture(scope="module")
def found(small_chunks: None, tmp_path_factory: pytest.TempPathFactory) -> SpreadResult:
    folder = tmp_path_factory.mktemp("failures")
    return fuzz_spread("totalorder", no_tie_break, here, examples=EXAMPLES, seed=SEED, folder=folder, per_clause=2)


def test_chunks_are_the_schedules_that_fuzzing_runs_anyway() -> None:
    size = chunk_size("totalorder")
    second = list(islice(drawn_schedules("totalorder", SEED), size, 2 * size))
    assert second == drawn_chunk("totalorder", SEED, 1)
    assert len(second) == size
    share = Share(protocol="totalorder", seed=SEED, chunk=1, count=size)
    failing = [failing for of_clause in try_share(no_tie_break, size, share).first.values() for failing in of_clause]
    assert failing
    assert all(number >= size and second[number - size] == schedule for number, schedule in failing)


@pytest.mark.slow
def test_what_is_found_is_what_fuzzing_finds_and_more(found: SpreadResult, tmp_path: Path) -> None:
    alone = fuzz("totalorder", no_tie_break(), examples=EXAMPLES, seed=SEED, folder=tmp_path, max_shrink_runs=1)
    assert (found.examples, found.rows, found.at_stake) == (alone.examples, alone.rows, alone.at_stake)
    firsts = {failure.clause: failure.found_at for failure in reversed(found.failures)}
    assert firsts == {failure.clause: failure.found_at for failure in alone.failures}
    assert found.failing["TO-ORDER"] > found.per_clause
    kept = [failure for failure in found.failures if failure.clause == "TO-ORDER"]
    assert sum(1 + failure.further for failure in kept if isinstance(failure, Distinct)) == found.per_clause


@pytest.mark.slow
def test_every_failure_is_saved_small_and_fails_again(found: SpreadResult) -> None:
    assert len({failure.file for failure in found.failures}) == len(found.failures)
    for failure in found.failures:
        replayed = schedules.read(Path(failure.file))
        assert replayed == failure.schedule
        assert failure.minimal
        assert violations_of(no_tie_break().run(replayed))[failure.clause] == failure.violation
        assert not violations_of(REFERENCE.run(replayed)), "a right implementation fails there as well"


@pytest.mark.slow
def test_done_last_first_the_work_gives_the_same(found: SpreadResult) -> None:
    said: list[tuple[str, int, int]] = []
    folder = Path(found.failures[0].file).parent
    other = fuzz_spread(
        "totalorder",
        no_tie_break,
        partial(here, backwards=True),
        examples=EXAMPLES,
        seed=SEED,
        folder=folder,
        per_clause=2,
        on_progress=lambda *at: said.append(at),
    )
    assert replace(other, seconds=0, schedules_per_second=0) == replace(found, seconds=0, schedules_per_second=0)
    shrunk = sum(min(count, 2) for count in found.failing.values())
    assert said == [("schedules", EXAMPLES, EXAMPLES), ("failing schedules shrunk", shrunk, shrunk)]


def test_of_alike_failures_the_first_is_kept_and_the_others_are_counted() -> None:
    one, renamed, other = small(), with_hosts_swapped(small()), replace(small(), end_ns=7)

    def failure(clause: str, number: int, schedule: Schedule) -> Distinct:
        return Distinct(
            clause=clause,
            violation=None,
            notes=(),
            schedule=schedule,
            file="",
            found_at=number,
            minimal=True,
            further=0,
        )

    found = [failure("A", 5, one), failure("A", 2, renamed), failure("A", 3, other), failure("B", 1, one)]
    told = [(kept.clause, kept.found_at, further) for kept, further in distinct(found)]
    assert told == [("A", 2, 1), ("A", 3, 0), ("B", 1, 0)]


def small() -> Schedule:
    """Two senders and a receiver at one switch, with something of everything."""
    nodes = (*(Node(name, Role.HOST) for name in ("a", "b", "c")), Node("s", Role.SWITCH))
    topology = network_of(Topology(nodes, (Link(0, 3), Link(1, 3), Link(3, 2)))).topology
    return Schedule(
        protocol="totalorder",
        topology=topology,
        delays=(Delay(1), Delay(2), Delay(3)),
        submissions=(Submission(0, 0, (Message(2, b"x"),)), Submission(4, 1, (Message(2, b"y"),))),
        clocks=(Clock(1), Clock(2), Clock(), Clock()),
        faults=(Fault(1, 0, FaultKind.LOSE),),
    )


def with_hosts_swapped(schedule: Schedule) -> Schedule:
    """The senders have changed their numbers, and the links theirs; payloads are other ones, equal where they were."""
    node = {0: 1, 1: 0, 2: 2, 3: 3}
    order = (2, 1, 0)  # link k was link order[k]
    links = tuple(schedule.topology.links[old] for old in order)
    return replace(
        schedule,
        topology=Topology(
            tuple(schedule.topology.nodes[node[new]] for new in range(4)),
            tuple(Link(node[link.source], node[link.target]) for link in links),
        ),
        delays=tuple(schedule.delays[old] for old in order),
        submissions=tuple(
            Submission(
                one.time_ns,
                node[one.node],
                tuple(Message(node[message.receiver], b"<" + message.payload[1:]) for message in one.messages)
                if number
                else tuple(Message(node[message.receiver], b">") for message in one.messages),
            )
            for number, one in enumerate(schedule.submissions)
        ),
        clocks=tuple(schedule.clocks[node[new]] for new in range(4)),
        faults=tuple(replace(fault, link=order.index(fault.link)) for fault in schedule.faults),
    )


def test_parameters_links_and_payloads_that_have_no_part_in_a_failure_go() -> None:
    one = replace(
        small(),
        parameters={"beacon_interval_ns": 3, "other_ns": 700, "environment": "C", "host": 2},
        failures=(Failing(5, FailureKind.CUT, link=3), Failing(6, FailureKind.CUT, link=1)),
        topology=Topology(small().topology.nodes, (*small().topology.links, Link(3, 1))),
        delays=(Delay(1), Delay(2), Delay(3), Delay(4)),
    )

    def fails(schedule: Schedule) -> bool:
        if "host" in schedule.parameters and "environment" not in schedule.parameters:
            raise BadInput("no environment")
        return "beacon_interval_ns" in schedule.parameters and len(schedule.submissions) == 2

    shrunk = shrink_plainly(one, fails, lambda schedule: "other_ns" in schedule.parameters, max_runs=1000)
    assert shrunk.minimal
    left = shrunk.schedule
    # The failure does not need the second one; a right implementation does.
    assert left.parameters == {"beacon_interval_ns": 10, "other_ns": 10}
    assert left.topology.links == small().topology.links
    assert [submission.messages[0].payload for submission in left.submissions] == [b"\0", b"\1"]
    assert not any(fails(step) and "other_ns" in step.parameters for step in plainer(left))
    assert not shrink_plainly(one, fails, lambda schedule: True, max_runs=3).minimal
    unsound = shrink_plainly(one, fails, lambda schedule: False, max_runs=1000)
    assert unsound.schedule.parameters == one.parameters


def test_without_a_link_the_others_move_up_with_what_befalls_them() -> None:
    topology = Topology(small().topology.nodes, (Link(3, 1), *small().topology.links))
    one = replace(
        small(),
        topology=topology,
        delays=(Delay(9), *small().delays),
        faults=(Fault(0, 0, FaultKind.LOSE), Fault(2, 0, FaultKind.LOSE)),
        failures=(Failing(5, FailureKind.CUT, link=0), Failing(6, FailureKind.CUT, link=3)),
    )
    assert without_link(one, 0) == replace(small(), failures=(Failing(6, FailureKind.CUT, link=2),))
    assert without_link(one, 1) is None  # the first sender's only link


def test_names_make_no_difference() -> None:
    assert alike(small(), small())
    assert small() != with_hosts_swapped(small())
    assert alike(small(), with_hosts_swapped(small()))


def test_everything_else_makes_a_difference() -> None:
    one = small()
    first, second = one.submissions
    others = [
        replace(one, parameters={"environment": "C"}),
        replace(one, seed=1),
        replace(one, delays=(Delay(2), Delay(2), Delay(3))),
        replace(one, delays=(Delay(2), Delay(1), Delay(3))),  # the same delays, on the other's links
        replace(one, clocks=(Clock(2), Clock(1), Clock(), Clock())),
        replace(one, submissions=(first, replace(second, node=0))),
        replace(one, submissions=(first, replace(second, time_ns=5))),
        replace(one, submissions=(first, replace(second, messages=(Message(2, b"x"),)))),  # equal payloads
        replace(one, submissions=(first, replace(second, messages=(Message(2, b"yy"),)))),
        replace(one, faults=(Fault(0, 0, FaultKind.LOSE),)),
        replace(one, faults=(Fault(1, 1, FaultKind.LOSE),)),
        replace(one, faults=()),
    ]
    for other in others:
        assert not alike(one, other), other
