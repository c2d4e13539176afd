"""Uniform reliable and FIFO broadcast, event by event."""

from __future__ import annotations

import pytest

from scatterproof.impl.broadcast.literal_rules import LITERAL
from scatterproof.impl.broadcast.rules import RULES, majority
from scatterproof.impl.broadcast.tests.nodes import ACK, arrive, begun, data, delivered, hand, process, refusals, sent


def test_a_message_of_one_s_own_goes_to_all_and_waits_for_a_majority() -> None:
    core = process(0, 3, level="urb")
    effects = hand(core, b"x")

    assert [(packet.receiver, packet.creator, packet.first) for packet in sent(effects)] == [(1, 0, 1), (2, 0, 1)]
    assert [(one.number, one.count, one.payload) for one in begun(effects)] == [(1, 1, b"x")]
    assert delivered(effects) == []
    assert delivered(arrive(core, data(1, 0, 0, 1, 1, payload=b"x"))) == [(0, 1)]


def test_bc_urb_maj_more_than_half_must_have_the_message() -> None:
    core = process(0, 4, level="urb")
    hand(core, b"x")

    assert delivered(arrive(core, data(1, 0, 0, 1, 1, payload=b"x"))) == []
    assert delivered(arrive(core, data(2, 0, 0, 1, 1, payload=b"x"))) == [(0, 1)]


def test_bc_urb_maj_lit_half_half_of_four_deliver_what_the_others_may_never_see() -> None:
    core = process(0, 4, LITERAL["BC-URB-MAJ lit-half"], level="urb")
    hand(core, b"x")

    assert delivered(arrive(core, data(1, 0, 0, 1, 1, payload=b"x"))) == [(0, 1)]


def test_bc_urb_maj_the_first_reception_forwards_to_all_before_it_delivers() -> None:
    core = process(2, 3, level="urb")
    effects = arrive(core, data(0, 2, 1, 5, 1, count=3))

    assert [(one.receiver, one.creator, one.first, one.count) for one in sent(effects)] == [(0, 1, 5, 3), (1, 1, 5, 3)]
    assert delivered(effects) == [(1, 5), (1, 6), (1, 7)]
    assert effects.index(next(one for one in effects if type(one).__name__ == "Deliver")) == 2
    assert sent(arrive(core, data(1, 2, 1, 5, 1, count=3))) == []


def test_bc_urb_self_a_process_counts_itself() -> None:
    # The creator, 0, reached 1 alone and died: 2 hears of the message from 1 only.
    assert delivered(arrive(process(2, 3, level="urb"), data(1, 2, 0, 1, 1))) == [(0, 1)]
    literal = process(2, 3, LITERAL["BC-URB-SELF lit-1"], level="urb")
    assert delivered(arrive(literal, data(1, 2, 0, 1, 1))) == []


def test_bc_urb_once_and_gc_late_copies_are_not_pending_again_and_not_forwarded() -> None:
    core = process(2, 3, level="urb")
    arrive(core, data(0, 2, 1, 1, 1, payload=b"x"))
    late = arrive(core, data(1, 2, 1, 1, 1, payload=b"x"))

    assert (delivered(late), sent(late)) == ([], [])
    assert core._uniform.pending[1].by_first == {}  # type: ignore[attr-defined]
    assert core._uniform.delivered[1].prefix == 1  # type: ignore[attr-defined]


def test_bc_urb_minority_alone_a_process_delivers_nothing() -> None:
    core = process(0, 3, level="urb")
    hand(core, b"x")
    for pseq in range(1, 4):  # copies of its own message from one process alone would do, from nobody they do not
        assert delivered(hand(core, b"y", now=pseq)) == []


def test_copies_that_were_cut_otherwise_count_message_by_message() -> None:
    core = process(0, 5, level="urb")
    hand(core, *[b""] * 6)
    assert delivered(arrive(core, data(1, 0, 0, 1, 1, count=4))) == []
    assert delivered(arrive(core, data(2, 0, 0, 3, 1, count=4))) == [(0, 3), (0, 4)]
    assert delivered(arrive(core, data(3, 0, 0, 1, 1, count=6))) == [(0, 1), (0, 2), (0, 5), (0, 6)]


def test_only_what_is_new_of_a_run_is_forwarded() -> None:
    core = process(0, 5, level="urb")
    arrive(core, data(1, 0, 2, 3, 1, count=2))
    forwarded = sent(arrive(core, data(3, 0, 2, 1, 1, count=6)))

    assert {(one.receiver, one.first, one.count) for one in forwarded} == {
        (peer, *run) for peer in (1, 2, 3, 4) for run in ((1, 2), (5, 2))
    }


def test_bc_urb_real_copies_of_what_was_never_begun_or_with_another_payload_are_refused() -> None:
    core = process(0, 3, level="urb")
    hand(core, b"x")
    assert refusals(arrive(core, data(1, 0, 0, 2, 1))) == ["forwards message 2 of this process, which has begun 1"]
    assert refusals(arrive(core, data(1, 0, 0, 1, 1, payload=b"z"))) == [
        "message 1 of process 0 has come with another payload before"
    ]
    assert delivered(arrive(core, data(1, 0, 0, 1, 1, payload=b"x"))) == [(0, 1)]


@pytest.mark.parametrize(("processes", "enough"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (128, 65)])
def test_a_majority_is_more_than_half(processes: int, enough: int) -> None:
    assert majority((1 << enough) - 1, processes)
    assert not majority((1 << enough) - 2, processes)


def test_a_process_that_is_alone_is_its_own_majority() -> None:
    for level in ("urb", "fifo", "lcb"):
        assert delivered(hand(process(0, 1, level=level), b"x", b"y")) == [(0, 1), (0, 2)]


def test_bc_fifo_order_a_message_waits_for_those_before_it() -> None:
    core = process(2, 3, level="fifo")
    assert delivered(arrive(core, data(0, 2, 1, 3, 1, count=2))) == []
    assert delivered(arrive(core, data(0, 2, 1, 2, 2))) == []
    assert delivered(arrive(core, data(0, 2, 1, 1, 3))) == [(1, 1), (1, 2), (1, 3), (1, 4)]
    assert core._fifo.waiting[1] == {}  # type: ignore[attr-defined]


def test_bc_fifo_flow_a_process_stops_at_its_threshold_and_goes_on_below_it() -> None:
    core = process(0, 3, level="fifo", most_undelivered=3)
    first = hand(core, b"1", b"2", b"3", b"4", b"5")
    assert [one.number for one in begun(first)] == [1, 2, 3]
    assert core.backlog == 2

    # The second is not delivered before the first.
    assert begun(arrive(core, data(1, 0, 0, 2, 1, payload=b"2"))) == []
    later = arrive(core, data(1, 0, 0, 1, 2, payload=b"1"))
    assert delivered(later) == [(0, 1), (0, 2)]
    assert [(one.number, one.payload) for one in begun(later)] == [(4, b"4"), (5, b"5")]
    assert core.backlog == 0


def test_bc_fifo_flow_lit_1_above_the_threshold_lets_one_more_go() -> None:
    core = process(0, 3, LITERAL["BC-FIFO-FLOW lit-1"], level="fifo", most_undelivered=3)

    assert len(begun(hand(core, b"1", b"2", b"3", b"4", b"5"))) == 4


def test_bc_fifo_flow_others_are_forwarded_all_the_while() -> None:
    core = process(0, 3, level="fifo", most_undelivered=1)
    hand(core, b"1", b"2")

    assert len(sent(arrive(core, data(1, 0, 1, 1, 1)))) == 2


def test_what_is_begun_at_once_is_cut_into_several_runs() -> None:
    core = process(0, 3, level="fifo", most_undelivered=16)

    assert [one.count for one in begun(hand(core, *[b""] * 40))] == [2] * 8


def test_every_packet_is_acknowledged_also_when_its_messages_are_known() -> None:
    core = process(2, 3, level="fifo", window=4)
    answers = [
        answer.receiver
        for packet in (data(0, 2, 1, 1, 1), data(1, 2, 1, 1, 1), data(1, 2, 1, 1, 2))
        for answer in sent(arrive(core, packet), ACK)
    ]

    assert answers == [0, 1, 1]


def test_the_rules_are_those_that_the_literal_ones_replace() -> None:
    for name, rules in LITERAL.items():
        assert rules != RULES, name
