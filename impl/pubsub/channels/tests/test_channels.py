"""Channels keep what their clauses say, and the document's reference to a slot alone does not."""

from __future__ import annotations

from dataclasses import replace

from scatterproof.impl.pubsub.channels.flow_rules import FLOW_RULES
from scatterproof.impl.pubsub.channels.queue import ChannelQueue, Marks
from scatterproof.impl.pubsub.channels.ring import Ring
from scatterproof.impl.pubsub.channels.tests.properties import broken


def test_the_rules_keep_all_that_the_clauses_say() -> None:
    assert broken(FLOW_RULES) == set()


def test_ps_ring_a_reference_to_a_slot_alone_sends_another_message_twice() -> None:
    """The document's rule, with its ring of two: m1 waits, becomes m3, and m3 is sent twice."""
    literal = replace(FLOW_RULES, is_there=lambda number, in_slot: True)
    for rules, expected in ((literal, ["m3", "m2", "m3"]), (FLOW_RULES, ["m2", "m3"])):
        ring: Ring[str] = Ring(2, rules)
        queue: ChannelQueue[str, None] = ChannelQueue(ring, Marks(high=9, low=1), rules)
        for number in (1, 2, 3):
            queue.put(ring.put(f"m{number}"), "t", None)
        assert [found[0] for _ in range(4) if (found := queue.take())] == expected
    assert "PS-RING" in broken(literal)
