"""A trace, looked at as a whole: what the oracles of all clauses ask of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from scatterproof.conformance.broadcast.parameters import parameters
from scatterproof.conformance.oracles.whole import AnyEvent, AnyWhole, before, once_a_trace
from scatterproof.spec.broadcast.messages import Level, PacketKind, dependencies
from scatterproof.spec.trace import Kind, Trace

GREATEST_NUMBER = 2**32 - 1
LONGEST_RUN = 4096

MessageId = tuple[int, int]  # creator, number


class Event(AnyEvent):
    @property
    def is_run(self) -> bool:
        return 1 <= self.number <= GREATEST_NUMBER and 1 <= self.count <= LONGEST_RUN

    @property
    def last(self) -> int:
        return self.number + self.count - 1

    @property
    def messages(self) -> list[MessageId]:
        return [(self.sender, number) for number in range(self.number, self.last + 1)]

    def covers(self, pseq: int) -> bool:
        """Whether an acknowledgement says that this packet has come."""
        return self.pseq <= pseq < self.pseq + self.count or pseq <= self.number


class Sighting(NamedTuple):
    """What a process knows of a message that it has begun with or received, and has not delivered.

    event: the row in which it came to have it.
    digest: of the contents.
    clock_sum, clock_weighted: the two sums of the clock (spec/broadcast/trace.toml).
    """

    event: Event
    digest: int
    clock_sum: int
    clock_weighted: int


class Whole(AnyWhole[Event]):
    def __init__(self, trace: Trace) -> None:
        super().__init__(trace, Event)
        self.processes = range(len(trace.header.topology.nodes))
        self.links = trace.header.topology.links
        self.set_to = parameters(trace.header.parameters)
        self.level = Level(str(trace.header.parameters["level"]))
        named = dependencies(trace.header.parameters, len(self.processes))
        self.depends = [others - {process} for process, others in enumerate(named)]

    # ---------------------------------------------------------------- the end

    @property
    def settled(self) -> list[Event]:
        """The last row, if it says that the run ended as planned with nothing in flight."""
        return [event for event in self.of(Kind.ENDED) if event.settled]

    @cached_property
    def live(self) -> list[int]:
        return [process for process in self.processes if process not in self._crashes]

    def joins_live(self, link: int) -> bool:
        """Whether the processes at both ends of the link live."""
        return {self.links[link].source, self.links[link].target} <= set(self.live)

    def is_up(self, event: Event) -> bool:
        """Whether its process has not crashed by then."""
        return self._crashes.get(event.node, event.position) >= event.position

    @cached_property
    def _crashes(self) -> dict[int, int]:
        return {event.node: event.position for event in reversed(self.crashes)}

    @property
    def settled_with_a_live_majority(self) -> list[Event]:
        return self.settled if 2 * len(self.live) > len(self.processes) else []

    # ---------------------------------------------------------------- packets

    def is_data(self, event: Event) -> bool:
        known = event.sender in self.processes and 1 <= event.pseq <= GREATEST_NUMBER
        return event.packet == PacketKind.DATA and known and event.is_run

    def is_ack(self, event: Event) -> bool:
        numbers = 1 <= event.pseq <= GREATEST_NUMBER and 1 <= event.count <= GREATEST_NUMBER
        return event.packet == PacketKind.ACK and numbers and 0 <= event.number <= GREATEST_NUMBER

    @cached_property
    def data_sent(self) -> list[Event]:
        return [event for event in self.of(Kind.SENT) if self.is_data(event)]

    @cached_property
    def data_arrived(self) -> list[Event]:
        return [event for event in self.of(Kind.ARRIVED) if self.is_data(event)]

    @cached_property
    def first_sent(self) -> list[Event]:
        """The data packets whose number is above all earlier ones on their link."""
        return sorted((event for on_link in self.first_on for event in on_link), key=lambda event: event.position)

    @cached_property
    def first_on(self) -> list[list[Event]]:
        """By link, the data packets whose number is above all earlier ones there."""
        found: list[list[Event]] = [[] for _ in self.links]
        for event in self.data_sent:
            if not found[event.link] or event.pseq > found[event.link][-1].pseq:
                found[event.link].append(event)
        return found

    @cached_property
    def opposite(self) -> list[int]:
        """By link, the link that leads back."""
        numbers = {(link.source, link.target): number for number, link in enumerate(self.links)}
        return [numbers[link.target, link.source] for link in self.links]

    def acks_arrived(self, link: int, until: Event) -> list[Event]:
        """The acknowledgements of packets on the link that came before `until`."""
        return before(self._acks[link], until.position)

    @cached_property
    def _acks(self) -> list[list[Event]]:
        """By link, the acknowledgements of its packets that arrived."""
        arrived = [event for event in self.of(Kind.ARRIVED) if self.is_ack(event)]
        return [[event for event in arrived if event.link == self.opposite[link]] for link in range(len(self.links))]

    def is_acknowledged(self, sent: Event, until: Event) -> bool:
        return any(ack.covers(sent.pseq) for ack in self.acks_arrived(sent.link, until) if ack.position > sent.position)

    # ---------------------------------------------------------------- messages

    @cached_property
    def deliveries(self) -> list[Event]:
        """The first delivery of each message at each process."""
        return list(self._delivery_of.values())

    @cached_property
    def _delivery_of(self) -> dict[tuple[int, MessageId], Event]:
        found: dict[tuple[int, MessageId], Event] = {}
        for event in self.of(Kind.DELIVERED):
            if event.sender in self.processes and 1 <= event.number <= GREATEST_NUMBER:
                found.setdefault((event.node, (event.sender, event.number)), event)
        return found

    @cached_property
    def repeated(self) -> set[int]:
        first = {event.position for event in self.deliveries}
        return {
            event.position
            for event in self.of(Kind.DELIVERED)
            if event.position not in first and (event.node, (event.sender, event.number)) in self._delivery_of
        }

    def has_delivered(self, process: int, message: MessageId, until: Event) -> bool:
        """Whether the process has delivered the message up to and with the row `until`."""
        event = self._delivery_of.get((process, message))
        return event is not None and event.position <= until.position

    def next_of(self, process: int, creator: int, until: Event) -> int:
        """The least number of the creator's messages that the process has not delivered."""
        number = 1
        while self.has_delivered(process, (creator, number), until):
            number += 1
        return number

    def begun(self, process: int, until: Event, receiver: int | None = None) -> int:
        """The greatest number that the process has begun with up to and with the row `until`, 0 for none; at level pl
        with messages for this receiver."""
        return max(
            (
                event.last
                for event in self.at(Kind.BEGUN, process)
                if event.position <= until.position and event.is_run and receiver in (None, event.receiver)
            ),
            default=0,
        )

    @cached_property
    def _told(self) -> dict[tuple[int, MessageId], list[tuple[Event, int]]]:
        """By process and message, the rows in which the process began with it or it arrived, each with the message's
        place in the run of that row."""
        found: dict[tuple[int, MessageId], list[tuple[Event, int]]] = {}
        for event in self.events:
            begins = event.kind == Kind.BEGUN and event.is_run and self.level is not Level.PL
            comes = event.kind == Kind.ARRIVED and self.is_data(event)
            if comes and self.level is Level.PL:
                comes = event.sender == self.links[event.link].source
            creator = event.node if begins else event.sender
            for place in range(event.count if begins or comes else 0):
                message = (creator, event.number + place)
                if begins or creator != event.node or (event.node, message) in found:
                    found.setdefault((event.node, message), []).append((event, place))
        return found

    @cached_property
    def first_told(self) -> dict[tuple[int, MessageId], tuple[Event, int]]:
        """The first of these rows, if the process had not delivered the message by then."""
        first = {key: told[0] for key, told in self._told.items()}
        return {key: (event, place) for key, (event, place) in first.items() if not self.has_delivered(*key, event)}

    @cached_property
    def _learnt_at(self) -> dict[int, list[int]]:
        """By process, the positions of the rows in which it learnt of a message, once for each message."""
        found: dict[int, list[int]] = {process: [] for process in self.processes}
        for (process, _), (event, _) in self.first_told.items():
            found[process].append(event.position)
        return found

    def sighting(self, process: int, message: MessageId, until: Event) -> Sighting | None:
        """What the process knows of the message strictly before the row `until`, from the first row of it; None where
        there is none, or it had delivered the message by then."""
        if (process, message) not in self.first_told:
            return None
        event, place = self.first_told[process, message]
        if event.position >= until.position:
            return None
        creator, number = message
        if event.kind == Kind.BEGUN:
            counted = {other: self.next_of(creator, other, event) - 1 for other in self.depends[creator]}
            counted[creator] = number - 1
            weighted = sum((other + 1) * entry for other, entry in counted.items())
            return Sighting(event, event.digest, sum(counted.values()), weighted)
        clock = (event.clock_sum, event.clock_weighted)
        if all(0 <= entry < 2**60 for entry in clock):
            clock = (clock[0] + place, clock[1] + (creator + 1) * place)
        return Sighting(event, event.digest, *clock)

    def heard(self, process: int, message: MessageId, until: Event) -> set[int]:
        """The processes from which the message came with the contents of the first time, and the process itself; none
        where the message never came."""
        first = self.sighting(process, message, until)
        if first is None:
            return set()
        return {process} | {
            self.links[event.link].source
            for event, _ in self._told[process, message]
            if event.kind == Kind.ARRIVED and event.position < until.position and event.digest == first.digest
        }

    def known(self, process: int, until: Event) -> int:
        """How many messages the process has begun with or received before `until` without having delivered them."""
        return sum(position < until.position for position in self._learnt_at[process])

    def put_on(self, link: int, until: Event) -> int:
        """How many messages were put on the link for the first time, up to and with the row `until`."""
        return sum(event.count for event in self.first_sent if event.link == link and event.position <= until.position)

    def is_majority(self, processes: Iterable[int]) -> bool:
        return 2 * len(set(processes)) > len(self.processes)

    # ---------------------------------------------------------------- dependencies

    def misses(self, process: int, message: MessageId, until: Event) -> bool:
        """Whether the process has not delivered all messages on which this one depends, with which its creator has
        begun: all that the creator, having begun with fewer messages, had delivered of those on whom it depends."""
        creator, number = message
        return any(
            event.node == creator
            and event.sender in self.depends[creator]
            and self.begun(creator, event) < number
            and not self.has_delivered(process, (event.sender, event.number), until)
            for event in self.deliveries
        )

    def is_deliverable(self, process: int, creator: int, until: Event) -> bool:
        """Whether the creator's next message waits for nothing at this process, by all rows up to and with `until`."""
        after = until.moved(until.position + 1)
        message = (creator, self.next_of(process, creator, until))
        return (
            self.is_majority(self.heard(process, message, after))
            and self.begun(creator, until) >= message[1]
            and not self.misses(process, message, until)
        )


look = once_a_trace(Whole)
