"""The receiving side of a host: the buffer, the barrier, the one order."""

from __future__ import annotations

import pytest

from scatterproof.impl.totalorder.tests.nodes import arrival, bare, beacon, data, deliveries, host, refusal
from scatterproof.spec.totalorder.messages import NO_BARRIER, Packet

ONE = (100,)


def test_to_deliver_message_at_the_barrier_waits() -> None:
    core = host(ingress=ONE)
    assert deliveries(core.handle(arrival(100, data(5, 0)))) == []
    assert deliveries(core.handle(arrival(100, beacon(5, 1)))) == []
    assert deliveries(core.handle(arrival(100, beacon(6, 2)))) == [(5, 5)]


def test_to_deliver_the_barrier_is_the_least_of_the_ingress_links() -> None:
    core = host()
    assert deliveries(core.handle(arrival(100, data(5, 0)))) == []
    assert deliveries(core.handle(arrival(100, beacon(9, 1)))) == []
    assert deliveries(core.handle(arrival(101, beacon(3, 0)))) == []
    assert deliveries(core.handle(arrival(101, beacon(7, 1)))) == [(5, 5)]


def test_to_deliver_a_link_that_has_not_spoken_holds_everything_back() -> None:
    core = host()
    for seq in range(5):
        assert deliveries(core.handle(arrival(100, data(10 * seq + 1, seq)))) == []


def test_to_order_messages_are_delivered_by_timestamp_not_by_arrival() -> None:
    core = host(environment="B")
    core.handle(arrival(100, bare(8, 0, sender=1)))
    core.handle(arrival(101, bare(5, 0, sender=2)))
    core.handle(arrival(101, bare(7, 1, sender=2)))
    core.handle(arrival(101, beacon(20, 2)))

    assert deliveries(core.handle(arrival(100, beacon(20, 1)))) == [(5, 2), (7, 2), (8, 1)]


def test_to_order_equal_timestamps_are_delivered_by_sender_in_whichever_order_they_came() -> None:
    for first, second in (((100, 3), (101, 2)), ((101, 2), (100, 3))):
        core = host()
        for link, sender in (first, second):
            core.handle(arrival(link, data(5, 0, sender=sender)))
        core.handle(arrival(100, beacon(6, 1)))

        assert deliveries(core.handle(arrival(101, beacon(6, 1)))) == [(5, 2), (5, 3)]


def test_to_complete_everything_below_the_barrier_is_delivered_at_once() -> None:
    core = host(ingress=ONE)
    effects = [core.handle(arrival(100, bare_or_data)) for bare_or_data in (data(5, 0), data(6, 1), data(9, 2))]

    assert [deliveries(effect) for effect in effects] == [[], [(5, 5)], [(6, 5)]]
    assert deliveries(core.handle(arrival(100, beacon(100, 3)))) == [(9, 5)]


def test_to_env_a_the_last_message_waits_for_ever() -> None:
    core = host(environment="A", ingress=ONE)
    core.handle(arrival(100, data(5, 0)))
    assert deliveries(core.handle(arrival(100, data(6, 1)))) == [(5, 5)]


def test_to_env_b_data_do_not_move_the_barrier() -> None:
    core = host(environment="B", ingress=ONE)
    assert deliveries(core.handle(arrival(100, bare(5, 0)))) == []
    assert deliveries(core.handle(arrival(100, bare(9, 1)))) == []
    assert deliveries(core.handle(arrival(100, beacon(9, 2)))) == [(5, 5)]


def test_to_once_a_delivery_has_the_contents_that_were_sent() -> None:
    core = host(ingress=ONE)
    core.handle(arrival(100, data(5, 0, sender=3, number=12)))
    (effect,) = core.handle(arrival(100, beacon(6, 1)))

    assert effect.message.sender == 3  # type: ignore[union-attr]
    assert effect.message.number == 12  # type: ignore[union-attr]
    assert effect.message.payload == b"payload"  # type: ignore[union-attr]


def test_to_bar_link_a_message_at_the_links_barrier_is_in_time() -> None:
    core = host(ingress=ONE)
    core.handle(arrival(100, beacon(5, 0)))
    assert deliveries(core.handle(arrival(100, data(5, 1)))) == []
    assert deliveries(core.handle(arrival(100, beacon(6, 2)))) == [(5, 5)]


@pytest.mark.parametrize(
    ("environment", "link", "packet", "reason"),
    [
        ("C", 100, data(20, 1), "link number 1 came again or late; 2 is the next"),  # TO-ONCE
        ("C", 100, data(20, 0), "link number 0 came again or late"),
        ("C", 100, beacon(9, 2), "barrier 9 is below the link's barrier 10 (TO-BAR-RISE)"),
        ("C", 100, data(20, 2, barrier=9), "barrier 9 is below the link's barrier 10 (TO-BAR-RISE)"),
        ("C", 100, data(9, 2, barrier=10), "timestamp 9 is strictly below the link's barrier 10 (TO-BAR-LINK)"),
        ("C", 100, data(20, 2, receiver=1), "receiver 1 is not this host, 0"),
        ("C", 102, data(20, 2), "link 102 is no ingress link of this node"),
        ("C", 102, beacon(20, 2), "link 102 is no ingress link of this node"),
        ("C", 100, bare(20, 2), "the barrier is absent"),
        ("C", 100, beacon(NO_BARRIER, 2), "the barrier is absent"),
        ("C", 100, Packet(7, 9, 0, 0, 2, 0, 20, b""), "packet kind 7 does not exist"),
        ("B", 100, data(20, 2), "data messages carry no barrier in this environment (TO-ENV-B)"),
        ("B", 100, bare(9, 2), "timestamp 9 is strictly below the link's barrier 10 (TO-BAR-LINK)"),
        ("A", 100, beacon(20, 2), "packet kind 2 does not exist in this environment"),
    ],
)
def test_a_refused_packet_changes_nothing(environment: str, link: int, packet: Packet, reason: str) -> None:
    core, twin = host(environment=environment), host(environment=environment)
    for node in (core, twin):
        if environment == "B":
            node.handle(arrival(100, bare(10, 0)))
            node.handle(arrival(100, beacon(10, 1)))
        else:
            node.handle(arrival(100, data(9, 0)))
            node.handle(arrival(100, data(10, 1)))

    assert reason in refusal(core.handle(arrival(link, packet)))
    after = [arrival(100, bare(11, 2) if environment == "B" else data(11, 2))]
    after += [arrival(101, bare(30, 0) if environment == "B" else data(30, 0))]
    if environment != "A":
        after += [arrival(101, beacon(40, 1)), arrival(100, beacon(40, 3))]
    for event in after:
        assert core.handle(event) == twin.handle(event)
    assert core.next_deadline() == twin.next_deadline()


def test_to_once_a_gap_in_the_link_numbers_is_no_reason_to_refuse() -> None:
    core = host(ingress=ONE)
    core.handle(arrival(100, data(5, 0)))
    assert deliveries(core.handle(arrival(100, data(9, 4)))) == [(5, 5)]
