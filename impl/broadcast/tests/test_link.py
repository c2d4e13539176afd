"""Perfect links, event by event: process 0 of two or three, at level pl."""

from __future__ import annotations

import pytest

from scatterproof.impl.broadcast import RULES
from scatterproof.impl.broadcast.literal_rules import LITERAL
from scatterproof.impl.broadcast.rules import FIRST_IN_FLIGHT
from scatterproof.impl.broadcast.settings import MAX_RUN
from scatterproof.impl.broadcast.tests.nodes import (
    ACK,
    ACK_DELAY_NS,
    RESEND_NS,
    ack,
    arrive,
    begun,
    data,
    delivered,
    hand,
    process,
    refusals,
    sent,
    wake,
)
from scatterproof.spec.core import LocalProtocolError
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import EVERYBODY


def test_bc_pl_pseq_packets_are_numbered_for_each_destination_and_messages_for_each_receiver() -> None:
    core = process(0, 3, level="pl")
    effects = [*hand(core, b"x", receiver=1), *hand(core, b"y", receiver=2), *hand(core, b"z", receiver=1)]
    packets = sent(effects)

    assert [(packet.receiver, packet.pseq, packet.first) for packet in packets] == [(1, 1, 1), (2, 1, 1), (1, 2, 2)]


def test_bc_pl_pseq_lit_1_one_counter_leaves_gaps_that_never_collapse() -> None:
    rules = LITERAL["BC-PL-PSEQ lit-1"]
    sender, receiver = process(0, 3, rules, level="pl"), process(1, 3, rules, level="pl")
    for turn in range(5):
        hand(sender, b"x", receiver=2)
        for packet in sent(hand(sender, b"y", receiver=1, now=turn)):
            arrive(receiver, packet, turn)
    remembered = receiver._links.peers[0].received

    assert (remembered.prefix, len(remembered.beyond)) == (0, 5)


def test_empty_messages_in_a_row_make_one_packet_and_one_beginning() -> None:
    core = process(0, 2, level="pl", most_in_run=4)
    effects = hand(core, *[b""] * 6, receiver=1)

    assert [(packet.first, packet.count) for packet in sent(effects)] == [(1, 4), (5, 2)]
    assert [(one.number, one.count, one.receiver) for one in begun(effects)] == [(1, 4, 1), (5, 2, 1)]


def test_bc_pl_once_a_duplicate_is_acknowledged_and_not_delivered() -> None:
    core = process(1, 2, level="pl")
    packet = data(0, 1, 0, 1, 1, payload=b"x")

    assert delivered(arrive(core, packet)) == [(0, 1)]
    assert delivered(arrive(core, packet)) == []
    assert [(one.pseq, one.count) for one in sent(wake(core, ACK_DELAY_NS), ACK)] == [(1, 1), (1, 1)]


def test_bc_pl_resend_what_is_not_acknowledged_is_sent_again_unchanged_later_and_later() -> None:
    core = process(0, 2, level="pl")
    (first,) = sent(hand(core, b"x", receiver=1))
    times, now = [], 0
    for _ in range(4):
        deadline = core.next_deadline()
        assert deadline is not None
        assert sent(wake(core, deadline - 1)) == []
        (packet,) = sent(wake(core, deadline))
        assert packet.resent
        assert (packet.pseq, packet.first, packet.payload) == (first.pseq, first.first, first.payload)
        times.append(deadline - now)
        now = deadline

    assert times == [RESEND_NS, 2 * RESEND_NS, 4 * RESEND_NS, 8 * RESEND_NS]


def test_bc_pl_resend_an_acknowledgement_ends_it() -> None:
    core = process(0, 2, level="pl")
    hand(core, b"x", receiver=1)
    arrive(core, ack(1, 0, 1, 1), 10)
    wake(core, RESEND_NS)

    assert core.next_deadline() is None


def test_bc_pl_resend_only_what_is_late_is_sent_again() -> None:
    core = process(0, 2, level="pl")
    hand(core, b"x", receiver=1)
    hand(core, b"y", receiver=1, now=RESEND_NS // 2)

    assert [packet.pseq for packet in sent(wake(core, RESEND_NS))] == [1]


def test_an_acknowledgement_of_a_resent_packet_is_no_sample_of_the_round_trip() -> None:
    core = process(0, 2, level="pl")
    hand(core, b"x", receiver=1)
    wake(core, RESEND_NS)
    arrive(core, ack(1, 0, 1, 1), RESEND_NS + 1)
    assert core._links.peers[1].mean == 0

    hand(core, b"y", receiver=1, now=10_000)
    arrive(core, ack(1, 0, 2, 2), 10_700)
    assert core._links.peers[1].mean == 700


def test_the_time_out_follows_the_round_trips() -> None:
    core = process(0, 2, level="pl", window=1)
    now = 0
    for number in range(1, 40):
        hand(core, b"x", receiver=1, now=now)
        arrive(core, ack(1, 0, number, number), now + 8_000)
        now += 8_000
    hand(core, b"x", receiver=1, now=now)
    wake(core, core.next_deadline() or 0)  # what was due for those before
    deadline = core.next_deadline()

    assert deadline is not None
    assert now + 8_000 < deadline <= now + 8_000 + RESEND_NS


def test_a_peer_that_was_silent_for_long_is_asked_at_once_and_a_slow_one_is_not() -> None:
    core = process(0, 2, level="pl")
    hand(core, b"x", receiver=1)
    now = 0
    for _ in range(5):
        now = core.next_deadline() or 0
        wake(core, now)
    arrive(core, data(1, 0, 1, 1, 1), now + 16 * RESEND_NS)
    assert core.next_deadline() == now + RESEND_NS  # due by now

    wake(core, now + 16 * RESEND_NS)
    before = core._links.peers[1].tries
    arrive(core, data(1, 0, 1, 2, 2), now + 16 * RESEND_NS + 1)
    assert core._links.peers[1].tries == before > 0


def test_the_window_bounds_what_is_in_flight_and_the_rest_goes_in_few_packets() -> None:
    core = process(0, 2, level="pl", window=4)
    effects = [one for _ in range(100) for one in hand(core, b"", receiver=1)]
    assert [packet.pseq for packet in sent(effects)] == [1, 2, 3, 4]

    # The second is acknowledged, but the first holds the window.
    assert sent(arrive(core, ack(1, 0, 0, 2))) == []
    (packet,) = sent(arrive(core, ack(1, 0, 2, 1)))
    assert (packet.pseq, packet.first, packet.count) == (5, 5, 96)


def test_the_window_begins_at_the_oldest_packet_that_is_missing() -> None:
    core = process(0, 2, level="pl", window=4)
    for _ in range(20):
        hand(core, b"x", receiver=1)
    assert [packet.pseq for packet in sent(arrive(core, ack(1, 0, 2, 1, 2)))] == [5, 6]

    assert sent(arrive(core, ack(1, 0, 2, 4, 3))) == []
    assert [packet.pseq for packet in sent(arrive(core, ack(1, 0, 6, 3)))] == [7, 8, 9, 10]


def test_a_run_that_has_grown_while_it_waited_is_cut_to_what_a_packet_may_carry() -> None:
    core = process(0, 2, level="pl", window=1)
    hand(core, b"", receiver=1)
    for _ in range(3):
        hand(core, *[b""] * MAX_RUN, receiver=1)

    assert [one.count for one in sent(arrive(core, ack(1, 0, 1, 1)))] == [MAX_RUN]


def test_the_first_packets_in_flight_are_few_and_acknowledgements_let_more_go() -> None:
    core = process(0, 2, level="pl", window=64)
    effects = [one for _ in range(100) for one in hand(core, b"x", receiver=1)]
    assert len(sent(effects)) == FIRST_IN_FLIGHT

    assert len(sent(arrive(core, ack(1, 0, 4, 1, 4)))) == 2 * 4


def test_bc_pl_memory_the_delivered_set_is_a_prefix_and_what_is_beyond_it() -> None:
    core = process(1, 2, level="pl")
    for pseq in (2, 4, 3):
        arrive(core, data(0, 1, 0, pseq, pseq))
    received = core._links.peers[0].received
    assert (received.prefix, received.beyond) == (0, {2: 2, 4: 4, 3: 3})

    arrive(core, data(0, 1, 0, 1, 1))
    arrive(core, data(0, 1, 0, 2, 2))  # a duplicate is not remembered again
    assert (received.prefix, received.beyond) == (4, {})


def test_bc_pl_memory_lit_1_the_set_grows_with_each_packet() -> None:
    core = process(1, 2, LITERAL["BC-PL-MEMORY lit-1"], level="pl")
    for pseq in range(1, 50):
        arrive(core, data(0, 1, 0, pseq, pseq))

    assert len(core._links.peers[0].received.beyond) == 49


def test_acknowledgements_wait_for_one_another_and_are_intervals() -> None:
    core = process(1, 2, level="pl", window=64)
    for pseq in (1, 2, 3, 5, 6):
        assert sent(arrive(core, data(0, 1, 0, pseq, pseq), 7), ACK) == []

    assert core.next_deadline() == 7 + ACK_DELAY_NS
    answers = sent(wake(core, 7 + ACK_DELAY_NS), ACK)
    assert [(one.first, one.pseq, one.count) for one in answers] == [(3, 1, 3), (3, 5, 2)]
    assert core.next_deadline() is None


def test_acknowledgements_do_not_wait_until_the_window_is_used_up() -> None:
    core = process(1, 2, level="pl", window=8)
    assert sent(arrive(core, data(0, 1, 0, 1, 1)), ACK) == []

    assert [(one.pseq, one.count) for one in sent(arrive(core, data(0, 1, 0, 2, 2)), ACK)] == [(1, 2)]


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        (data(0, 2, 0, 1, 1), "is for process 2"),
        (data(7, 1, 7, 1, 1), "process 7 is none"),
        (data(1, 1, 1, 1, 1), "process 1 is none"),
        (data(0, 1, 2, 1, 1), "nobody forwards"),
        (data(0, 1, 9, 1, 1), "its creator, 9"),
        (data(0, 1, 0, 1, 9), "beyond the window"),
        (data(0, 1, 0, 1, 1, clock=(0, 0, 0)), "clocks have 0"),
        (ack(0, 1, 0, 1), "not sent"),
        (ack(2, 1, 1, 1), "not sent"),
    ],
)
def test_a_packet_that_cannot_be_is_refused_and_changes_nothing(packet: object, reason: str) -> None:
    core = process(1, 3, level="pl", window=8)
    (found,) = refusals(arrive(core, packet))  # type: ignore[arg-type]

    assert reason in found
    assert core.next_deadline() is None
    assert all(not peer.received.beyond and peer.received.prefix == 0 for peer in core._links.peers.values())


def test_what_the_application_may_not_ask_is_refused_before_anything_changes() -> None:
    core = process(0, 2, level="pl")
    for receiver in (0, 2, EVERYBODY):
        with pytest.raises(LocalProtocolError, match=f"cannot send to {receiver}"):
            hand(core, b"x", receiver=receiver)
    with pytest.raises(LocalProtocolError, match="60001 bytes"):
        hand(core, b"x", bytes(60_001), receiver=1)
    with pytest.raises(LocalProtocolError, match="at least one"):
        hand(core)
    with pytest.raises(LocalProtocolError, match="at level urb"):
        hand(process(0, 2, level="urb"), b"x", receiver=1)

    assert core.next_deadline() is None


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"level": "tob"}, "parameter level is 'tob'"),
        ({"level": "pl", "window": 0}, "parameter window is 0"),
        ({"level": "pl", "resend_ns": "soon"}, "parameter resend_ns is 'soon'"),
        ({"level": "lcb", "dependencies": "1;0"}, "give 3 lists"),
        ({"level": "lcb", "dependencies": "1;0;3"}, "processes are 0 to 2"),
        ({"level": "lcb", "dependencies": 5}, "give 3 lists"),
    ],
)
def test_wrong_parameters_are_refused_with_a_sentence(parameters: dict[str, int | str], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        process(2, 3, RULES, **parameters)


def test_a_peer_that_acknowledges_nothing_is_asked_with_one_packet_at_a_time() -> None:
    core = process(0, 2, level="pl")
    for payload in (b"x", b"y", b"z"):
        hand(core, payload, receiver=1)
    again = [[packet.pseq for packet in sent(wake(core, core.next_deadline() or 0))] for _ in range(5)]

    assert again == [[1, 2, 3], [1], [2], [3], [1]]
