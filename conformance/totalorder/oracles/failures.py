"""Oracles of what is done about failures: TO-FAIL, TO-ATOMIC."""

from __future__ import annotations

from scatterproof.conformance.oracles.whole import before
from scatterproof.conformance.totalorder.oracles.whole import Event, Whole, look
from scatterproof.spec.totalorder.messages import Environment, PacketKind
from scatterproof.spec.trace import Kind, Trace


def _judged(whole: Whole) -> Event | None:
    """The row in which the end is judged: all has settled, and something failed."""
    ended = whole.of(Kind.ENDED)
    return ended[0] if ended and ended[0].settled and whole.of(Kind.CRASHED) else None


def _staying(whole: Whole, end: Event) -> set[int]:
    """The hosts that stay up: they never crashed, and packets came to them until the end."""
    since = end.time_ns - whole.failure_timeout
    late = {event.node for event in whole.arrived if event.time_ns > since}
    return {host for host in whole.topology.hosts() if host in late and not whole.stopped(host)}


def _scatterings(whole: Whole) -> list[list[Event]]:
    found: dict[tuple[int, int], list[Event]] = {}
    for event in whole.of(Kind.SUBMITTED):
        found.setdefault((event.sender, event.scattering), []).append(event)
    return list(found.values())


def scattering_is_all_or_nothing(trace: Trace) -> set[int]:
    whole = look(trace)
    end = _judged(whole)
    if end is None:
        return set()
    staying = _staying(whole, end)
    delivered = {(event.sender, event.node, event.number) for event in whole.delivered}
    came = {event.key for event in whole.arrived if event.is_data and event.node == event.receiver}
    for copies in _scatterings(whole):
        answers = {copy.key in delivered for copy in copies if copy.receiver in staying}
        lost = [copy for copy in copies if copy.key not in came | delivered and not _knows(whole, copy)]
        if len(answers) == 2 or (True in answers and lost):
            return {end.position}
    return set()


def _knows(whole: Whole, copy: Event) -> bool:
    """Whether the sender was told, before it was handed the message, that its receiver has failed."""
    told = before(whole.notices, copy.position)
    return any((notice.node, notice.sender) == (copy.node, copy.receiver) for notice in told)


def failure_stops_nobody(trace: Trace) -> set[int]:
    whole = look(trace)
    end = _judged(whole)
    if end is None:
        return set()
    staying = _staying(whole, end)
    delivered = {(event.sender, event.node, event.number) for event in whole.delivered}
    for copies in _scatterings(whole):
        concerned = {copies[0].sender, *(copy.receiver for copy in copies)}
        if concerned <= staying and not all(copy.key in delivered for copy in copies):
            return {end.position}
    notices = [event for event in whole.sent if event.packet == PacketKind.NOTICE and event.number == 0]
    for event in whole.delivered:
        told = [notice.timestamp for notice in notices if notice.sender == event.sender and notice.timestamp >= 0]
        if event.node in staying and told and event.timestamp >= min(told):
            return {end.position}
    # Beacons of structure 6 carry no barrier, and without loss there are no ack barriers.
    last = [(link, end.position) for host in staying for link in whole.ingress(host)]
    behind = any(whole.newest_ack(*place) - whole.newest(*place) >= whole.failure_timeout for place in last)
    has_both = whole.environment.loses and whole.environment is not Environment.D6
    return {end.position} if behind and has_both else set()
