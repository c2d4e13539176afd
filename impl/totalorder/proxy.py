"""Proxy hosts: a switch hands its beacons to a host, which aggregates them and returns what the switch is to send.

Clauses: TO-SW-6, TO-SW-PATH. The way there and back is that of spec/totalorder/proxies.py.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from msgspec.structs import replace

from scatterproof.impl.totalorder.codec import decode, encode
from scatterproof.impl.totalorder.host import In, Out
from scatterproof.impl.totalorder.ingress import Refusal
from scatterproof.impl.totalorder.rules import Rules
from scatterproof.impl.totalorder.sending_port import SendingPort
from scatterproof.impl.totalorder.settings import settings
from scatterproof.impl.totalorder.two_processors import (
    Aggregator,
    MakePort,
    SecondProcessor,
    TheCore,
    TwoProcessorSwitch,
    earliest,
)
from scatterproof.spec.core import NodeConfig, PacketArrived, Refuse, Send, Submitted
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN, Packet, PacketKind
from scatterproof.spec.totalorder.proxies import Proxy

# The processor of a switch that has begun anew so often.
MakeProcessor: TypeAlias = Callable[[Proxy, int], SecondProcessor]

_BEACON, _HANDED, _RETURNED = int(PacketKind.BEACON), int(PacketKind.HANDED), int(PacketKind.RETURNED)


class Handover:
    """Stands for the second processor of a switch: it hands beacons to the proxy host. life: how often the switch has
    begun anew, which the beacons tell on their way there and back."""

    def __init__(self, proxy: Proxy, life: int) -> None:
        self._proxy, self._life = proxy, life
        self._packets: list[tuple[LinkId, Packet]] = []

    def take(self, now: int, link: LinkId, beacon: Packet) -> None:
        handed = replace(beacon, incarnation=self._life)
        self._packets.append(
            (self._proxy.there[0], _wrapped(_HANDED, self._proxy.switch, self._proxy.host, link, handed))
        )

    def made(self, now: int) -> Sequence[tuple[LinkId, Packet]]:
        packets, self._packets = self._packets, []
        return packets

    def due(self) -> int | None:
        return None


class ProxiedSwitch(TwoProcessorSwitch):
    """A switch among switches with proxy hosts: it may have one, and it passes on what others hand over and get back,
    without looking into it."""

    def __init__(
        self,
        config: NodeConfig,
        rules: Rules,
        aggregator: Aggregator,
        *,
        proxies: Sequence[Proxy],
        forwarding_delay: int = 0,
        make_port: MakePort = SendingPort,
    ) -> None:
        super().__init__(config, rules, aggregator, forwarding_delay=forwarding_delay, make_port=make_port)
        self._links.allow(_HANDED, _RETURNED)
        chosen = settings(config)
        self._beacons, self._life = chosen.environment.beacons, chosen.incarnation
        self._own = next((proxy for proxy in proxies if proxy.switch == config.node), None)
        self._passing = {
            (kind, proxy.switch, before): self._ports[after]
            for proxy in proxies
            for kind, path in ((_HANDED, proxy.there), (_RETURNED, proxy.back))
            for before, after in pairwise(path)
            if after in self._ports
        }
        # The barrier and the ack barrier that came back last, for each egress link.
        self._returned: dict[LinkId, tuple[int, int]] = defaultdict(lambda: (NOT_SPOKEN, NOT_SPOKEN))

    def _towards(self, link: LinkId, packet: Packet) -> SendingPort | None:
        if packet.kind not in (_HANDED, _RETURNED):
            return super()._towards(link, packet)
        switch = packet.sender if packet.kind == _HANDED else packet.receiver
        if switch == self._node and packet.kind == _RETURNED:
            self._check_returned(link, packet)
            return None
        port = self._passing.get((packet.kind, switch, link))
        if port is None:
            raise Refusal(f"link {link} is not on the way between switch {switch} and its proxy host")
        return port

    def _receive(self, now: int, link: LinkId, packet: Packet) -> None:
        super()._receive(now, link, packet)
        if packet.kind == _RETURNED and packet.receiver == self._node:
            beacon = _unwrapped(packet, self._beacons)
            if beacon.incarnation != self._life:
                return  # made from what it knew ahead of its restart (TO-RESTART)
            held = self._returned[packet.number]
            self._returned[packet.number] = (max(held[0], beacon.barrier), max(held[1], beacon.ack_barrier))
            # Behind all data that came before it, and so before the beacons that it was made from.
            self._ports[packet.number].enter(now, beacon)

    def _check_returned(self, link: LinkId, packet: Packet) -> None:
        """Raise Refusal for what this switch's proxy host cannot have sent."""
        if self._own is None or packet.sender != self._own.host or link != self._own.back[-1]:
            raise Refusal(f"a beacon came back from node {packet.sender}, which is not the proxy host of this switch")
        if packet.number not in self._ports:
            raise Refusal(f"a beacon came back for link {packet.number}, which is no egress link of this switch")
        beacon = _unwrapped(packet, self._beacons)
        for what, held, found in zip(
            ("barrier", "ack barrier"), self._returned[packet.number], (beacon.barrier, beacon.ack_barrier), strict=True
        ):
            if NO_BARRIER < found < held and beacon.incarnation == self._life:
                raise Refusal(f"{what} {found} came back after {held}: beacons return in their order (TO-SW-PATH)")


class ProxyHost:
    """A host that aggregates for switches, beside being what it is. It numbers the packets of both on its links. For a
    switch that begins anew it begins anew, too: what it knew may hold for messages that the switch has lost."""

    def __init__(
        self, config: NodeConfig, host: TheCore, make_processor: MakeProcessor, proxies: Sequence[Proxy]
    ) -> None:
        """proxies: those that this host is."""
        self._node = config.node
        chosen = settings(config)
        self._beacons = chosen.environment.beacons
        self._incarnation = chosen.incarnation
        self._host = host
        self._make_processor = make_processor
        self._proxies = {proxy.switch: proxy for proxy in proxies}
        self._lives = Counter[NodeId]()  # how often each switch had begun anew
        self._processors = {proxy.switch: make_processor(proxy, self._incarnation) for proxy in proxies}
        self._egress = Counter[LinkId]()
        self._greatest = Counter[LinkId]()  # the greatest timestamp that the host has put on a link
        self._next_seqs = Counter[LinkId]()
        self._taken = Counter[LinkId]()  # packets that were not for the host itself
        self._incarnations = Counter[LinkId]()  # how often the node at the other end had begun anew

    def handle(self, event: In) -> Sequence[Out]:
        if isinstance(event, PacketArrived):
            try:
                effects = self._receive(event)
            except Refusal as refusal:
                return (Refuse(event.link, str(refusal)),)
        elif isinstance(event, Submitted) or self._is_due(self._host.next_deadline(), event.now):
            effects = self._host.handle(event)
        else:
            effects = ()
        effects = (*effects, *self._returned(event.now))
        return [self._numbered(effect) if isinstance(effect, Send) else effect for effect in effects]

    def next_deadline(self) -> int | None:
        return earliest(self._host.next_deadline(), *(processor.due() for processor in self._processors.values()))

    def _is_due(self, deadline: int | None, now: int) -> bool:
        return deadline is not None and deadline <= now

    def _receive(self, event: PacketArrived[Packet]) -> Sequence[Out]:
        """Take a beacon that a switch has handed over; the host's own packets are renumbered, as if there were none."""
        link, packet = event.link, event.packet
        anew = packet.incarnation > self._incarnations[link]
        if packet.kind != _HANDED:
            taken = 0 if anew else self._taken[link]
            effects = self._host.handle(
                PacketArrived(event.now, link, replace(packet, link_seq=packet.link_seq - taken))
            )
            if not any(isinstance(effect, Refuse) for effect in effects):
                self._count(link, packet, taken)
            return effects
        proxy = self._proxies.get(packet.sender)
        if proxy is None or packet.receiver != self._node or link != proxy.there[-1]:
            raise Refusal(
                f"node {packet.sender} hands a beacon to host {packet.receiver} over link {link}: none is due"
            )
        due = 0 if anew else self._next_seqs[link]
        if packet.link_seq < due or packet.incarnation < self._incarnations[link]:
            raise Refusal(f"link number {packet.link_seq} came again or late; {due} is the next (links are FIFO)")
        if packet.number not in proxy.ingress:
            raise Refusal(f"link {packet.number} is no ingress link of switch {packet.sender}")
        beacon = _unwrapped(packet, self._beacons)
        if beacon.incarnation > self._lives[packet.sender]:
            self._lives[packet.sender] = beacon.incarnation
            self._processors[packet.sender] = self._make_processor(proxy, beacon.incarnation)
        self._processors[packet.sender].take(event.now, packet.number, beacon)
        self._count(link, packet, 1 if anew else self._taken[link] + 1)
        return ()

    def _count(self, link: LinkId, packet: Packet, taken: int) -> None:
        self._next_seqs[link] = packet.link_seq + 1
        self._incarnations[link] = packet.incarnation
        self._taken[link] = taken

    def _returned(self, now: int) -> list[Send[Packet]]:
        """The beacons that go back to the switches by now, in the order in which they were made."""
        return [
            Send(
                self._proxies[switch].back[0],
                _wrapped(_RETURNED, self._node, switch, link, replace(beacon, incarnation=self._lives[switch])),
            )
            for switch, processor in self._processors.items()
            for link, beacon in processor.made(now)
        ]

    def _numbered(self, sent: Send[Packet]) -> Send[Packet]:
        """The packet with the number of its link, whoever made it."""
        number = self._egress[sent.link]
        self._egress[sent.link] += 1
        self._greatest[sent.link] = max(self._greatest[sent.link], sent.packet.greatest)
        return Send(
            sent.link,
            replace(sent.packet, link_seq=number, greatest=self._greatest[sent.link], incarnation=self._incarnation),
        )


def _wrapped(kind: int, sender: NodeId, receiver: NodeId, link: LinkId, beacon: Packet) -> Packet:
    return Packet(kind, sender, receiver, link, 0, 0, NO_BARRIER, encode(beacon))


def _unwrapped(packet: Packet, beacons: Sequence[tuple[bool, bool]]) -> Packet:
    """The beacon in a packet; `beacons` are those of the environment. Raises Refusal for anything else."""
    beacon = decode(packet.payload)
    if not isinstance(beacon, Packet) or beacon.kind != _BEACON:
        raise Refusal("what was handed over or came back is no beacon")
    if (beacon.barrier != NO_BARRIER, beacon.ack_barrier != NO_BARRIER) not in beacons:
        raise Refusal("what was handed over or came back is no beacon of this environment")
    return beacon
