"""What a node knows of its ingress links: barrier, ack barrier, loss record and what is greatest, each a register that
only rises; and what several links say together.

Clauses: TO-BAR-MIN, TO-ACK-MIN, TO-SWLOSS, TO-LOSSCTR, TO-LASTHOP, TO-FLAG-RX, TO-BAR-FILL, TO-RETX-BAR, TO-RESTART.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import itemgetter
from typing import TypeAlias

from scatterproof.impl.totalorder.ingress import Refusal
from scatterproof.impl.totalorder.rules import Rules
from scatterproof.impl.totalorder.settings import Settings
from scatterproof.spec.core import NodeConfig
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.totalorder.messages import NO_BARRIER, NO_LOSS, NOT_SPOKEN, Packet, PacketKind

_DATA, _BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)
# Whether a packet carries a barrier, and whether an ack barrier.
_Carried: TypeAlias = tuple[bool, bool]
_Pick: TypeAlias = Callable[[list[int]], Sequence[int]]
# Barrier, ack barrier and record of one link, as they were before a packet was taken: made for every packet.
Before: TypeAlias = tuple[int, int, int]


class Values:
    """What a packet can say of a link. ack: the ack barrier. record: the loss record; in the loss state it is above
    ack."""

    __slots__ = ("ack", "barrier", "greatest", "record")

    def __init__(
        self, barrier: int = NOT_SPOKEN, ack: int = NOT_SPOKEN, record: int = NO_LOSS, greatest: int = NOT_SPOKEN
    ) -> None:
        self.barrier, self.ack, self.record, self.greatest = barrier, ack, record, greatest


class LinkStates:
    """barriers[k], acks[k], records[k] and greatest[k] are the registers of the k-th ingress link.

    A packet is checked first, which changes nothing, and then taken, in one step: no value of a packet is used before
    the gap in front of it was noticed.
    """

    def __init__(self, config: NodeConfig, settings: Settings, rules: Rules, *, watched: bool) -> None:
        """watched: whether this node heeds the loss counters of its links."""
        links = config.ingress
        self.places = {link: place for place, link in enumerate(links)}
        self.barriers = [NOT_SPOKEN] * len(links)
        self.acks = [NOT_SPOKEN] * len(links)
        self.records = [NO_LOSS] * len(links)
        self.greatest = [NOT_SPOKEN] * len(links)
        self._next_seqs = [0] * len(links)
        # A gap that no counted packet has shown yet: who begins anew does not know what came earlier.
        self._missing = [settings.incarnation > 0] * len(links)
        self._incarnations = [0] * len(links)  # how often the node at the other end had begun anew
        self._neighbours: list[NodeId | None] = [None] * len(links)  # who makes the link's beacons
        self._hosts = frozenset(host for host, _ in config.next_link)
        self._loses = settings.environment.loses
        self._watched = watched
        self._fills = settings.fill_barrier and settings.data_carry_barriers
        self._allowed = structure(settings)
        self._rules = rules
        self._register = rules.register_under_loss if self._loses else rules.register

    def allow(self, *kinds: int) -> None:
        """Take packets of further kinds, which carry neither barrier."""
        self._allowed.update(dict.fromkeys(kinds, ((False, False),)))

    def check(self, link: LinkId, packet: Packet) -> int:
        """The place of the link, if the packet may be taken. Raises Refusal."""
        place = self.places.get(link)
        if place is None:
            raise Refusal(f"link {link} is no ingress link of this node")
        due = self._next_seqs[place]
        began = self._incarnations[place]
        if packet.incarnation != began:
            if packet.incarnation < began:
                raise Refusal(f"a packet of incarnation {packet.incarnation} came after one of {began} (TO-RESTART)")
            due = 0  # the numbers of the link begin anew
        if packet.link_seq < due:
            raise Refusal(f"link number {packet.link_seq} came again or late; {due} is the next (links are FIFO)")
        # Most packets are as they should be: what can be told by one comparison is not worth a call.
        carried = packet.barrier != NO_BARRIER, packet.ack_barrier != NO_BARRIER
        if not self._loses or carried not in self._allowed.get(packet.kind, ()):
            self._check_structure(packet)
        if packet.sender != self._neighbours[place]:
            self._check_sender(place, packet)
        self._check_promises(place, packet)
        return place

    def _check_structure(self, packet: Packet) -> None:
        allowed = self._allowed.get(packet.kind)
        if allowed is None:
            raise Refusal(f"packet kind {packet.kind} does not exist in this environment")
        if (packet.barrier != NO_BARRIER, packet.ack_barrier != NO_BARRIER) not in allowed:
            bare = self._fills and packet.kind == _DATA and not packet.resent and packet.barrier == NO_BARRIER
            if packet.incarnation and packet.kind == _DATA and self._only_less(packet):
                return
            if not bare or (True, packet.ack_barrier != NO_BARRIER) not in allowed:
                raise Refusal(
                    f"barrier {packet.barrier} and ack barrier {packet.ack_barrier} are not what packets of kind "
                    f"{packet.kind} carry in this environment"
                )
        if not self._loses and (packet.loss_record or packet.greatest or packet.resent):
            raise Refusal("nothing is lost or resent in this environment, but the packet says so")

    def _only_less(self, packet: Packet) -> bool:
        """Whether a packet lacks barriers of its kind, and has no other: a switch that has begun anew may not know
        them yet."""
        return any(
            (barrier or packet.barrier == NO_BARRIER) and (ack or packet.ack_barrier == NO_BARRIER)
            for barrier, ack in self._allowed[packet.kind]
        )

    def _check_sender(self, place: int, packet: Packet) -> None:
        """The maker of a link's first beacon is the node at its other end; of a host there come its own packets."""
        neighbour = self._neighbours[place]
        if neighbour is None:
            return
        if packet.kind == _BEACON:
            raise Refusal(f"node {packet.sender} beacons on the link from node {neighbour}")
        if neighbour in self._hosts:
            raise Refusal(f"a packet of host {packet.sender} came from host {neighbour}, which forwards none")

    def _check_promises(self, place: int, packet: Packet) -> None:
        held, held_ack = self.barriers[place], self.acks[place]
        if not packet.resent:
            if packet.kind == _DATA:
                if packet.timestamp < held:
                    raise Refusal(
                        f"timestamp {packet.timestamp} is strictly below the link's barrier {held} (TO-BAR-LINK)"
                    )
                acknowledged = packet.timestamp <= held_ack or packet.timestamp <= packet.ack_barrier
                if acknowledged and self._loses:
                    raise Refusal(f"timestamp {packet.timestamp} is new, and acknowledged already (TO-ACK-MEAN)")
            barrier = self._barrier_of(packet)
            if barrier != NO_BARRIER and barrier < held:
                raise Refusal(f"barrier {barrier} is below the link's barrier {held} (TO-BAR-RISE)")
        if packet.ack_barrier != NO_BARRIER and packet.ack_barrier < held_ack:
            raise Refusal(f"ack barrier {packet.ack_barrier} is below the link's ack barrier {held_ack}")
        if not 0 <= packet.loss_record <= packet.greatest:
            raise Refusal(
                f"loss record {packet.loss_record} is above {packet.greatest}, the greatest timestamp on the link"
            )

    def _barrier_of(self, packet: Packet) -> int:
        """The packet's barrier; that of a first transmission may be left to this node (TO-BAR-FILL)."""
        # A switch that has begun anew leaves it out, too, and promises nothing by that (TO-RESTART).
        if self._fills and packet.barrier == NO_BARRIER and packet.kind == _DATA and not packet.incarnation:
            return self._rules.data_barrier(packet.timestamp)
        return packet.barrier

    def take(self, place: int, packet: Packet) -> Before:
        """Take over what a checked packet says of its link; the registers as they were."""
        held = self.barriers[place]
        before = held, self.acks[place], self.records[place]
        missing = self._missing[place] or packet.link_seq > self._next_seqs[place]
        if packet.incarnation > self._incarnations[place]:
            self._incarnations[place] = packet.incarnation
            missing = True  # what the node had and did not send is lost
        self._next_seqs[place] = packet.link_seq + 1
        if packet.kind == _BEACON:
            self._neighbours[place] = packet.sender
        barrier = self._barrier_of(packet)
        if barrier != NO_BARRIER:
            self.barriers[place] = self._register(held, barrier)
        if self._loses:
            self._take_loss(place, packet, missing)
        return before

    def _take_loss(self, place: int, packet: Packet, missing: bool) -> None:
        """Raise the record first: it covers what the packet's other values do not hold for."""
        rules = self._rules
        greatest = self.greatest[place]
        if packet.greatest > greatest:
            greatest = self.greatest[place] = packet.greatest
        noticed = missing and rules.counts(packet.kind)
        if missing:
            self._missing[place] = not noticed
        if (noticed and self._watched) or packet.loss_record:
            least, largest = rules.aggregate(self.barriers), self.barriers[place]
            record = self.records[place]
            if noticed and self._watched:
                record = max(record, rules.noticed_record(least, largest, greatest))
            if packet.loss_record:
                record = max(record, rules.passed_record(packet.loss_record, least, largest, greatest))
            self.records[place] = record
        if packet.ack_barrier != NO_BARRIER:
            self.acks[place] = rules.register_ack(self.acks[place], packet.ack_barrier)


class Combined(Values):
    """What some ingress links say together: the least barriers, the greatest record and the greatest timestamp."""

    __slots__ = ("_counted", "_loses", "_only_the_least_counts", "_places", "_rules")

    def __init__(self, places: tuple[int, ...], settings: Settings, rules: Rules) -> None:
        super().__init__()
        self._places = places
        self._counted = pick(places)
        self._loses = settings.environment.loses
        self._only_the_least_counts = rules.only_the_least_counts
        self._rules = rules

    def update(self, links: LinkStates, place: int, before: Before) -> bool:
        """Combine again after a packet was taken from the link at `place`, which is one of those counted; whether a
        barrier or the record changed."""
        barrier, ack, record = before
        # What was strictly above the minimum does not take part in it: with hundreds of links it is worth to know.
        least = self._only_the_least_counts
        changed = False
        if links.barriers[place] != barrier and not (least and barrier > self.barrier):
            combined = self._rules.aggregate(self._counted(links.barriers))
            if combined != self.barrier:
                self.barrier = combined
                changed = True
        if not self._loses:
            return changed
        if links.acks[place] != ack and not (least and ack > self.ack):
            combined = self._rules.aggregate_ack(self._counted(links.acks))
            if combined != self.ack:
                self.ack = combined
                changed = True
        if links.records[place] != record:
            combined = self._rules.aggregate_record(self._counted(links.records))
            if combined != self.record:
                self.record = combined
                changed = True
        greatest = links.greatest[place]
        if greatest > self.greatest:
            self.greatest = greatest
        return changed

    def leave(self, links: LinkStates, place: int) -> None:
        """Count the link at `place` no more (TO-FAIL). What the others say can only be higher."""
        self._places = tuple(other for other in self._places if other != place)
        if self._places:
            counted = self._counted = pick(self._places)
            self.barrier = self._rules.aggregate(counted(links.barriers))
            self.ack = self._rules.aggregate_ack(counted(links.acks))
            self.record = self._rules.aggregate_record(counted(links.records))

    def pass_time(self, now: int) -> None:
        """Where no link is left to be counted, nothing comes that could be promised wrongly (TO-FAIL)."""
        if not self._places:
            self.barrier, self.ack = max(self.barrier, now), max(self.ack, now - 1)


def structure(settings: Settings) -> dict[int, Collection[_Carried]]:
    """What packets of each kind carry (TO-FMT-5 to TO-FMT-9); kinds that do not exist are left out."""
    environment = settings.environment
    data = (environment.data_carry_barriers, environment.data_carry_ack_barriers)
    neither: Collection[_Carried] = ((False, False),)
    allowed: dict[int, Collection[_Carried]] = {_DATA: (data,)}
    if environment.beacons:
        allowed[_BEACON] = environment.beacons
    if environment.loses:
        allowed[int(PacketKind.ACK)] = neither
    if settings.adjustment_interval_ns:
        allowed[int(PacketKind.ADJUST)] = neither
        allowed[int(PacketKind.ADJUSTED)] = neither
    return allowed


def pick(places: tuple[int, ...]) -> _Pick:
    """A function that picks the registers at `places`: this is done for every packet."""
    if not places:
        return lambda registers: (NOT_SPOKEN,)  # nobody vouches for the link: it promises nothing
    if len(places) == 1:
        (only,) = places
        return lambda registers: (registers[only],)
    return itemgetter(*places)
