"""The clauses of how loss is noticed, told, and survived."""

from __future__ import annotations

from collections.abc import Callable

from scatterproof.conformance.oracles.whole import before, positions
from scatterproof.conformance.totalorder.oracles.whole import Event, Whole, from_switches, look
from scatterproof.spec.totalorder.messages import NO_LOSS, NOT_SPOKEN, Environment
from scatterproof.spec.trace import Kind, Trace


def least_ack(whole: Whole, event: Event) -> int:
    return min(whole.newest_ack(link, event.position) for link in whole.routes.reaching[event.link])


def live_ack(whole: Whole, event: Event) -> int:
    """The least ack barrier of the links that cannot have been given up; 0 where there is none."""
    return min((whole.newest_ack(link, event.position) for link in whole.live(event)), default=NOT_SPOKEN)


def live_loss(whole: Whole, event: Event) -> int:
    """The greatest loss record of the links that cannot have been given up."""
    return max([NO_LOSS] + [whole.record(link, event.position) for link in whole.live(event)])


def most_loss(whole: Whole, event: Event) -> int:
    return max(whole.most_record(link, event.position) for link in whole.routes.reaching[event.link])


def switch_notices_loss(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in from_switches(whole):
        in_loss_state = live_loss(whole, event) > live_ack(whole, event)
        tells_less = in_loss_state and event.loss_record < live_loss(whole, event)
        if event.loss_record > most_loss(whole, event) or tells_less:
            broken.add(event.position)
    return broken


def loss_counter_spans_link(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.sent:
        since = -1 if whole.is_host(event.node) else whole.began(event.node, event.position)
        earlier = [other for other in before(whole.sent, event.position) if other.link == event.link and other.is_data]
        if any(other.timestamp > event.greatest for other in earlier if other.position > since):
            broken.add(event.position)
    for event in [] if whole.late else from_switches(whole):
        shown = max([NO_LOSS] + [whole.gap_record(link, event.position) for link in whole.live(event)])
        if event.loss_record < shown > live_ack(whole, event):
            broken.add(event.position)
    return broken


def switch_sets_loss_flag(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in from_switches(whole):
        since = whole.began(event.node, event.position)
        told = [
            other.loss_record
            for other in before(whole.sent, event.position)
            if other.link == event.link and other.position > since
        ]
        reaching = whole.routes.reaching[event.link]
        ack = min(whole.low(link, event, whole.newest_ack) for link in reaching)
        all_count = whole.live(event) == list(reaching)
        cleared_early = all_count and any(ack < record > event.loss_record for record in told)
        if cleared_early or 0 < event.loss_record <= ack:
            broken.add(event.position)
    return broken


def beacons_carry_loss_flag(trace: Trace) -> set[int]:
    whole = look(trace)
    return {
        event.position
        for event in from_switches(whole)
        if event.is_beacon and event.loss_record <= 0 and live_loss(whole, event) > live_ack(whole, event)
    }


def receiver_notices_loss(trace: Trace) -> set[int]:
    whole = look(trace)
    return _above_acks(whole, whole.gap_record)


def flagged_deliver_at_ack_barrier(trace: Trace) -> set[int]:
    whole = look(trace)
    return _above_acks(whole, whole.record)


def _above_acks(whole: Whole, record: Callable[[int, int], int]) -> set[int]:
    """Deliveries strictly above the least ack barrier, while the greatest of these records of ingress links is above it
    as well."""
    broken: set[int] = set()
    for delivery in whole.delivered:
        ingress = whole.ingress(delivery.node)
        if not ingress:
            continue
        ack = min(whole.newest_ack(link, delivery.position) for link in ingress)
        may_be_lost = max(record(link, delivery.position) for link in ingress)
        if may_be_lost > ack < delivery.timestamp:
            broken.add(delivery.position)
    return broken


def order_survives_loss(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for delivery in whole.delivered:
        for earlier in before(whole.delivered, delivery.position):
            late = (earlier.timestamp, earlier.sender) >= (delivery.timestamp, delivery.sender)
            if late and earlier.node == delivery.node:
                broken.add(delivery.position)
    # Without beacons the last messages wait for ever; nodes and links that stop may lose messages for ever.
    if not whole.events or whole.environment is Environment.D5 or whole.of(Kind.CRASHED) or _somebody_given_up(whole):
        return broken
    incomplete = len(whole.delivered) < len(whole.of(Kind.SUBMITTED))
    return broken | positions(event for event in whole.of(Kind.ENDED) if incomplete and event.settled)


def _somebody_given_up(whole: Whole) -> bool:
    """Whether, where failures are handled, nothing came to some host for the time-out in the end (TO-FAIL)."""
    end, since = whole.events[-1].time_ns, [0] * len(whole.topology.nodes)
    for event in whole.arrived:
        since[event.node] = max(since[event.node], event.time_ns)
    return any(0 < whole.failure_timeout <= end - since[host] for host in whole.topology.hosts())
