"""Channels keep what their clauses say, and the document's reference to a slot alone does not."""

from __future__ import annotations

from dataclasses import replace

from scatterproof.impl.pubsub.channels.flow_rules import FLOW_RULES
from scatterproof.impl.pubsub.channels.queue import ChannelQueue, Marks
from scatterproof.impl.pubsub.channels.ring import Ring
from scatterproof.impl.pubsub.channels.shared import SharedChannel
from scatterproof.impl.pubsub.channels.tests.properties import broken


def test_the_rules_keep_all_that_the_clauses_say() -> None:
    assert broken(FLOW_RULES) == set()


def test_ps_ring_a_reference_to_a_slot_alone_sends_another_message_twice() -> None:
    """The document's rule, with its ring of two: m1 waits, becomes m3, and m3 is sent twice."""
    literal = replace(FLOW_RULES, is_there=lambda number, in_slot: True)
    for rules, expected in ((literal, ["m3", "m2", "m3"]), (FLOW_RULES, ["m2", "m3"])):
        ring: Ring[str] = Ring(2, rules)
        queue = ChannelQueue(ring, Marks(high=9, low=1), rules)
        for number in (1, 2, 3):
            reference = ring.put(f"m{number}")
            assert reference is not None
            queue.put(reference, "t", guaranteed=False)
        assert [message for _ in range(4) if (message := queue.take())] == expected
    assert "PS-RING" in broken(literal)


def test_ps_flow_a_guaranteed_message_that_waits_keeps_its_slot_and_the_publisher_waits() -> None:
    ring: Ring[str] = Ring(2)
    queue = ChannelQueue(ring, Marks(high=9, low=1))
    first = ring.put("first")
    assert first is not None
    queue.put(first, "t", guaranteed=True)
    assert ring.put("second") is not None
    assert ring.put("third") is None
    assert queue.take() == "first"
    assert ring.put("third") is not None


def test_ps_slow_a_consumer_that_joins_late_or_leaves_keeps_nobody() -> None:
    channel: SharedChannel[str] = SharedChannel(3, 1)
    channel.join("stays")
    channel.join("leaves")
    for number in (1, 2, 3):
        assert channel.put(f"m{number}") is not None
        channel.took("stays", number)
    assert channel.put("m4") is None
    channel.leave("leaves")
    channel.join("late")
    assert channel.put("m4") == ["stays", "late"]
