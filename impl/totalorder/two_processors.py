"""A switch with two processors: the first forwards data and watches for loss, the second aggregates beacons.

Clauses: TO-SW-2, TO-SW-5, TO-SW-PATH, TO-LOSSCTR, TO-SWLOSS. The second processor is a switch of one processor that
gets beacons alone.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias, assert_never

from msgspec.structs import replace

from scatterproof.impl.totalorder.carrier import Carrier
from scatterproof.impl.totalorder.host import In, Out
from scatterproof.impl.totalorder.ingress import Refusal
from scatterproof.impl.totalorder.link_state import Combined, LinkStates
from scatterproof.impl.totalorder.rules import Rules
from scatterproof.impl.totalorder.sending_port import SendingPort
from scatterproof.impl.totalorder.settings import Settings, settings
from scatterproof.spec.core import (
    Core,
    LocalProtocolError,
    NodeConfig,
    PacketArrived,
    Refuse,
    Send,
    Submitted,
    TimerFired,
)
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.totalorder.messages import Delivery, Packet, PacketKind

TheCore: TypeAlias = Core[Packet, Delivery]
MakePort: TypeAlias = Callable[[NodeId, Carrier, Combined, Settings], SendingPort]

_BEACON = int(PacketKind.BEACON)


class Handed(NamedTuple):
    """A beacon from an ingress link, which the second processor takes up at local clock `ready`."""

    ready: int
    link: LinkId
    beacon: Packet


class Aggregator(Protocol):
    """Where the beacons of a switch go."""

    def take(self, now: int, link: LinkId, beacon: Packet) -> None:
        """Take a beacon from an ingress link, in the order of arrival."""
        ...

    def made(self, now: int) -> Sequence[tuple[LinkId, Packet]]:
        """The packets that it has for egress links by now, in their order."""
        ...

    def due(self) -> int | None:
        """When it has something to do, None for not before the next beacon."""
        ...


class SecondProcessor:
    """Aggregates beacons with a switch core of its own, each `delay` ns after it came."""

    def __init__(self, core: TheCore, delay: int) -> None:
        self._core = core
        self._delay = delay
        self._inbox: deque[Handed] = deque()
        self._numbers = Counter[LinkId]()

    def take(self, now: int, link: LinkId, beacon: Packet) -> None:
        # Its switch has counted and judged it, where data are seen as well: beacons alone would have gaps. A switch, or
        # a neighbour, that begins anew begins none here.
        number = self._numbers[link]
        self._numbers[link] += 1
        self._inbox.append(Handed(now + self._delay, link, replace(beacon, link_seq=number, incarnation=0)))

    def made(self, now: int) -> Sequence[tuple[LinkId, Packet]]:
        effects: list[Out] = []
        while self._inbox and self._inbox[0].ready <= now:
            _, link, beacon = self._inbox.popleft()
            effects += self._core.handle(PacketArrived(now, link, beacon))
        deadline = self._core.next_deadline()
        if deadline is not None and deadline <= now:
            effects += self._core.handle(TimerFired(now))
        return [(effect.link, effect.packet) for effect in effects if isinstance(effect, Send)]

    def due(self) -> int | None:
        return earliest(self._inbox[0].ready if self._inbox else None, self._core.next_deadline())


class TwoProcessorSwitch:
    """The receiving port, the first processor and the sending ports; `aggregator` is the second one, or what stands for
    it."""

    def __init__(
        self,
        config: NodeConfig,
        rules: Rules,
        aggregator: Aggregator,
        *,
        forwarding_delay: int = 0,
        make_port: MakePort = SendingPort,
    ) -> None:
        """forwarding_delay: how many ns a data message waits at its sending port."""
        chosen = settings(config)
        self._node = config.node
        self._aggregator = aggregator
        self._delay = forwarding_delay
        self._links = LinkStates(config, chosen, rules, watched=True)
        self._ports: dict[LinkId, SendingPort] = {}
        self._onward: dict[LinkId, dict[NodeId, SendingPort]] = {link: {} for link in config.ingress}
        self._fed: dict[LinkId, list[Combined]] = {link: [] for link in config.ingress}
        for link, reaching in zip(config.egress, config.reaching, strict=True):
            counted = rules.counted(reaching, config.ingress)
            values = Combined(tuple(self._links.places[feeder] for feeder in counted), chosen, rules)
            for feeder in counted:
                self._fed[feeder].append(values)
            port = self._ports[link] = make_port(config.node, Carrier(link, chosen, rules), values, chosen)
            for feeder in reaching:
                routes = self._onward[feeder]
                routes.update((host, port) for host, towards in config.next_link if towards == link)

    def handle(self, event: In) -> Sequence[Out]:
        if isinstance(event, PacketArrived):
            try:
                self._receive(event.now, event.link, event.packet)
            except Refusal as refusal:
                return (Refuse(event.link, str(refusal)),)
        elif isinstance(event, Submitted):
            raise LocalProtocolError(f"node {self._node} is a switch; only hosts take submissions")
        elif not isinstance(event, TimerFired):
            assert_never(event)
        for link, packet in self._aggregator.made(event.now):
            self._ports[link].enter(event.now, packet)
        return [sent for port in self._ports.values() for sent in port.leave(event.now)]

    def next_deadline(self) -> int | None:
        return earliest(self._aggregator.due(), *(port.due() for port in self._ports.values()))

    def _receive(self, now: int, link: LinkId, packet: Packet) -> None:
        """The receiving port takes what the packet says of its link, and parts data and beacons. Raises Refusal."""
        place = self._links.check(link, packet)
        port = None if packet.kind == _BEACON else self._towards(link, packet)
        before = self._links.take(place, packet)
        for values in self._fed[link]:
            values.update(self._links, place, before)
        if port is not None:
            port.enter(now + self._delay, packet)
        elif packet.kind == _BEACON:
            record, greatest = self._links.records[place], self._links.greatest[place]
            self._aggregator.take(now, link, replace(packet, loss_record=record, greatest=greatest))

    def _towards(self, link: LinkId, packet: Packet) -> SendingPort | None:
        """The port at which the packet leaves. Raises Refusal for one that has no way."""
        port = self._onward[link].get(packet.receiver)
        if port is None:
            raise Refusal(f"there is no route from link {link} to receiver {packet.receiver}")
        return port


def earliest(*deadlines: int | None) -> int | None:
    return min((deadline for deadline in deadlines if deadline is not None), default=None)
