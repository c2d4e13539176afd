"""The clauses as predicates over a whole trace: each returns the positions of the rows that break it.

Written from the clauses' sentences, slow and plain: every one looks at all rows before the one that it judges, and
keeps no running state. They share nothing with the checks but the trace, so that each can find the other's mistakes.
They expect a trace that `conformance.judge.refuse` lets pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

from spec.topology import Role, route
from spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN, PacketKind
from spec.trace import CLEAN, QUIESCENT, Kind, Trace, schema


class Event(NamedTuple):
    """A row, by name."""

    position: int
    time_ns: int
    clock_ns: int
    node: int
    kind: int
    link: int
    link_seq: int
    sender: int
    receiver: int
    number: int
    digest: int
    flags: int
    packet: int
    scattering: int
    timestamp: int
    barrier: int

    @property
    def key(self) -> tuple[int, int, int]:
        return (self.sender, self.receiver, self.number)

    @property
    def is_data(self) -> bool:
        return self.packet == PacketKind.DATA

    @property
    def settled(self) -> bool:
        return self.flags >= 0 and bool(self.flags & CLEAN) and bool(self.flags & QUIESCENT)


class Whole:
    """A trace, looked at as a whole."""

    def __init__(self, trace: Trace) -> None:
        names = schema(trace.header.protocol).columns
        self.events = [
            Event(position=position, **dict(zip(names, row, strict=True))) for position, row in enumerate(trace.rows)
        ]
        self.topology = trace.header.topology
        self.routes = route(self.topology)
        self.environment = trace.header.parameters["environment"]
        self.interval = int(trace.header.parameters["beacon_interval_ns"])

    def of(self, kind: Kind) -> list[Event]:
        return [event for event in self.events if event.kind == kind]

    @cached_property
    def sent(self) -> list[Event]:
        return self.of(Kind.SENT)

    @cached_property
    def arrived(self) -> list[Event]:
        return self.of(Kind.ARRIVED)

    @cached_property
    def delivered(self) -> list[Event]:
        return self.of(Kind.DELIVERED)

    def is_host(self, node: int) -> bool:
        return self.topology.nodes[node].role is Role.HOST

    def ingress(self, node: int) -> list[int]:
        """The ingress links of the node that data can take."""
        return [link for link in self.topology.ingress(node) if link in self.routes.used]

    def newest(self, link: int, until: int) -> int:
        """The greatest barrier that arrived on the link before position `until`."""
        return max(
            [NOT_SPOKEN] + [event.barrier for event in before(self.arrived, until) if event.link == link],
        )

    @cached_property
    def sendings(self) -> list[tuple[Event, Event | None]]:
        """Every submitted message, with the row in which its sender sends it."""
        return [(submission, self._sending(submission)) for submission in self.of(Kind.SUBMITTED)]

    def _sending(self, submission: Event) -> Event | None:
        for event in self.sent:
            own = event.is_data and event.node == event.sender == submission.node
            if own and event.position > submission.position and event.key == submission.key:
                return event
        return None

    @cached_property
    def scatterings(self) -> list[list[tuple[Event, Event]]]:
        """For every scattering that was sent at all: its messages that were sent, in the order of sending, each with
        its submission."""
        groups: dict[tuple[int, int], list[tuple[Event, Event]]] = {}
        for submission, sending in self.sendings:
            if sending is not None:
                groups.setdefault((submission.node, submission.scattering), []).append((sending, submission))
        return [sorted(group, key=lambda pair: pair[0].position) for group in groups.values()]


def before(events: Iterable[Event], position: int) -> list[Event]:
    return [event for event in events if event.position < position]


def positions(events: Iterable[Event]) -> set[int]:
    return {event.position for event in events}


def one_timestamp_per_scattering(trace: Trace) -> set[int]:
    whole = Whole(trace)
    broken: set[int] = set()
    for messages in whole.scatterings:
        first, _ = messages[0]
        broken |= positions(sending for sending, _ in messages if sending.timestamp != first.timestamp)
    if any(sending is None for _, sending in whole.sendings):
        broken |= positions(event for event in whole.of(Kind.ENDED) if event.settled)
    return broken


def timestamps_rise(trace: Trace) -> set[int]:
    whole = Whole(trace)
    firsts = [messages[0] for messages in whole.scatterings]
    broken: set[int] = set()
    for given, submission in firsts:
        earlier = [
            other.timestamp for other, _ in firsts if other.node == given.node and other.position < given.position
        ]
        promised = [
            event.barrier for event in _barriers(before(whole.sent, given.position)) if event.node == given.node
        ]
        rises = all(given.timestamp > timestamp for timestamp in earlier)
        keeps_up = submission.clock_ns < 0 or given.timestamp >= submission.clock_ns
        # The clock, the timestamp next to the last one, and the barriers promised: one of them must ask for it.
        asked_for = [given.clock_ns, *promised, *([max(earlier) + 1] if earlier else [])]
        runs_ahead = given.clock_ns >= 0 and given.timestamp > max(asked_for)
        if not rises or not keeps_up or runs_ahead:
            broken.add(given.position)
    return broken


def host_barrier_is_its_promise(trace: Trace) -> set[int]:
    whole = Whole(trace)
    given_earlier = {sending.position for messages in whole.scatterings for sending, _ in messages[1:]}
    broken: set[int] = set()
    for event in whole.sent:
        if not whole.is_host(event.node):
            continue
        earlier = [other for other in before(whole.sent, event.position) if other.node == event.node]
        timestamps = [other.timestamp for other in earlier if other.is_data]
        promises = [other.barrier for other in _barriers(earlier)]
        if event.is_data:
            own = event.barrier in (NO_BARRIER, event.timestamp)
            kept = event.position in given_earlier or all(event.timestamp >= promise for promise in promises)
            if not own or not kept:
                broken.add(event.position)
        elif event.barrier != NO_BARRIER:
            covers = all(event.barrier >= timestamp for timestamp in timestamps)
            exact = event.clock_ns < 0 or event.barrier == max([event.clock_ns, *timestamps])
            if not covers or not exact:
                broken.add(event.position)
    return broken


def _barriers(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if event.barrier != NO_BARRIER]


def _switch_barriers(whole: Whole) -> list[tuple[Event, int, int]]:
    """Every barrier that a switch sends, with the minimum over the links that reach it and over all its links."""
    found: list[tuple[Event, int, int]] = []
    for event in _barriers(whole.sent):
        reaching = whole.routes.reaching[event.link]
        if not whole.is_host(event.node) and reaching:
            minimum = min(whole.newest(link, event.position) for link in reaching)
            least = min(whole.newest(link, event.position) for link in whole.ingress(event.node))
            found.append((event, minimum, least))
    return found


def switch_barrier_is_minimum(trace: Trace) -> set[int]:
    barriers = _switch_barriers(Whole(trace))
    return {event.position for event, minimum, least in barriers if not least <= event.barrier <= minimum}


def only_reaching_links_count(trace: Trace) -> set[int]:
    barriers = _switch_barriers(Whole(trace))
    return {event.position for event, minimum, least in barriers if least <= event.barrier < minimum}


def barrier_promise_holds(trace: Trace) -> set[int]:
    sent = Whole(trace).sent
    return {
        data.position
        for data in sent
        if data.is_data
        for earlier in _barriers(before(sent, data.position))
        if earlier.link == data.link and data.timestamp < earlier.barrier
    }


def barriers_never_fall(trace: Trace) -> set[int]:
    sent = _barriers(Whole(trace).sent)
    return {
        event.position
        for event in sent
        for earlier in before(sent, event.position)
        if earlier.link == event.link and event.barrier < earlier.barrier
    }


def deliver_below_barrier(trace: Trace) -> set[int]:
    whole = Whole(trace)
    return {
        delivery.position
        for delivery in whole.delivered
        if not whole.ingress(delivery.node)
        or any(delivery.timestamp >= whole.newest(link, delivery.position) for link in whole.ingress(delivery.node))
    }


def delivered_in_total_order(trace: Trace) -> set[int]:
    delivered = Whole(trace).delivered
    return {
        later.position
        for later in delivered
        for earlier in before(delivered, later.position)
        if earlier.node == later.node and (earlier.timestamp, earlier.sender) >= (later.timestamp, later.sender)
    }


def delivered_once_as_sent(trace: Trace) -> set[int]:
    whole = Whole(trace)
    sendings = {submission.key: (submission, sending) for submission, sending in whole.sendings}
    broken: set[int] = set()
    for delivery in whole.delivered:
        submission, sending = sendings.get(delivery.key, (None, None))
        earlier = [
            other
            for other in before(whole.delivered, delivery.position)
            if submission is not None
            and other.position > submission.position
            and other.key == delivery.key
            and other.node == other.receiver
        ]
        genuine = (
            delivery.node == delivery.receiver
            and submission is not None
            and submission.position < delivery.position
            and submission.digest == delivery.digest
            and (sending is None or sending.position > delivery.position or sending.timestamp == delivery.timestamp)
        )
        if not genuine or earlier:
            broken.add(delivery.position)
    return broken


def arrived_is_delivered(trace: Trace) -> set[int]:
    whole = Whole(trace)
    end = len(whole.events)
    data = [event for event in whole.arrived if event.is_data]
    # A copy that the network makes of a packet bears the number of one that came already.
    originals = [
        event
        for event in data
        if event.link_seq < 0
        or not any(
            other.link == event.link and other.link_seq >= event.link_seq for other in before(data, event.position)
        )
    ]
    kept = [
        event
        for event in originals
        if whole.is_host(event.node)
        and event.receiver == event.node
        and not any(
            (delivery.node, delivery.sender, delivery.number) == (event.node, event.sender, event.number)
            and delivery.position > event.position
            for delivery in whole.delivered
        )
    ]
    if whole.environment == "A":
        kept = [
            event
            for event in kept
            if whole.ingress(event.node)
            and all(event.timestamp < whole.newest(link, end) for link in whole.ingress(event.node))
        ]
    swallowed = any(
        sum(event.node == switch for event in originals)
        > sum(event.node == switch and event.is_data for event in whole.sent)
        for switch in whole.topology.switches()
    )
    return positions(event for event in whole.of(Kind.ENDED) if event.settled and (kept or swallowed))


def barriers_on_data_only(trace: Trace) -> set[int]:
    whole = Whole(trace)
    if whole.environment != "A":
        return set()
    return positions(event for event in whole.sent if not event.is_data or event.barrier == NO_BARRIER)


def barriers_on_beacons_only(trace: Trace) -> set[int]:
    whole = Whole(trace)
    if whole.environment != "B":
        return set()
    return positions(event for event in whole.sent if event.is_data != (event.barrier == NO_BARRIER))


def beacons_only_when_idle(trace: Trace) -> set[int]:
    whole = Whole(trace)
    if whole.environment != "C":
        return set()
    broken = positions(event for event in whole.sent if event.is_data and event.barrier == NO_BARRIER)
    for beacon in whole.sent:
        data = [other for other in before(whole.sent, beacon.position) if other.is_data and other.link == beacon.link]
        clocks_known = bool(data) and beacon.clock_ns >= 0 and data[-1].clock_ns >= 0
        if not beacon.is_data and clocks_known and beacon.clock_ns - data[-1].clock_ns < whole.interval:
            broken.add(beacon.position)
    return broken


ORACLES: dict[str, Callable[[Trace], set[int]]] = {
    oracle.__name__: oracle
    for oracle in (
        one_timestamp_per_scattering,
        timestamps_rise,
        host_barrier_is_its_promise,
        switch_barrier_is_minimum,
        only_reaching_links_count,
        barrier_promise_holds,
        barriers_never_fall,
        deliver_below_barrier,
        delivered_in_total_order,
        delivered_once_as_sent,
        arrived_is_delivered,
        barriers_on_data_only,
        barriers_on_beacons_only,
        beacons_only_when_idle,
    )
}
