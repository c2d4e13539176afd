"""What channels must keep, each said again in its own words and held over many small random runs. `broken` names what a
run with some rules breaks: nothing for the right ones, something for each mutant."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from random import Random

from scatterproof.impl.pubsub.channels.flow_rules import FlowRules
from scatterproof.impl.pubsub.channels.queue import ChannelQueue, Marks, Scheduler
from scatterproof.impl.pubsub.channels.ring import Ring
from scatterproof.impl.pubsub.channels.shared import SharedChannel
from scatterproof.impl.pubsub.running.outbox import Marks as ByteMarks
from scatterproof.impl.pubsub.running.outbox import Outbox

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
        reference = ring.put(f"m{number}")
        assert reference is not None
        put.append(reference)
        for one in put:
            expected = f"m{one.number}" if one.number > number - 3 else None
            assert ring.at(one) == expected
        assert ring.at(ring.reference(number)) == f"m{number}"


def _flow(draw: Random, rules: FlowRules) -> None:
    """PS-FLOW: on at or above the high mark, off strictly below the low one, in between as it was; then one in N of
    what is best effort is dropped; what is guaranteed comes, all of it and in order."""
    marks = Marks(high=draw.randrange(3, 7), low=draw.randrange(1, 3), one_in=draw.randrange(1, 4))
    ring: Ring[int] = Ring(64, rules)
    queue = ChannelQueue(ring, marks, rules)
    put, got, on, seen, waits = list[int](), list[int](), False, 0, deque[int]()
    for number in range(1, 50):
        if draw.random() < 0.6:
            guaranteed = draw.random() < 0.4
            reference = ring.put(number if guaranteed else -number)
            assert reference is not None
            if guaranteed:
                put.append(number)
            seen = seen + 1 if on and not guaranteed else seen
            if guaranteed or not on or seen % marks.one_in:
                waits.append(number if guaranteed else -number)
            queue.put(reference, "t", guaranteed=guaranteed)
        else:
            message = queue.take()
            assert message == (waits.popleft() if waits else None)
            if message is not None and message > 0:
                got.append(message)
        on = len(waits) >= marks.high or (on and len(waits) >= marks.low)
        seen = seen if on else 0
        assert len(queue) == len(waits)
        assert queue.is_on == on
    while (message := queue.take()) is not None:
        if message > 0:
            got.append(message)
    assert got == put


def _full(draw: Random, rules: FlowRules) -> None:
    """PS-FLOW: where nothing more fits all best effort is dropped, and nothing that is guaranteed."""
    box = Outbox([], ByteMarks(high=10, low=5, most=20, one_in=2), rules)
    box.size = draw.randrange(20, 40)
    assert not any(box.admits(False) for _ in range(6))
    assert all(box.admits(True) for _ in range(6))
    box.size = draw.randrange(10, 20)
    assert sum(box.admits(False) for _ in range(6)) == 3


def _conflation(draw: Random, rules: FlowRules) -> None:
    """PS-QOS-CONF: of each topic the newest comes, and at most one waits while flow control is on; guaranteed ones all
    come."""
    ring: Ring[tuple[str, int]] = Ring(64, rules)
    queue = ChannelQueue(ring, Marks(high=3, low=1, conflates=True), rules)
    newest, guaranteed = dict[str, int](), list[tuple[str, int]]()
    got = list[tuple[str, int]]()
    for number in range(40):
        topic = draw.choice("abc")
        if draw.random() < 0.2:
            guaranteed.append((f"g{topic}", number))
            reference = ring.put(guaranteed[-1])
            assert reference is not None
            queue.put(reference, f"g{topic}", guaranteed=True)
        else:
            newest[topic] = number
            reference = ring.put((topic, number))
            assert reference is not None
            queue.put(reference, topic, guaranteed=False)
        if draw.random() < 0.2:
            message = queue.take()
            assert message is not None
            got.append(message)
    while (message := queue.take()) is not None:
        got.append(message)
    assert [one for one in got if one[0][0] == "g"] == guaranteed
    for topic, number in newest.items():
        of_it = [at for name, at in got if name == topic]
        assert of_it[-1] == number
        assert of_it == sorted(set(of_it))
    assert queue.conflated == 40 - len(got)


def _late(draw: Random, rules: FlowRules) -> None:
    """PS-QOS-CONF: one that comes again, or that a newer one has overtaken, takes nobody's place."""
    ring: Ring[str] = Ring(8, rules)
    old, new, other = [ring.put(text) for text in ("old", "new", "other")]
    assert old is not None
    assert new is not None
    assert other is not None
    queue = ChannelQueue(ring, Marks(high=2, low=1, conflates=True), rules)
    queue.put(new, "t", guaranteed=False)
    queue.put(other, "u", guaranteed=False)
    queue.put(draw.choice((old, new)), "t", guaranteed=False)
    assert [queue.take() for _ in range(3)] == ["new", "other", None]


def _priorities(draw: Random, rules: FlowRules) -> None:
    """PS-PRIO: what is asked for again first, then the lowest number, then who has waited longest."""
    scheduler = Scheduler(rules)
    ready = [(draw.random() < 0.3, draw.randrange(3), number) for number in range(8)]
    for again, priority, number in ready:
        scheduler.ready(str(number), priority, again=again)
    served = [scheduler.next() for _ in ready]
    assert served == [str(number) for _, _, number in sorted(ready, key=lambda it: (not it[0], it[1], it[2]))]
    assert scheduler.next() is None


def _slow(draw: Random, rules: FlowRules) -> None:
    """PS-SLOW: each consumer gets all in order; who is behind by more than may be is alone, and only who has all comes
    back."""
    most = 2
    channel: SharedChannel[int] = SharedChannel(6, most, rules)
    names = ("a", "b", "c")
    for name in names:
        channel.join(name)
    got, taken, last = defaultdict[str, list[int]](list), dict.fromkeys(names, 0), 0
    was_alone = dict.fromkeys(names, False)
    for _ in range(80):
        if draw.random() < 0.35:
            shared = channel.put(last + 1)
            if shared is None:
                assert min(taken.values()) <= last - 6  # the ring is full of what somebody needs
            else:
                last += 1
                assert min(taken.values()) > last - 1 - 6
                for name in names:
                    expected = was_alone[name] or last - taken[name] > most
                    assert (name not in shared) == expected
                    was_alone[name] = expected
                for name in shared:
                    got[name].append(last)
        elif draw.random() < 0.5:
            name = draw.choice(names)
            message = channel.next_for(name)
            assert message is None or was_alone[name]
            if message is not None:
                got[name].append(message)
        else:
            name = draw.choice("abbccc")
            if taken[name] < len(got[name]):
                taken[name] = draw.randrange(taken[name], len(got[name])) + 1
            channel.took(name, taken[name])
            was_alone[name] = was_alone[name] and taken[name] != last
        for name in names:
            assert got[name] == list(range(1, len(got[name]) + 1))
            assert channel.consumers[name].alone == was_alone[name]


_RUNS: dict[str, Callable[[Random, FlowRules], None]] = {
    "PS-RING": _references,
    "PS-FLOW": _flow,
    "PS-FLOW, full": _full,
    "PS-QOS-CONF": _conflation,
    "PS-QOS-CONF, late": _late,
    "PS-PRIO": _priorities,
    "PS-SLOW": _slow,
}
