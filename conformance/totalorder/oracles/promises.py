"""The clauses of promises under other liberties."""

from __future__ import annotations

from scatterproof.conformance.oracles.whole import before
from scatterproof.conformance.totalorder.oracles.whole import Event, Whole, look
from scatterproof.spec.totalorder.messages import NO_BARRIER
from scatterproof.spec.trace import Kind, Trace


def beacons_never_overtake_data(trace: Trace) -> set[int]:
    whole = look(trace)
    return {
        event.position
        for event in whole.sent
        if event.is_beacon and event.barrier != NO_BARRIER and not whole.is_host(event.node)
        if any(message.timestamp < event.barrier for message in _inside(whole, event))
    }


def _inside(whole: Whole, event: Event) -> list[Event]:
    """First transmissions that are inside a switch when the event happens, and leave on its link. Of two with the same
    sender, receiver and number the later one counts."""
    inside: list[Event] = []
    arrivals = [
        other
        for other in before(whole.arrived, event.position)
        if other.node == event.node and other.is_data and not other.resent
        if 0 <= other.receiver < len(whole.topology.nodes)
    ]
    for message in arrivals:
        if whole.routes.next_link[event.node][message.receiver] != event.link:
            continue
        later = [other for other in whole.events if message.position < other.position < event.position]
        gone = any(
            (other.kind == Kind.SENT and other.node == event.node and other.is_data and other.key == message.key)
            or (other in arrivals and other.key == message.key)
            or (other.kind == Kind.CRASHED and other.node == event.node and other.link < 0)
            or (other.kind == Kind.REFUSED and _last_come(whole, other) == message)
            for other in later
        )
        if not gone:
            inside.append(message)
    return inside


def _last_come(whole: Whole, refusal: Event) -> Event | None:
    """The packet that was refused: the last to come over the link."""
    came = before(whole.by_link.get(refusal.link, ()), refusal.position)
    return came[-1] if came else None


def restart_keeps_barriers(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.sent:
        earlier = [other for other in before(whole.sent, event.position) if other.link == event.link]
        falls = event.barrier != NO_BARRIER and event.barrier < max([0] + [other.barrier for other in earlier])
        acks = [0] + [other.ack_barrier for other in earlier]
        falls = falls or (event.ack_barrier != NO_BARRIER and event.ack_barrier < max(acks))
        if falls and whole.began(event.node, event.position) >= 0:
            broken.add(event.position)
    return broken


def replies_ordered_after_delivered(trace: Trace) -> set[int]:
    whole = look(trace)
    firsts = [messages[0][0] for messages in whole.scatterings]
    return {
        given.position
        for given in firsts
        for delivery in before(whole.delivered, given.position)
        if delivery.node == given.node and delivery.timestamp >= given.timestamp
    }
