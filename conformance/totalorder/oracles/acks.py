"""The clauses of ack barriers."""

from __future__ import annotations

from scatterproof.conformance.oracles.whole import before
from scatterproof.conformance.totalorder.oracles.adjustment import adjusted, adjustment
from scatterproof.conformance.totalorder.oracles.loss import least_ack
from scatterproof.conformance.totalorder.oracles.resending import outstanding
from scatterproof.conformance.totalorder.oracles.whole import Event, Whole, from_switches, look
from scatterproof.spec.totalorder.messages import ANSWER, NO_BARRIER, PacketKind
from scatterproof.spec.trace import Trace


def ack_barrier_promise_holds(trace: Trace) -> set[int]:
    whole = look(trace)
    count = len(whole.topology.nodes)
    given = [event for event in whole.sent if event.is_given and 0 <= event.receiver < count]
    broken: set[int] = set()
    for event in whole.sent:
        if event.ack_barrier > NO_BARRIER and _rises(whole, event):
            own = [*before(given, event.position), *(other for other in given if other.position == event.position)]
            if any(_is_passed_over(whole, message, event) for message in own):
                broken.add(event.position)
    for message in given:
        route = whole.routes.path(whole.topology, message.sender, message.receiver)
        said = [other for other in before(whole.sent, message.position) if other.link in route]
        named = whole.failure_timeout and _had_stopped(whole, message.sender, message.position)
        if not named and any(NO_BARRIER < other.ack_barrier >= message.timestamp for other in said):
            broken.add(message.position)
    return broken


def _rises(whole: Whole, event: Event) -> bool:
    return all(
        other.ack_barrier < event.ack_barrier
        for other in before(whole.sent, event.position)
        if other.link == event.link
    )


def _is_passed_over(whole: Whole, message: Event, event: Event) -> bool:
    """Whether an ack barrier covers a message that takes its link and has not been received by then."""
    data = [other for other in whole.arrived if other.is_data and other.node == other.receiver]
    received = any(
        message.position < other.position < event.position
        and (*other.key, other.timestamp) == (*message.key, message.timestamp)
        for other in (*data, *whole.recalls)
    )
    return (
        not received
        and message.timestamp <= event.ack_barrier
        and event.link in whole.routes.path(whole.topology, message.sender, message.receiver)
        and not _had_stopped(whole, message.sender, event.position)
        and not _had_stopped(whole, message.receiver, event.position)
    )


def _had_stopped(whole: Whole, node: int, until: int) -> bool:
    """Whether the node had crashed, or some notice had named it, where failures are handled."""
    named = [event for event in whole.sent if whole.failure_timeout and event.packet == PacketKind.NOTICE]
    told = any(event.number == 0 and event.sender == node and event.position <= until for event in named)
    return told or any(event.node == node for event in before(whole.crashes, until))


def ack_barrier_below_outstanding(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.sent:
        if not whole.is_host(event.node):
            continue
        said = [
            other.ack_barrier
            for other in before(whole.sent, event.position)
            if other.link == event.link and other.ack_barrier > NO_BARRIER
        ]
        if event.is_given and any(event.timestamp <= ack for ack in said):
            broken.add(event.position)
        elif event.ack_barrier > NO_BARRIER:
            falls = any(event.ack_barrier < ack for ack in said)
            waiting = [message.timestamp for message in outstanding(whole, event)]
            if falls or any(event.ack_barrier >= timestamp for timestamp in waiting):
                broken.add(event.position)
    return broken


def idle_ack_barrier_rises(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.sent:
        if not whole.is_host(event.node) or event.ack_barrier == NO_BARRIER or outstanding(whole, event):
            continue
        earlier = [other for other in before(whole.sent, event.position) if other.node == event.node]
        given = [other.timestamp for other in earlier if other.is_data and other.node == other.sender]
        # The next timestamp is above those given and the ack barriers sent, and at or above barriers and the clock.
        due = max([0, *given, *(other.ack_barrier for other in earlier), *(other.barrier - 1 for other in earlier)])
        known = event.clock_ns >= 0
        if known:
            due = max(due, adjusted(event.clock_ns, adjustment(whole, event.node, event.position)) - 1)
        ahead = event.ack_barrier > due and known and not whole.is_on("causal")
        recalls = whole.failure_timeout and any(
            other.packet == PacketKind.NOTICE and other.node == other.sender and 0 < other.number < ANSWER
            for other in (*earlier, event)
        )
        if (event.ack_barrier < due and not recalls) or ahead:
            broken.add(event.position)
    return broken


def switch_ack_barrier_is_minimum(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in from_switches(whole):
        if event.ack_barrier == NO_BARRIER:
            continue
        if whole.failure_timeout:
            low = min(whole.low(link, event, whole.newest_ack) for link in whole.routes.reaching[event.link])
            above = any(event.ack_barrier > whole.newest_ack(link, event.position) for link in whole.live(event))
            if above or event.ack_barrier < low:
                broken.add(event.position)
        else:
            minimum = least_ack(whole, event)
            if event.ack_barrier > minimum or (event.ack_barrier < minimum and not whole.late):
                broken.add(event.position)
    return broken
