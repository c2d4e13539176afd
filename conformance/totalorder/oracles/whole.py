"""A trace, looked at as a whole: what the oracles of all clauses ask of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from scatterproof.conformance.oracles.whole import AnyEvent, AnyWhole, grouped, once_a_trace
from scatterproof.spec.topology import Role, route
from scatterproof.spec.totalorder.messages import ANSWER, NO_BARRIER, NO_LOSS, NOT_SPOKEN, Environment, PacketKind
from scatterproof.spec.trace import Kind, Trace

GREATEST = (1 << 63) - 1


class Event(AnyEvent):
    @property
    def key(self) -> tuple[int, int, int]:
        return (self.sender, self.receiver, self.number)

    @property
    def is_data(self) -> bool:
        return self.packet == PacketKind.DATA

    @property
    def is_beacon(self) -> bool:
        return self.packet == PacketKind.BEACON

    @property
    def resent(self) -> bool:
        return self.flags >= 0 and self.flags % 2 == 1

    @property
    def incarnation(self) -> int:
        """Of a packet: how often the node that put it on the link had begun anew."""
        return max(self.flags, 0) // 2

    @property
    def is_given(self) -> bool:
        """Whether the sender of a message puts it on a link for the first time, by what it says."""
        return self.is_data and self.node == self.sender and not self.resent


class Whole(AnyWhole[Event]):
    """A trace, looked at as a whole. Registers of a link are those of the node at its end: a node that begins anew
    knows nothing of what came earlier."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace, Event)
        self.topology = trace.header.topology
        self.routes = route(self.topology)
        self.environment = Environment(str(trace.header.parameters["environment"]))
        self.interval = int(trace.header.parameters["beacon_interval_ns"])
        self.late = trace.header.parameters.get("switch", "one") != "one"
        self.failure_timeout = int(trace.header.parameters.get("failure_timeout_ns", 0))
        self._parameters = trace.header.parameters
        # By host, kept by the oracles of adjustment: the rows in which rounds were whole, and their differences.
        self.conclusions: dict[int, list[tuple[int, int]]] = {}

    def is_on(self, parameter: str) -> bool:
        return bool(self._parameters.get(parameter, 0))

    def number(self, parameter: str) -> int:
        return int(self._parameters.get(parameter, 0))

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

    def began(self, node: int, until: int) -> int:
        """Where the node last began anew before position `until`; -1 for never."""
        again = [event.position for event in self.of(Kind.RESTARTED) if event.node == node and event.link < 0]
        return max([-1] + [position for position in again if position < until])

    def stopped(self, node: int) -> bool:
        return any(event.node == node for event in self.crashes)

    @cached_property
    def by_link(self) -> dict[int, list[Event]]:
        """The packets that arrived, by link."""
        return grouped(self.arrived, lambda event: event.link)

    def heard(self, link: int, until: int) -> list[Event]:
        """The packets that arrived on the link before position `until`, since the node there began."""
        since = self.began(self.topology.links[link].target, until)
        return [event for event in self.by_link.get(link, ()) if since < event.position < until]

    def newest(self, link: int, until: int) -> int:
        """The greatest barrier that arrived on the link before position `until`, in ns; the timestamp counts where a
        host leaves the barrier to its first switch (TO-BAR-FILL)."""
        return max([NOT_SPOKEN] + [self._barrier(event) for event in self.heard(link, until)])

    def silent_from(self, link: int, event: Event) -> int | None:
        """The row in which a switch that sends `event` may have given the link up (TO-FAIL), None where it cannot have:
        the link was silent for the failure time-out on the switch's clock, or a host behind it spoke that had begun
        anew. Where the clock is not known, half the time-out in true time counts."""
        if not self.failure_timeout:
            return None
        begun = self.began(event.node, event.position)
        begun_ns = self.events[begun].time_ns if begun >= 0 else 0
        last: Event | None = None
        for packet in [*self.heard(link, event.position), event]:
            if last is None or last.clock_ns < 0 or packet.clock_ns < 0:
                silent = packet.time_ns - begun_ns >= max(1, self.failure_timeout // 2)
            else:
                silent = packet.clock_ns - last.clock_ns >= self.failure_timeout
            anew = packet is not event and packet.incarnation > 0 and self.is_host(self.topology.links[link].source)
            if silent or anew:
                return packet.position
            last = packet
        return None

    def live(self, event: Event) -> list[int]:
        """The ingress links that reach the event's link and cannot have been given up."""
        return [link for link in self.routes.reaching[event.link] if self.silent_from(link, event) is None]

    def low(self, link: int, event: Event, newest: Callable[[int, int], int]) -> int:
        """The newest on the link, by `newest`: when the link may have been given up or, where it cannot have been,
        now."""
        silent = self.silent_from(link, event)
        return newest(link, event.position if silent is None else silent)

    @cached_property
    def notices(self) -> list[Event]:
        """The notices that a host has failed (TO-FAIL), as they arrived at their receivers."""
        return [event for event in self._told if event.number == 0]

    @cached_property
    def recalls(self) -> list[Event]:
        """The recalls of messages (TO-ATOMIC), as they arrived at their receivers."""
        return [event for event in self._told if 0 < event.number < ANSWER]

    @cached_property
    def answers(self) -> list[Event]:
        return [event for event in self._told if event.number >= ANSWER]

    @cached_property
    def _told(self) -> list[Event]:
        count = len(self.topology.nodes) if self.failure_timeout else 0
        came = [event for event in self.arrived if event.packet == PacketKind.NOTICE and event.receiver == event.node]
        return [event for event in came if 0 <= event.sender < count]

    def fell_silent(self, host: int) -> bool:
        """Whether the host sent nothing for the time-out before the end: where failures are handled, it has stopped
        (TO-FAIL)."""
        last = max([0] + [event.time_ns for event in self.sent if event.node == host])
        return any(0 < self.failure_timeout <= end.time_ns - last for end in self.of(Kind.ENDED))

    def _barrier(self, event: Event) -> int:
        fills = self.is_on("fill_barrier") and self.environment.data_carry_barriers
        from_host = self.is_host(self.topology.links[event.link].source)
        if fills and from_host and event.is_data and event.barrier == NO_BARRIER:
            return event.timestamp
        return event.barrier

    def newest_ack(self, link: int, until: int) -> int:
        """The greatest ack barrier that arrived on the link before position `until`."""
        return max([NOT_SPOKEN] + [event.ack_barrier for event in self.heard(link, until)])

    @cached_property
    def gaps(self) -> list[Event]:
        """The packets that show a gap: their number is above the next after the greatest that came over the link. A
        node that began anew does not know which is next, and the numbers of such a node begin anew: in both cases the
        first packet shows a gap."""
        return [event for event in self.arrived if event.link_seq > self._next_number(event)]

    def _next_number(self, event: Event) -> int:
        earlier = self.heard(event.link, event.position)
        life = max([event.incarnation, *(other.incarnation for other in earlier)])
        fresh = life > 0 or self.began(event.node, event.position) >= 0
        return 1 + max([-2 if fresh else -1] + [other.link_seq for other in earlier if other.incarnation == life])

    def gap_record(self, link: int, until: int) -> int:
        """The greatest `greatest`, in ns, of the packets that showed gaps in the link's numbers."""
        since = self.began(self.topology.links[link].target, until)
        behind = [event for event in self.gaps if event.link == link and since < event.position < until]
        return max([NO_LOSS] + [event.greatest for event in behind])

    def record(self, link: int, until: int) -> int:
        """The link's loss record before position `until`, in ns: the greatest from gaps, and from packets."""
        return max([self.gap_record(link, until)] + [event.loss_record for event in self.heard(link, until)])

    def most_record(self, link: int, until: int) -> int:
        """The same, where a gap counts for the greatest `greatest` that ever came over the link: a node that began anew
        says less than it did. A proxy host takes what is handed over for a switch, and the gap in front of it may
        count for the host itself with what comes for it next."""
        heard = self.heard(link, until)
        spans = [(gap.position, self._seen_by(gap, heard)) for gap in self.gaps if gap.link == link]
        behind = [event.greatest for event in heard if any(gap < until and event.position <= by for gap, by in spans)]
        return max([NO_LOSS, *behind] + [event.loss_record for event in heard])

    def _seen_by(self, gap: Event, heard: list[Event]) -> int:
        """The position at which the node has seen the gap at the latest."""
        own = [event.position for event in heard if event.packet != PacketKind.HANDED or not self.is_host(event.node)]
        return next((position for position in own if position >= gap.position), GREATEST)

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
        """For each scattering of which some message was sent: its messages that were, in the order of sending, each
        with its submission."""
        groups: dict[tuple[int, int], list[tuple[Event, Event]]] = {}
        for submission, sending in self.sendings:
            if sending is not None:
                groups.setdefault((submission.node, submission.scattering), []).append((sending, submission))
        return [sorted(group, key=lambda pair: pair[0].position) for group in groups.values()]


def barriers(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if event.barrier != NO_BARRIER]


def from_switches(whole: Whole) -> list[Event]:
    """The packets that switches send on links that some ingress link reaches; none reaches those of hosts."""
    return [event for event in whole.sent if whole.routes.reaching[event.link]]


look = once_a_trace(Whole)
