"""Appliances in memory: who gets what, over links that break, and what neighbours are told."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.propagation import Propagation, covers_want
from scatterproof.impl.pubsub.running.tests.joined import Joined, Taker
from scatterproof.impl.pubsub.translation.messages import Message

FILTERS = ("a", "a.b", "a.*", "*.b", "a.>", ">", "b", "a.b*", "*.*", "*.>", "a.[*]", "b*")
TOPICS = ("a", "a.b", "a.bc", "b", "b.b", "a.b.c", "c")


def message(text: str, topic: str = "a.b", level: int = 2, *, retain: bool = False) -> Message:
    return Message(topic, text.encode(), level, retain)


def test_ps_route_a_message_crosses_three_appliances_once_and_goes_to_nobody_else() -> None:
    row = Joined("a", "b", "c")
    row.join("a", "b")
    row.join("b", "c")
    one, other = Taker(row.cores["c"]), Taker(row.cores["c"])
    for filter_ in ("a.*", "a.b", ">"):
        one.subscribe(filter_)
    other.subscribe("b")
    row.run()
    row.cores["a"].publish(message("x"))
    row.run()

    assert one.got == [(b"x", 2)]
    assert other.got == []
    assert one.in_force == ["a.*", "a.b", ">"]


def test_a_subscription_is_in_force_when_the_farthest_appliance_knows() -> None:
    row = Joined("a", "b", "c")
    row.join("a", "b")
    row.join("b", "c")
    taker = Taker(row.cores["a"])
    taker.subscribe("a.>")
    row.carry("a", "b")
    row.carry("b", "a")
    assert taker.in_force == []
    row.run()
    assert taker.in_force == ["a.>"]


@pytest.mark.parametrize("answers", [True, False])
def test_a_subscription_is_not_in_force_while_a_neighbour_that_was_dialled_has_not_answered(answers: bool) -> None:
    row = Joined("a", "b")
    row.join("b", "a", settle=False)
    taker = Taker(row.cores["b"])
    row.carry("b", "a")
    assert row.said["a"] == ["linked to b"]
    taker.subscribe("a.b")
    assert taker.in_force == []
    if answers:
        row.carry("a", "b")
        row.carry("b", "a")
        row.cores["a"].publish(message("1"))
    else:
        row.cut("a", "b")
    row.run()

    assert taker.in_force == ["a.b"]
    assert taker.got == [(b"1", 2)] * answers


def test_ps_neighbour_what_was_on_a_link_that_broke_comes_once_and_in_order() -> None:
    row = Joined("a", "b")
    row.join("a", "b")
    taker = Taker(row.cores["b"])
    taker.subscribe("a.b")
    row.run()
    row.cores["a"].publish(message("1"))
    row.carry("a", "b")  # taken, and not acknowledged
    row.cores["a"].publish(message("2"))
    row.cut("a", "b")
    row.cores["a"].publish(message("3"))
    row.cores["a"].publish(message("best effort", level=0))
    row.join("b", "a")

    assert taker.got == [(b"1", 2), (b"2", 2), (b"3", 2)]


def test_a_neighbour_that_has_lost_its_numbers_gets_what_was_not_acknowledged() -> None:
    row = Joined("a", "b")
    row.join("a", "b")
    taker = Taker(row.cores["b"])
    taker.subscribe("a.b")
    row.run()
    for text in "12":
        row.cores["a"].publish(message(text))
    row.run()
    row.cut("a", "b")
    row.cores["a"].publish(message("3"))
    row.begin_anew("b", Core("b", None, "another life"))
    late = Taker(row.cores["b"])
    late.subscribe("a.b")
    row.join("a", "b")
    row.cores["a"].publish(message("4"))
    row.run()

    assert late.got == [(b"3", 2), (b"4", 2)]


def test_what_a_neighbour_does_not_want_any_more_after_it_came_back_is_not_sent_to_it() -> None:
    row = Joined("a", "b")
    row.join("a", "b")
    Taker(row.cores["b"]).subscribe("a.b")
    row.run()
    assert row.cores["a"].table.plan("a.b").plain == ["b"]
    row.begin_anew("b", Core("b", None, "another life"))
    row.join("a", "b")

    assert row.cores["a"].table.plan("a.b").plain == []


def test_a_link_that_would_close_a_ring_is_refused_at_both_ends() -> None:
    row = Joined("a", "b", "c")
    row.join("a", "b")
    row.join("b", "c")
    row.join("c", "a")

    assert ("c", "a") not in row.ends
    assert any("reached another way" in said for said in row.said["a"])
    assert any("reached another way" in said for said in row.said["c"])
    assert ("b", "c") in row.ends


def test_ps_neighbour_what_waits_for_a_neighbour_that_is_away_does_not_come_twice_by_another_way() -> None:
    row = Joined("a", "b", "c")
    row.join("a", "b")
    row.join("b", "c")
    taker = Taker(row.cores["c"])
    taker.subscribe("a.b")
    row.run()
    row.cut("b", "c")
    row.join("c", "a")
    assert ("c", "a") not in row.ends
    row.cores["b"].publish(message("1"))
    row.cores["a"].publish(message("2"))
    row.run()
    row.join("b", "c")

    assert taker.got == [(b"1", 2), (b"2", 2)]


def test_a_second_connection_does_not_take_the_place_of_the_first_unless_its_dialler_is_the_first_name() -> None:
    row = Joined("a", "b")
    row.join("a", "b")
    first = row.ends["a", "b"]
    row.join("b", "a")
    assert row.cores["a"].links["b"].outbox is first.outbox
    assert any("linked already" in said for said in row.said["b"])


def test_ps_retain_a_retained_message_is_at_every_appliance_and_the_later_one_holds() -> None:
    row = Joined("a", "b", "c")
    row.join("a", "b")
    row.cores["a"].now_ns = 10
    row.cores["a"].publish(message("old", retain=True))
    row.cores["c"].now_ns = 20
    row.cores["c"].publish(message("new", retain=True))
    row.run()
    row.join("b", "c")
    for core in row.cores.values():
        assert core.retained["a.b"].payload == b"new"

    row.cores["a"].now_ns = 15  # a clock that is behind
    row.cores["a"].publish(message("", retain=True))
    row.run()
    assert [core.retained["a.b"].payload for core in row.cores.values()] == [b"", b"", b""]


def test_ps_shared_one_member_of_a_group_gets_a_message_wherever_it_is() -> None:
    row = Joined("a", "b", "c")
    row.join("a", "b")
    row.join("b", "c")
    members = [Taker(row.cores[name]) for name in "bcc"]
    alone = Taker(row.cores["c"])
    alone.subscribe("a.b")
    for member in members:
        member.subscribe("a.*", group="g")
    row.run()
    for number in range(12):
        row.cores["a"].publish(message(str(number)))
    row.run()

    shared = sorted(int(payload) for member in members for payload, _ in member.got)
    assert shared == list(range(12))
    assert [int(payload) for payload, _ in alone.got] == list(range(12))


def test_ps_shared_members_share_where_their_filters_differ_and_those_that_are_away_come_last() -> None:
    row = Joined("a")
    one, other = Taker(row.cores["a"]), Taker(row.cores["a"])
    one.subscribe("a.b", group="g")
    other.subscribe("a.>", group="g")
    one.is_there = False
    for number in range(4):
        row.cores["a"].publish(message(str(number)))
    assert (len(one.got), len(other.got)) == (0, 4)


@pytest.mark.parametrize("frame", [b"\0\0\0\1\xc1", b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\2\x91\x06"])
def test_what_is_no_appliance_is_refused_with_a_reason(frame: bytes) -> None:
    row = Joined("a", "b")
    row.join("a", "b", settle=False)
    row.ends["a", "b"].neighbour.receive(frame)
    assert row.said["a"]
    assert row.ends["a", "b"].outbox.closing


def least(wanted: set[str], told: set[str]) -> set[str]:
    """Of what is wanted, what no other covers; of two that cover each other one, and that which was told if any."""

    def out(one: str, other: str) -> bool:
        if not covers_want((other, ""), (one, "")):
            return False
        back = covers_want((one, ""), (other, ""))
        return not back or (other in told, other) > (one in told, one)

    return {one for one in wanted if not any(out(one, other) for other in wanted - {one})}


@given(st.lists(st.sampled_from(FILTERS), max_size=24))
def test_ps_cover_what_is_told_is_the_least_that_covers_what_is_wanted(turns: list[str]) -> None:
    kept, wanted = Propagation(), set[str]()
    for filter_ in turns:
        before = set(kept.told)
        if filter_ in wanted:
            wanted.remove(filter_)
            said = kept.remove((filter_, ""))
        else:
            wanted.add(filter_)
            said = kept.add((filter_, ""))
        told = {one for one, _ in kept.told}
        expected = least(wanted, {one for one, _ in before} & wanted)
        # Of filters that cover each other any one may be told.
        assert all(any(covers_want((one, ""), (other, "")) for one in told) for other in wanted)
        assert len(told) == len(expected)
        names = [type(one).__name__ for one in said]
        assert names == sorted(names, reverse=True)  # Wanted ahead of Dropped


def test_ps_cover_what_a_neighbour_is_told_costs_no_look_at_filters_that_have_nothing_to_do_with_it() -> None:
    kept, looked_at = Propagation(), []
    for number in range(300):
        for text in (f"a.r{number}.*", f"b{number}.>"):
            assert kept.add((text, ""))
        looked_at.append(kept.looked_at)
    assert kept.remove(("a.r7.*", ""))
    looked_at.append(kept.looked_at)

    assert max(looked_at) < 10


def test_ps_cover_what_a_wide_filter_hid_comes_back_at_a_cost_of_itself() -> None:
    kept = Propagation()
    kept.add((">", ""))
    for number in range(2_000):
        assert not kept.add((f"a.r{number}.*", ""))
    said = kept.remove((">", ""))

    assert len(said) == 2_001
    assert said[-1].filter == ">"


ACTIONS = st.one_of(
    st.tuples(st.just("subscribe"), st.integers(0, 3), st.sampled_from(FILTERS)),
    st.tuples(st.just("unsubscribe"), st.integers(0, 3), st.sampled_from(FILTERS)),
    st.tuples(st.just("publish"), st.integers(0, 2), st.sampled_from(TOPICS)),
    st.tuples(st.just("carry"), st.integers(0, 3), st.just("")),
    st.tuples(st.just("cut"), st.integers(0, 1), st.just("")),
)


@given(st.lists(ACTIONS, max_size=40))
@settings(max_examples=150)
def test_ps_route_guaranteed_messages_come_once_and_in_order_to_those_that_are_owed_them(
    actions: list[tuple[str, int, str]],
) -> None:
    """Subscriptions change where all is quiet; messages go, and links break, at any moment."""
    from scatterproof.impl.pubsub.matching import matches
    from scatterproof.impl.pubsub.translation.names import NATIVE

    row, names = Joined("a", "b", "c"), "abc"
    row.join("a", "b")
    row.join("b", "c")
    takers = [Taker(row.cores[name]) for name in "abcc"]
    mine: list[set[str]] = [set() for _ in takers]
    owed: list[list[bytes]] = [[] for _ in takers]
    pairs = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")]
    for number, (action, at, word) in enumerate(actions):
        if action in ("subscribe", "unsubscribe"):
            for one, other in pairs[::2]:
                if (one, other) not in row.ends:
                    row.join(one, other)
            row.run()
        if action == "subscribe" and word not in mine[at]:
            mine[at].add(word)
            takers[at].subscribe(word)
            row.run()
        elif action == "unsubscribe" and word in mine[at]:
            mine[at].remove(word)
            takers[at].unsubscribe(word)
            row.run()
        elif action == "publish":
            payload = f"{names[at]}{number}".encode()
            row.cores[names[at]].publish(Message(word, payload, 2))
            for who, filters in enumerate(mine):
                if any(matches(NATIVE.filter(one), NATIVE.topic(word)) for one in filters):
                    owed[who].append(payload)
        elif action == "carry":
            row.carry(*pairs[at])
        elif action == "cut":
            row.cut(*pairs[2 * at])
    for one, other in pairs[::2]:
        if (one, other) not in row.ends:
            row.join(one, other)
    row.run()
    for taker, due in zip(takers, owed, strict=True):
        got = [payload for payload, _ in taker.got]
        assert sorted(got) == sorted(due)
        for name in names:
            of_one = [payload for payload in got if payload.startswith(name.encode())]
            assert of_one == [payload for payload in due if payload.startswith(name.encode())]


def test_a_neighbour_that_is_silent_for_longer_than_it_may_be_is_taken_as_dead() -> None:
    row = Joined("a", "b")
    row.join("a", "b")
    ends = [row.ends["a", "b"], row.ends["b", "a"]]
    for end in ends:
        end.neighbour._patience = 2
    for _ in range(5):  # both say that they are there
        for end in ends:
            end.neighbour.tick()
        row.run()
    assert row.cores["a"].links["b"].outbox is not None
    for silent in (False, False, True):
        ends[0].neighbour.tick()
        assert ends[0].outbox.is_abandoned is silent
    assert row.said["a"][-1] == "b is silent, and taken as dead"
