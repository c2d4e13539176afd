"""Appliances and clients by hand: who gets what, what is propagated, and when a subscribe returns."""

from __future__ import annotations

from scatterproof.impl.pubsub.tests.network import DEEP, EXACT, OTHER, REST, STAR, TOPIC, TOPIC_3, Network
from scatterproof.spec.core import Outcome
from scatterproof.spec.pubsub.messages import CallName, PacketName

PUBLISH, SUBSCRIBE, UNSUBSCRIBE = CallName.PUBLISH, CallName.SUBSCRIBE, CallName.UNSUBSCRIBE
OK, REFUSED, UNKNOWN = Outcome


def told(network: Network, source: int, target: int) -> list[tuple[str, int]]:
    """What one appliance told another that it wants, and not."""
    kinds = (PacketName.WANT, PacketName.DROP)
    return [(one.kind, one.filter) for one in network.carried[network.link(source, target)] if one.kind in kinds]


def test_ps_route_a_message_goes_to_matching_subscribers_alone_across_three_appliances() -> None:
    network = Network(3, (0, 2, 2))
    publisher, one, other = network.clients
    assert network.call(one, SUBSCRIBE, filter=STAR, level=2) is OK
    assert network.call(other, SUBSCRIBE, filter=OTHER, level=2) is OK
    assert network.call(publisher, PUBLISH, b"x", topic=TOPIC, level=2) is OK

    assert [(got.sender, got.number, got.topic, got.payload) for got in network.got[one]] == [
        (publisher, 1, TOPIC, b"x")
    ]
    assert network.got[other] == []


def test_ps_route_one_copy_comes_though_three_subscriptions_match() -> None:
    network = Network(1, (0, 0))
    publisher, subscriber = network.clients
    for filter_ in (STAR, EXACT, REST):
        network.call(subscriber, SUBSCRIBE, filter=filter_, level=1)
    network.call(publisher, PUBLISH, topic=TOPIC, level=1)

    assert len(network.got[subscriber]) == 1


def test_ps_cover_a_covered_filter_stays_at_home_and_comes_out_ahead_of_the_withdrawal() -> None:
    network = Network(3, (0, 0, 2))
    wide, narrow, publisher = network.clients
    network.call(wide, SUBSCRIBE, filter=STAR, level=1)
    assert network.call(narrow, SUBSCRIBE, filter=EXACT, level=1) is OK
    assert told(network, 0, 1) == told(network, 1, 2) == [("want", STAR)]

    assert network.call(wide, UNSUBSCRIBE, filter=STAR) is OK
    assert told(network, 0, 1) == told(network, 1, 2) == [("want", STAR), ("want", EXACT), ("drop", STAR)]
    network.call(publisher, PUBLISH, topic=TOPIC, level=1)
    network.call(publisher, PUBLISH, topic=TOPIC_3, level=1)
    assert [got.topic for got in network.got[narrow]] == [TOPIC]


def test_ps_cover_a_wider_filter_takes_the_place_of_the_narrower() -> None:
    network = Network(2, (0, 0))
    one, other = network.clients
    network.call(one, SUBSCRIBE, filter=EXACT, level=1)
    network.call(other, SUBSCRIBE, filter=REST, level=1)

    assert told(network, 0, 1) == [("want", EXACT), ("want", REST), ("drop", EXACT)]


def test_ps_route_a_subscribe_returns_when_the_farthest_appliance_knows() -> None:
    network = Network(3, (0, 2))
    subscriber, publisher = network.clients
    network.held = {network.link(2, 1)}
    assert network.call(subscriber, SUBSCRIBE, filter=STAR, level=1) is None
    assert told(network, 1, 2) == [("want", STAR)]

    network.held = set()
    network.run()
    assert network.returned[subscriber] == [OK]
    network.call(publisher, PUBLISH, topic=TOPIC, level=1)
    assert len(network.got[subscriber]) == 1


def test_ps_order_what_is_lost_is_sent_again_and_taken_once_in_order() -> None:
    network = Network(2, (0, 1))
    publisher, subscriber = network.clients
    network.call(subscriber, SUBSCRIBE, filter=REST, level=2)
    network.lost = {network.link(0, 1)}
    network.call(publisher, PUBLISH, topic=TOPIC, level=2)
    network.lost = {network.link(1, subscriber)}
    network.call(publisher, PUBLISH, topic=DEEP, level=2)
    assert network.got[subscriber] == []

    network.lost = set()
    for _ in range(3):
        network.pass_time(100)
    assert [got.number for got in network.got[subscriber]] == [1, 2]
    assert not network.waiting
    assert all(core.next_deadline() is None for core in network.nodes)


def test_ps_qos_level_a_message_comes_at_the_lower_level_and_best_effort_is_sent_once() -> None:
    network = Network(1, (0, 0))
    publisher, subscriber = network.clients
    for level, filter_ in ((1, STAR), (2, EXACT), (0, OTHER)):
        network.call(subscriber, SUBSCRIBE, filter=filter_, level=level)
    for published in (0, 1, 2):
        network.call(publisher, PUBLISH, topic=TOPIC, level=published)
    network.call(publisher, PUBLISH, topic=TOPIC_3, level=2)
    assert [got.level for got in network.got[subscriber]] == [0, 1, 2, 1]

    network.lost = {network.link(0, subscriber)}
    network.call(publisher, PUBLISH, topic=TOPIC, level=0)
    network.lost = set()
    network.pass_time(100)
    assert len(network.got[subscriber]) == 4


def test_a_best_effort_message_that_was_overtaken_or_comes_twice_is_dropped() -> None:
    network = Network(1, (0, 0))
    publisher, subscriber = network.clients
    network.call(subscriber, SUBSCRIBE, filter=STAR, level=0)
    link = network.link(0, subscriber)
    network.held = {link}
    for _ in range(2):
        network.call(publisher, PUBLISH, topic=TOPIC, level=0)
    network.waiting.extend([network.waiting.popleft(), network.waiting[0]])  # the second, the first, the second again
    network.held = set()
    network.run()

    assert [got.number for got in network.got[subscriber]] == [2]


def test_unsubscribe_is_refused_where_the_filter_is_not_subscribed_to_and_ends_it_where_it_is() -> None:
    network = Network(2, (0, 1))
    subscriber, publisher = network.clients
    assert network.call(subscriber, UNSUBSCRIBE, filter=STAR) is REFUSED
    network.call(subscriber, SUBSCRIBE, filter=STAR, level=1)
    assert network.call(subscriber, UNSUBSCRIBE, filter=STAR) is OK
    network.call(publisher, PUBLISH, topic=TOPIC, level=1)

    assert network.got[subscriber] == []


def test_a_client_gives_up_after_some_tries_and_its_call_is_carried_out_once() -> None:
    network = Network(1, (0, 0))
    publisher, subscriber = network.clients
    network.call(subscriber, SUBSCRIBE, filter=STAR, level=2)
    network.lost = {network.link(0, publisher)}
    assert network.call(publisher, PUBLISH, topic=TOPIC, level=2) is None
    for _ in range(4):
        network.pass_time(10_000)

    assert network.returned[publisher] == [UNKNOWN]
    assert len(network.got[subscriber]) == 1
