"""What channels must keep, each said again in its own words and held over many small random runs. `broken` names what a
run with some rules breaks: nothing for the right ones, something for each mutant."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from random import Random

from scatterproof.impl.pubsub.channels.flow_rules import FlowRules
from scatterproof.impl.pubsub.channels.queue import ChannelQueue, Marks, Scheduler
from scatterproof.impl.pubsub.channels.ring import Ring
from scatterproof.impl.pubsub.running.outbox import BACK, SLOW, Flow, Outbox
from scatterproof.impl.pubsub.translation.messages import Carried, Message

RUNS = 60


def broken(rules: FlowRules) -> set[str]:
    found = set[str]()
    for name, run in _RUNS.items():
        for seed in range(RUNS):
            try:
                run(Random(seed), rules)
            except (AssertionError, KeyError, TypeError, ZeroDivisionError, ValueError):
                found.add(name)
    return found


def _references(draw: Random, rules: FlowRules) -> None:
    """PS-RING: a reference leads to its message, or, once the slot was overwritten, to none."""
    ring: Ring[str] = Ring(3, rules)
    put = []
    for number in range(1, 12):
        put.append(ring.put(f"m{number}"))
        for one in put:
            expected = f"m{one.number}" if one.number > number - 3 else None
            assert ring.at(one) == expected


def _overwritten(draw: Random, rules: FlowRules) -> None:
    """PS-RING: a queue gives what is still there, each once and in order, and counts the rest as dropped; it does not
    grow beyond what is there."""
    ring: Ring[int] = Ring(4, rules)
    queue: ChannelQueue[int, None] = ChannelQueue(ring, Marks(high=99, low=1), rules)
    got = list[int]()
    for number in range(1, 40):
        ring.put(-number)  # of somebody else
        queue.put(ring.put(number), "t", None)
        assert len(queue) <= 2
        if draw.random() < 0.3:
            found = queue.take()
            assert found is not None
            assert found[0] > number - 2
            got.append(found[0])
    assert got == sorted(set(got))
    assert len(got) + len(queue) + queue.counts["dropped"] == 39


def _flow(draw: Random, rules: FlowRules) -> None:
    """PS-FLOW: on at or above the high mark, off strictly below the low one, in between as it was; while it is on one
    in N is dropped."""
    marks = Marks(high=draw.randrange(3, 7), low=draw.randrange(1, 3), one_in=draw.randrange(1, 4))
    ring: Ring[int] = Ring(64, rules)
    queue: ChannelQueue[int, None] = ChannelQueue(ring, marks, rules)
    on, seen, waits = False, 0, deque[int]()
    for number in range(1, 50):
        if draw.random() < 0.6:
            seen = seen + 1 if on else seen
            dropped = on and seen % marks.one_in == 0
            if not dropped:
                waits.append(number)
            assert queue.put(ring.put(number), "t", None) != dropped
        else:
            found = queue.take()
            assert (found and found[0]) == (waits.popleft() if waits else None)
        on = len(waits) >= marks.high or (on and len(waits) >= marks.low)
        seen = seen if on else 0
        assert len(queue) == len(waits)
        assert queue.is_on == on


def _conflation(draw: Random, rules: FlowRules) -> None:
    """PS-QOS-CONF: of each topic the newest comes, and at most one more waits while flow control is on."""
    ring: Ring[tuple[str, int]] = Ring(64, rules)
    queue: ChannelQueue[tuple[str, int], None] = ChannelQueue(ring, Marks(high=3, low=1), rules)
    newest = dict[str, int]()
    got = list[tuple[str, int]]()
    for number in range(40):
        topic = draw.choice("abc")
        newest[topic] = number
        assert queue.put(ring.put((topic, number)), topic, None, conflates=True)
        assert len(queue) <= 5
        if draw.random() < 0.2:
            found = queue.take()
            assert found is not None
            got.append(found[0])
    while (found := queue.take()) is not None:
        got.append(found[0])
    for topic, number in newest.items():
        of_it = [at for name, at in got if name == topic]
        assert of_it[-1] == number
        assert of_it == sorted(set(of_it))
    assert queue.counts == ({"conflated": 40 - len(got)} if len(got) < 40 else {})


def _late(draw: Random, rules: FlowRules) -> None:
    """PS-QOS-CONF: one that comes again, or that a newer one has overtaken, takes nobody's place."""
    ring: Ring[str] = Ring(8, rules)
    old, new, other = [ring.put(text) for text in ("old", "new", "other")]
    queue: ChannelQueue[str, None] = ChannelQueue(ring, Marks(high=2, low=1), rules)
    for reference, topic in ((new, "t"), (other, "u"), (draw.choice((old, new)), "t")):
        queue.put(reference, topic, None, conflates=True)
    assert [queue.take() for _ in range(3)] == [("new", None), ("other", None), None]


def _priorities(draw: Random, rules: FlowRules) -> None:
    """PS-PRIO: what is asked for again first, then the lowest number, then who has waited longest."""
    scheduler = Scheduler(rules)
    ready = [(draw.random() < 0.3, draw.randrange(3), number) for number in range(8)]
    for again, priority, number in ready:
        scheduler.ready(number, priority, again=again)
    served = [scheduler.next() for _ in ready]
    assert served == [number for _, _, number in sorted(ready, key=lambda it: (not it[0], it[1], it[2]))]
    assert scheduler.next() is None


def _slow(draw: Random, rules: FlowRules) -> None:
    """PS-SLOW: below the marks a consumer that is moved to channels of its own and back gets all in order; what is
    urgent goes ahead where it waits (PS-PRIO), and what is written past them is not held up."""
    flow = Flow(Marks(room=4, high=500, low=1), Counter(), rules)
    box, got, sent = Outbox(flow), list[int](), list[int]()
    moved = alone = 0
    for number in range(1, 81):
        carried = Carried(Message("t", bytes([number])))
        carried.urgent = draw.random() < 0.3
        on_its_way = box.size
        if draw.random() < 0.1:
            box.write(bytes([number]))
            assert box.parts[-1] == bytes([number])
        elif box.keeps_up():
            assert on_its_way < 4
            assert not alone
            box.write(carried.message.payload)
        else:
            assert on_its_way >= 4 or alone
            moved, alone = moved + (not alone), 1
            assert box.wait(carried, "", lambda one: one.message.payload)
        sent.append(-number if carried.urgent else number)
        if draw.random() < 0.3:
            got += [byte for part in box.parts for byte in part]
            box.parts.clear()
            box.size = 0
            box.pump()
            alone = int(box.is_slow)
            assert box.is_slow == (box.size >= 4)
    for _ in range(40):
        got += [byte for part in box.parts for byte in part]
        box.parts.clear()
        box.size = 0
        box.pump()
    assert not box.is_slow
    assert sorted(got) == sorted(map(abs, sent))
    assert flow.counts[SLOW] == flow.counts[BACK] == moved


def _urgent(draw: Random, rules: FlowRules) -> None:
    """PS-PRIO, PS-ORDER: of what waits the urgent goes first, and each of the two in its order."""
    box = Outbox(Flow(Marks(room=1, high=99, low=1), Counter(), rules))
    box.write(b"x")
    waits = [(draw.random() < 0.5, number) for number in range(12)]
    assert not box.keeps_up()
    for urgent, number in waits:
        carried = Carried(Message("t", bytes([number])))
        carried.urgent = urgent
        assert box.wait(carried, "", lambda one: one.message.payload)
    got = list[int]()
    for _ in waits:
        box.parts.clear()
        box.size = 0
        box.pump()
        got += [byte for part in box.parts for byte in part]
    assert got == [number for _, number in sorted(waits, key=lambda it: not it[0])]


_RUNS: dict[str, Callable[[Random, FlowRules], None]] = {
    "PS-RING": _references,
    "PS-FLOW": _flow,
    "PS-RING, overwritten": _overwritten,
    "PS-QOS-CONF": _conflation,
    "PS-QOS-CONF, late": _late,
    "PS-PRIO": _priorities,
    "PS-PRIO, urgent": _urgent,
    "PS-SLOW": _slow,
}
