"""The clauses of timestamp adjustment that one run can show."""

from __future__ import annotations

from itertools import pairwise

from scatterproof.conformance.oracles.whole import before
from scatterproof.conformance.totalorder.oracles.whole import GREATEST, Event, Whole, look
from scatterproof.spec.totalorder.messages import NO_BARRIER, PacketKind
from scatterproof.spec.trace import Trace

# Times of adjustment above this are absurd, and count for nothing.
LATEST = 1 << 61


def adjusted(clock: int, adjustment: int) -> int:
    """clock + adjustment, in ns, held at the edges of 64 bits."""
    return max(-GREATEST, min(clock + adjustment, GREATEST))


def rounds(whole: Whole, node: int) -> list[list[Event]]:
    """The questions (ADJUST) that a host sends, by round: a round goes on while the number stays the same."""
    found: list[list[Event]] = []
    for event in whole.sent:
        own = event.packet == PacketKind.ADJUST and event.node == event.sender == node
        if own and 0 <= event.receiver < len(whole.topology.nodes):
            if not found or found[-1][0].number != event.number:
                found.append([])
            found[-1].append(event)
    return found


def conclusions(whole: Whole, node: int) -> list[tuple[int, int]]:
    """For each round of the host that was whole: the row in which it was, and its least difference, in ns."""
    begun = rounds(whole, node)
    found: list[tuple[int, int]] = []
    for asked, later in pairwise([*begun, []]):
        end = later[0].position if later else len(whole.events)
        differences: dict[int, int] = {}
        for answer in before(whole.arrived, end):
            asked_by_now = {event.receiver for event in before(asked, answer.position)}
            expected = answer.packet == PacketKind.ADJUSTED and answer.node == answer.receiver == node
            if not expected or answer.number != asked[0].number or answer.sender not in asked_by_now - set(differences):
                continue
            if all(0 <= time <= LATEST for time in (answer.timestamp, answer.digest, asked[0].clock_ns)):
                # The returned maximum, plus the time on the way there and back, less the local time.
                differences[answer.sender] = answer.timestamp - asked[0].clock_ns - answer.digest
                if set(differences) == asked_by_now:
                    found.append((answer.position, min(differences.values())))
    return found


def adjustment(whole: Whole, node: int, until: int) -> int:
    """What the host adds to its clock by the rows in front of `until`, in ns."""
    if not whole.is_on("adjustment_interval_ns"):
        return 0
    if node not in whole.conclusions:
        whole.conclusions[node] = conclusions(whole, node)
    return ([0] + [least for position, least in whole.conclusions[node] if position < until])[-1]


def receiver_returns_aligned_maximum(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for answer in whole.sent:
        if answer.packet != PacketKind.ADJUSTED or answer.node != answer.sender or not whole.is_host(answer.node):
            continue
        collected = _collected(whole, answer)
        own = collected.get(answer.receiver)
        if own is None or own.number != answer.number:
            broken.add(answer.position)
            continue
        latest = max(first.clock_ns for first in collected.values())
        greatest = max(adjusted(first.timestamp, latest - first.clock_ns) for first in collected.values())
        if answer.timestamp != greatest or answer.digest != latest - own.clock_ns:
            broken.add(answer.position)
    return broken


def _collected(whole: Whole, answer: Event) -> dict[int, Event]:
    """By sender, the last question (ADJUST) that came to the answering receiver since it began to collect. A question
    with no way back to its sender is of the round in which others are answered."""
    collected: dict[int, Event] = {}
    answered: set[int] = set()
    for event in before(whole.events, answer.position):
        if event.node != answer.node:
            continue
        if event in whole.arrived and event.packet == PacketKind.ADJUST and event.receiver == event.node:
            if event.clock_ns >= 0:
                collected = {sender: first for sender, first in collected.items() if sender not in answered}
                answered = set()
                collected[event.sender] = event
        elif event in whole.sent and event.packet == PacketKind.ADJUSTED and event.node == event.sender:
            own = collected.get(event.receiver)
            if own is not None and own.number == event.number:
                no_way_back = {sender for sender in collected if not _reaches(whole, event.node, sender)}
                answered |= {event.receiver} | no_way_back
    return collected


def _reaches(whole: Whole, node: int, host: int) -> bool:
    return 0 <= host < len(whole.topology.nodes) and whole.routes.next_link[node][host] >= 0


def _said(whole: Whole, event: Event) -> list[int]:
    """What the event's host promised earlier, in ns: its barriers, and its ack barriers plus 1."""
    earlier = [other for other in before(whole.sent, event.position) if other.node == event.node]
    above = [min(other.ack_barrier + 1, GREATEST) for other in earlier]
    return [0, *(other.barrier for other in earlier), *above]


def _given(whole: Whole, event: Event) -> list[int]:
    """The timestamps of the scatterings that the event's host sent earlier, in ns."""
    firsts = [messages[0][0] for messages in whole.scatterings]
    return [first.timestamp for first in before(firsts, event.position) if first.node == event.node]


def sender_takes_least_difference(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for messages in whole.scatterings:
        first, _ = messages[0]
        if first.clock_ns < 0:
            continue
        now = adjusted(first.clock_ns, adjustment(whole, first.node, first.position))
        above = [min(timestamp + 1, GREATEST) for timestamp in _given(whole, first)]
        due = max([now, *above, *_said(whole, first)])
        if first.timestamp < due or (first.timestamp > due and not whole.is_on("causal")):
            broken.add(first.position)
    for event in whole.sent:
        if event.packet == PacketKind.ADJUST and event.node == event.sender and whole.is_host(event.node):
            false = event.clock_ns >= 0 and event.timestamp != event.clock_ns
            if false or event.receiver == event.node:
                broken.add(event.position)
    return broken if whole.is_on("failure_timeout_ns") else broken | _rounds_after_incomplete_ones(whole)


def _rounds_after_incomplete_ones(whole: Whole) -> set[int]:
    """The rows in which a host begins a round after one that left out some other host to which it had sent data."""
    found: set[int] = set()
    for host in whole.topology.hosts():
        for asked, later in pairwise(rounds(whole, host)):
            data = [event for event in before(whole.sent, asked[0].position) if event.packet == PacketKind.DATA]
            served = {event.receiver for event in data if event.node == event.sender == host} - {host}
            if served & set(range(len(whole.topology.nodes))) - {event.receiver for event in asked}:
                found.add(later[0].position)
    return found


def adjustment_is_repeated(trace: Trace) -> set[int]:
    whole = look(trace)
    interval = whole.number("adjustment_interval_ns")
    broken: set[int] = set()
    for host in whole.topology.hosts():
        sent = [
            event for event in whole.sent if event.packet == PacketKind.ADJUST and event.node == event.sender == host
        ]
        begins = [event for at, event in enumerate(sent) if at == 0 or sent[at - 1].number != event.number]
        for earlier, later in pairwise(begins):
            slow = earlier.clock_ns >= 0 and later.clock_ns - earlier.clock_ns > 2 * interval
            if later.number < earlier.number or slow:
                broken.add(later.position)
    return broken


def adjustment_keeps_promises(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for messages in whole.scatterings:
        first, _ = messages[0]
        above = [min(timestamp + 1, GREATEST) for timestamp in _given(whole, first)]
        if first.timestamp < max([*above, *_said(whole, first)]):
            broken.add(first.position)
    for event in whole.sent:
        beacon = whole.is_host(event.node) and not event.is_data and event.barrier != NO_BARRIER
        if beacon and event.clock_ns >= 0:
            now = adjusted(event.clock_ns, adjustment(whole, event.node, event.position))
            if event.barrier != max([now, *_given(whole, event), *_said(whole, event)]):
                broken.add(event.position)
    return broken
