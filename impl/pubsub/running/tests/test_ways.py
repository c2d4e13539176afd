"""One neighbour with several addresses, in memory: which way is used, and that a change of the way loses and repeats
nothing that is guaranteed (PS-NEIGHBOUR)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scatterproof.impl.pubsub import ways as module
from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.neighbour import Neighbour
from scatterproof.impl.pubsub.running.outbox import Outbox
from scatterproof.impl.pubsub.running.tests.joined import Taker
from scatterproof.impl.pubsub.translation.messages import Message
from scatterproof.impl.pubsub.ways import STEADY, Ways

MS = 1_000_000


class Measured:
    """Ways whose probes take what the test says. used: the ways that were greeted on, in turn."""

    def __init__(self, *names: str) -> None:
        self.ways, self.used, self.now_ns = Ways(names), list[str](), 0
        for way in self.ways.all:
            self.ways.opened(way, lambda name=way.name: self.used.append(name))  # type: ignore[misc]

    def probe(self, **took_ms: float) -> None:
        """One probe on each of these ways; the others say nothing."""
        for way in self.ways.all:
            way.asked(self.now_ns)
        for way in sorted(self.ways.all, key=lambda way: took_ms.get(way.name, 0)):
            if way.name in took_ms:
                took_ns = int(took_ms[way.name] * MS)
                self.ways.answered(way, self.now_ns, self.now_ns + took_ns)
        self.now_ns += 500 * MS


def test_the_first_way_is_used_until_another_is_clearly_better_for_some_probes_in_a_row() -> None:
    two = Measured("a", "b")
    for _ in range(20):
        two.probe(a=20, b=15)
    assert two.used == ["a"]
    for _ in range(STEADY):  # in the first one the answer on b comes ahead of that on a
        two.probe(a=400, b=15)
    assert two.used == ["a"]
    two.probe(a=400, b=15)
    assert two.used == ["a", "b"]


def test_a_way_that_swings_around_the_other_does_not_make_the_choice_swing() -> None:
    two = Measured("a", "b")
    for number in range(200):
        two.probe(a=20 + 10 * (number % 2), b=30 - 10 * (number % 2))
    assert two.used == ["a"]


def test_a_way_on_which_nothing_comes_back_is_left() -> None:
    two = Measured("a", "b")
    two.probe(a=1, b=2)
    for _ in range(STEADY + 1):
        two.probe(b=2)
    assert two.used == ["a", "b"]


def test_a_jittery_way_is_left_for_a_steady_one_with_the_same_mean() -> None:
    two = Measured("a", "b")
    for number in range(60):
        two.probe(a=50 + 45 * (-1) ** number, b=50)
    assert two.used == ["a", "b"]


def test_a_way_whose_connection_breaks_is_left_at_once_and_loss_counts_against_it() -> None:
    two = Measured("a", "b")
    two.probe(a=10, b=25)
    first, second = two.ways.all
    for _ in range(9):
        first.asked(two.now_ns)
        two.ways.broke(first, two.now_ns)
        two.ways.opened(first, lambda: two.used.append("a"))
    assert two.used == ["a", "b"]
    assert first.loss > 0.5
    for _ in range(STEADY):
        two.probe(a=10, b=25)
    assert two.used == ["a", "b"]
    for _ in range(60):
        two.probe(a=10, b=25)
    assert two.used == ["a", "b", "a"]
    assert second.loss == 0


def test_the_end_of_a_connection_that_was_left_is_no_loss() -> None:
    two = Measured("a", "b")
    two.probe()
    first, second = two.ways.all
    two.ways.take(second)
    two.ways.broke(first, two.now_ns)
    assert first.loss == 0
    two.ways.opened(first, lambda: None)
    first.asked(two.now_ns)
    two.ways.broke(first, two.now_ns)
    assert first.loss > 0
    two.ways.broke(second, two.now_ns)
    assert second.loss > 0


class Twice:
    """Two appliances; the second dials the first by two ways. What is carried is chosen by the test."""

    def __init__(self) -> None:
        self.cores = Core("a", None, "life of a"), Core("b", None, "life of b")
        self.takers = tuple(Taker(core) for core in self.cores)
        self.ways, self.said, self.known = Ways("12"), list[str](), dict[object, str]()
        self.ends: dict[int, tuple[Neighbour, Neighbour]] = {}
        self.boxes: dict[int, tuple[Outbox, Outbox]] = {}
        for number in (0, 1):
            self.open(number)
        for taker in self.takers:
            taker.subscribe("t")
        self.run()
        assert [taker.in_force for taker in self.takers] == [["t"], ["t"]]
        self.published = [list[bytes](), list[bytes]()]

    def open(self, number: int) -> None:
        if number in self.ends:
            return
        a, b = self.cores
        self.boxes[number] = a.outbox(), b.outbox()
        far = Neighbour(a, self.boxes[number][0], {}, self.said.append)
        of = self.ways, self.ways.all[number]
        near = Neighbour(b, self.boxes[number][1], self.known, self.said.append, ("a", number), None, of)
        self.ends[number] = far, near

    def cut(self, number: int) -> None:
        for end in self.ends.pop(number, ()):
            end.lost()

    def change(self, number: int) -> None:
        if number in self.ends and self.boxes[number][1].closing is None:
            self.ways.take(self.ways.all[number])

    def publish(self, side: int) -> None:
        text = b"%d" % len(self.published[side])
        self.published[side].append(text)
        self.cores[side].publish(Message("t", text, 2, False), but=self.takers[side])

    def carry(self, number: int, side: int) -> bool:
        """Carry what one side has said on a way."""
        if number not in self.ends:
            return False
        self.cores[side].end_turn()
        box = self.boxes[number][side]
        data = b"".join(box.parts)
        box.parts.clear()
        box.size = 0
        if data:
            self.ends[number][1 - side].receive(data)
        if box.closing is not None:
            self.cut(number)
        return bool(data)

    def run(self) -> None:
        while sum(self.carry(number, side) for number in (0, 1) for side in (0, 1)):
            pass


def test_a_unix_clock_that_is_set_changes_no_measurement() -> None:
    two = Twice()
    two.cut(0)
    core = two.cores[1]
    core.now_ns, core.steady_ns = 10**18, 5 * MS
    two.open(0)
    core.now_ns, core.steady_ns = 2 * 10**18, 7 * MS
    two.run()
    assert two.ways.all[0].latency_ns == 2 * MS / 8  # the first probe took no time


_steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["open", "cut", "change", "publish"]), st.integers(0, 1)),
        st.tuples(st.just("carry"), st.integers(0, 1), st.integers(0, 1)),
        st.tuples(st.just("publish"), st.integers(0, 1)),
    ),
    max_size=60,
)


def _play(steps: Sequence[tuple[str, int] | tuple[str, int, int]]) -> Twice:
    two = Twice()
    for what, *numbers in steps:
        getattr(two, what)(*numbers)
    for number in (0, 1):
        two.open(number)
    two.run()
    two.open(0)
    two.open(1)
    two.run()
    return two


@given(_steps)
@settings(max_examples=80)
def test_ps_neighbour_a_change_of_the_way_loses_and_repeats_nothing(
    steps: list[tuple[str, int] | tuple[str, int, int]],
) -> None:
    two = _play(steps)
    for side in (0, 1):
        assert [payload for payload, _ in two.takers[1 - side].got] == two.published[side]
    # Nobody waits for acknowledgements that will never come.
    assert not any(link.is_full(1, 1) for core in two.cores for link in core.links.values())


def test_ps_neighbour_what_was_taken_while_the_way_changed_is_acknowledged() -> None:
    two = Twice()
    for _ in range(3):
        two.publish(0)
    two.change(1)
    two.carry(0, 0)  # taken on the old way, after the greeting on the new one
    two.carry(1, 1)
    two.run()
    assert "linked to a by 2" in two.said
    assert two.cores[1].links["a"].outbox is not None
    assert [payload for payload, _ in two.takers[1].got] == [b"0", b"1", b"2"]
    assert not two.cores[0].links["b"].is_full(1, 1)


def test_where_the_new_way_breaks_at_once_the_old_one_goes_on() -> None:
    two = Twice()
    before = list(two.said)
    two.change(1)
    two.cut(1)
    two.publish(0)
    two.run()
    assert [payload for payload, _ in two.takers[1].got] == [b"0"]
    assert two.said == before


def test_two_appliances_are_no_ways_to_one() -> None:
    two = Twice()
    two.cut(1)
    two.cores = Core("c", None, "life of c"), two.cores[1]
    two.open(1)
    two.change(1)
    two.run()
    assert "the neighbour at a:1 is not linked: a and c are two; give a --neighbour for each" in two.said


@pytest.mark.parametrize("rule", [lambda cost, current, _: cost <= current, lambda *_: False])
def test_another_rule_is_told(rule: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_better", rule)
    with pytest.raises(AssertionError):
        test_the_first_way_is_used_until_another_is_clearly_better_for_some_probes_in_a_row()
