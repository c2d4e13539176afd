"""What a process keeps is bounded by what is in flight, not by how many messages there were."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scatterproof.impl.broadcast import Stack
from scatterproof.impl.broadcast.rules import prefix_with
from scatterproof.impl.broadcast.runs import Numbers, Run, Segments, Waiting
from scatterproof.impl.broadcast.settings import MAX_RUN
from scatterproof.impl.broadcast.tests.nodes import ack, arrive, data, hand, process, settle, wake
from scatterproof.impl.broadcast.tests.test_hostile import state
from scatterproof.spec.schedule import EVERYBODY

LEVELS = ("pl", "urb", "fifo", "lcb")


def atoms(value: object) -> int:
    """How many single values a core's state has."""
    held = state(value)
    stack, count = [held], 0
    while stack:
        one = stack.pop()
        if isinstance(one, list | tuple):
            stack += one
        else:
            count += 1
    return count


def mesh(level: str, processes: int) -> list[Stack]:
    dependencies = ";".join(["0,1"] * processes) if level == "lcb" else ""
    return [process(node, processes, level=level, dependencies=dependencies) for node in range(processes)]


def load(cores: list[Stack], level: str, messages: int, without: frozenset[int] = frozenset()) -> None:
    """Every process hands over this many messages; all is delivered and acknowledged."""
    for turn in range(messages):
        for node, core in enumerate(cores):
            if node not in without:
                receiver = (node + 1) % len(cores) if level == "pl" else EVERYBODY
                effects = hand(core, b"", now=turn * 1_000, receiver=receiver)
                settle(cores, effects, turn * 1_000, without)


@pytest.mark.parametrize("level", LEVELS)
def test_bc_pl_memory_bc_urb_gc_when_all_is_delivered_nothing_is_left_of_it(level: str) -> None:
    few, many = mesh(level, 3), mesh(level, 3)
    load(few, level, 2)
    load(many, level, 60)

    assert [atoms(core) for core in many] == [atoms(core) for core in few]


def test_bc_pl_memory_lit_1_is_seen_to_grow() -> None:
    from scatterproof.impl.broadcast.literal_rules import LITERAL

    few, many = ([process(node, 3, LITERAL["BC-PL-MEMORY lit-1"], level="urb") for node in range(3)] for _ in range(2))
    load(few, "urb", 2)
    load(many, "urb", 20)

    assert atoms(many[0]) > atoms(few[0]) + 3 * 18


@pytest.mark.parametrize("level", ["urb", "fifo"])
def test_bc_pl_memory_what_waits_for_a_crashed_peer_does_not_grow(level: str) -> None:
    sizes = []
    for messages in (70, 300):
        cores = mesh(level, 3)
        load(cores, level, messages, without=frozenset({2}))
        sizes.append([atoms(core) for core in cores[:2]])

    assert sizes[0] == sizes[1]


def test_a_crashed_peer_is_sent_one_packet_at_a_time_ever_more_rarely() -> None:
    core = process(0, 2, level="pl")
    for number in range(20):
        hand(core, b"x", receiver=1, now=number)
    now, sendings = 0, 0
    while now < 1_000 * 1_600:
        now = core.next_deadline() or 0
        sendings += len(wake(core, now))

    assert sendings < 40


@settings(max_examples=300)
@given(st.permutations(range(12)), st.lists(st.integers(1, 3), min_size=12, max_size=12))
def test_numbers_collapse_to_a_prefix_in_whatever_order_they_come(order: list[int], lengths: list[int]) -> None:
    numbers = Numbers(prefix_with)
    starts = [1 + sum(lengths[:at]) for at in range(12)]
    seen: set[int] = set()
    for at in order:
        numbers.add(starts[at], starts[at] + lengths[at] - 1)
        seen |= set(range(starts[at], starts[at] + lengths[at]))
        missing = {n for first, last in numbers.missing(1, sum(lengths)) for n in range(first, last + 1)}
        assert missing == set(range(1, sum(lengths) + 1)) - seen
        assert numbers.prefix + 1 not in seen

    assert (numbers.prefix, numbers.beyond) == (sum(lengths), {})


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(1, 20), st.integers(0, 6)), max_size=12))
def test_segments_know_of_each_message_who_has_it(runs: list[tuple[int, int]]) -> None:
    segments, known = Segments(), dict.fromkeys(range(1, 30), 0)
    for at, (first, more) in enumerate(runs):
        found, gaps = segments.within(first, first + more)
        for segment in found:
            segment.heard |= 1 << at
        for start, end in gaps:
            segments.add(Run(0, start, end), 1 << at)
        for number in range(first, first + more + 1):
            known[number] |= 1 << at
    heard = {
        number: segment.heard
        for segment in segments.by_first.values()
        for number in range(segment.run.first, segment.run.last + 1)
    }

    assert heard == {number: bits for number, bits in known.items() if bits}


@settings(max_examples=300)
@given(st.permutations(range(10)), st.integers(0, 3))
def test_runs_that_wait_grow_together_and_all_leave(order: list[int], creators: int) -> None:
    waiting = Waiting()
    for at in order:
        waiting.add(Run(at % (creators + 1), 1 + 10 * at, 10 + 10 * at))
    left: set[int] = set()
    while waiting:
        run = waiting.take()
        taken = set(range(run.first, run.last + 1))
        assert not taken & left
        left |= taken

    assert left == set(range(1, 101))


def test_runs_that_are_neighbours_are_one_whichever_came_first() -> None:
    waiting = Waiting()
    for first in (11, 1, 31, 21):
        waiting.add(Run(0, first, first + 9))

    assert len(waiting) == 1
    assert waiting.take() == Run(0, 1, 40)


def test_a_part_of_a_run_has_the_clock_of_its_first_message() -> None:
    run = Run(1, 5, 9, b"", (3, 4, 0))

    assert run.part(5, 6) == Run(1, 5, 6, b"", (3, 4, 0))
    assert run.part(7, 9) == Run(1, 7, 9, b"", (3, 6, 0))


def test_runs_with_payload_or_clock_stay_as_they_are() -> None:
    waiting = Waiting()
    runs = [Run(0, 1, 1, b"x"), Run(0, 2, 2, b"", (1, 0)), Run(0, 3, 3, b"y")]
    for run in runs:
        waiting.add(run)

    assert [waiting.take() for _ in runs] == runs
    assert not waiting


def test_a_long_span_leaves_in_pieces_that_a_packet_may_carry() -> None:
    waiting = Waiting()
    waiting.add(Run(0, 1, MAX_RUN + 5))

    assert [waiting.take().last for _ in range(2)] == [MAX_RUN, MAX_RUN + 5]


def test_acknowledged_packets_are_forgotten_and_their_numbers_too() -> None:
    core = process(0, 2, level="pl")
    empty = atoms(core)
    for number in range(1, 200):
        hand(core, b"x", receiver=1, now=number)
        arrive(core, ack(1, 0, number, number), number)
        arrive(core, data(1, 0, 1, number, number), number)
    wake(core, 10_000)

    assert atoms(core) == empty
