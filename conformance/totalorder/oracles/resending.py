"""The clauses of acknowledging and sending again."""

from __future__ import annotations

from itertools import pairwise

from scatterproof.conformance.oracles.whole import before, positions
from scatterproof.conformance.totalorder.oracles.best_effort import is_current
from scatterproof.conformance.totalorder.oracles.whole import Event, Whole, look
from scatterproof.spec.topology import NO_LINK
from scatterproof.spec.totalorder.messages import ANSWER, NO_BARRIER, PacketKind
from scatterproof.spec.trace import Kind, Trace


def given_to_receiver(whole: Whole, event: Event) -> list[Event]:
    """The messages that the event's node gave to the event's receiver earlier."""
    earlier = before(whole.sent, event.position)
    return [
        other for other in earlier if other.is_given and (other.node, other.receiver) == (event.node, event.receiver)
    ]


def own_data(whole: Whole) -> list[Event]:
    """Data messages that their senders send, for some node of the network."""
    return [
        event
        for event in whole.sent
        if event.is_data and event.node == event.sender and 0 <= event.receiver < len(whole.topology.nodes)
    ]


def acknowledgements(whole: Whole, node: int, until: int) -> list[Event]:
    """The acknowledgements that arrived at a host before position `until`, of messages that it had sent by then."""
    count = len(whole.topology.nodes)
    found: list[Event] = []
    for event in before(whole.arrived, until):
        if event.packet == PacketKind.ACK and event.receiver == event.node == node and 0 <= event.sender < count:
            sent = [
                other.number
                for other in before(whole.sent, event.position)
                if other.is_given and other.node == node and other.receiver == event.sender
            ]
            if event.number <= max([0, *sent]):
                found.append(event)
    return found


def acknowledged(whole: Whole, node: int, receiver: int, until: int) -> int:
    """The greatest number acknowledged by the receiver before position `until`."""
    return max([0] + [event.number for event in acknowledgements(whole, node, until) if event.sender == receiver])


def message_numbers_consecutive(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in own_data(whole):
        greatest = max([0] + [other.number for other in given_to_receiver(whole, event)])
        right = 1 <= event.number <= greatest if event.resent else event.number == greatest + 1
        if not right:
            broken.add(event.position)
    return broken


def acknowledgements_cumulative(trace: Trace) -> set[int]:
    whole = look(trace)
    count = len(whole.topology.nodes)
    sent = [
        event
        for event in whole.sent
        if event.packet == PacketKind.ACK and event.node == event.sender and 0 <= event.receiver < count
        if whole.is_host(event.node)
    ]
    came = [event for event in whole.arrived if event.is_data and event.receiver == event.node]
    broken: set[int] = set()
    for event in sent:
        held = {
            other.number
            for other in before([*came, *whole.recalls], event.position)
            if other.node == event.node and other.sender == event.receiver
        }
        upto = 0
        while upto + 1 in held:
            upto += 1
        if event.number != upto:
            broken.add(event.position)
    owed = any(
        sum(event.node == host and event.sender == other for event in came)
        > sum(event.node == host and event.receiver == other for event in sent)
        for host in whole.topology.hosts()
        if not whole.stopped(host) and not whole.fell_silent(host)
        for other in range(count)
        if whole.routes.next_link[host][other] != NO_LINK
        and not any(told.node == host and told.sender == other for told in whole.notices)
    )
    return broken | positions(event for event in whole.of(Kind.ENDED) if owed and event.settled)


def lost_is_resent(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in own_data(whole):
        if event.resent and not _is_repeated(whole, event):
            broken.add(event.position)
    end = len(whole.events)
    firsts = {event.key: event for event in reversed(own_data(whole)) if not event.resent}
    forgotten = any(
        event.number == acknowledged(whole, event.node, event.receiver, end) + 1
        and not any(_repeats(other, event) for other in own_data(whole))
        for event in firsts.values()
        if not any(whole.stopped(end) or whole.fell_silent(end) for end in event.key[:2])
        if not any(told.node == event.node and told.sender == event.receiver for told in whole.notices)
    )
    return broken | positions(event for event in whole.of(Kind.ENDED) if forgotten and event.settled)


def _repeats(later: Event, first: Event) -> bool:
    return later.resent and later.key == first.key and later.position > first.position


def _first(whole: Whole, event: Event) -> Event | None:
    """The first transmission of a message that is sent again and not acknowledged yet."""
    if event.number <= acknowledged(whole, event.node, event.receiver, event.position):
        return None
    return next((other for other in given_to_receiver(whole, event) if other.number == event.number), None)


def _is_repeated(whole: Whole, event: Event) -> bool:
    """Whether a message sent again equals the message that was sent, and comes in time after two equal
    acknowledgements."""
    first = _first(whole, event)
    if first is None:
        return True
    if (event.timestamp, event.digest) != (first.timestamp, first.digest):
        return False
    asked = _asked(whole, first, event.position)
    if asked is None or any(_repeats(other, first) for other in before(own_data(whole), event.position)):
        return True
    return asked.clock_ns < 0 or event.clock_ns - asked.clock_ns < whole.interval


def _asked(whole: Whole, first: Event, until: int) -> Event | None:
    """The second of the first two equal acknowledgements that ask for a message while it was sent only once."""
    came = [event for event in acknowledgements(whole, first.node, until) if event.sender == first.receiver]
    for earlier, later in pairwise(came):
        if earlier.number == later.number == first.number - 1 and later.position > first.position:
            return later
    return None


def resent_carries_current_barrier(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.sent:
        if not (event.is_data and event.resent and event.barrier != NO_BARRIER and whole.is_host(event.node)):
            continue
        earlier = [other for other in before(whole.sent, event.position) if other.node == event.node]
        if not is_current(whole, event, earlier):
            broken.add(event.position)
    return broken


def host_sets_loss_flag(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.sent:
        if not whole.is_host(event.node):
            continue
        own = [other for other in own_data(whole) if other.position <= event.position and other.link == event.link]
        again = [other for other in whole.sent if other.position <= event.position and other.link == event.link]
        again = [other for other in again if other.is_data and other.resent and other.node == other.sender]
        came = acknowledgements(whole, event.node, event.position)

        def covered(message: Event, came: list[Event] = came, at: int = event.position) -> bool:
            acknowledged = any(
                ack.sender == message.receiver and ack.number >= message.number and ack.position > message.position
                for ack in came
            )
            return acknowledged or any(
                told.node == message.node and told.sender == message.receiver and message.position < told.position < at
                for told in whole.notices
            )

        missing = [other.timestamp for other in own if other.resent and not covered(other)]
        waiting = [other.timestamp for other in outstanding(whole, event)]
        tells_all = all(event.loss_record >= timestamp for timestamp in missing)
        tells_more = event.loss_record > max([0] + [other.timestamp for other in again])
        told = any(other.node == event.node for other in before(whole.notices, event.position))
        tells_old = not told and event.loss_record > 0 and all(timestamp > event.loss_record for timestamp in waiting)
        if not tells_all or tells_more or tells_old:
            broken.add(event.position)
    return broken


def outstanding(whole: Whole, event: Event) -> list[Event]:
    """The messages that the event's host has put on the event's link, the event included, and that nothing covers which
    arrived since: no acknowledgement, no answer to a recall, no notice that the receiver has failed."""
    came = acknowledgements(whole, event.node, event.position)
    return [
        other
        for other in whole.sent
        if other.is_given and other.position <= event.position and other.link == event.link
        if not any(
            ack.sender == other.receiver and ack.number >= other.number and ack.position > other.position
            for ack in came
        )
        if not any(
            told.node == event.node
            and told.sender == other.receiver
            and other.position < told.position < event.position
            and told.number in (0, other.number + ANSWER)
            for told in (*whole.notices, *whole.answers)
        )
    ]
