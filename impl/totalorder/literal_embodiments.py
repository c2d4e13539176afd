"""Switches with two processors and with proxy hosts as document 000 has them (switch examples 2, 5 and 6), where it
orders nothing: each is wrong in one way that TO-SW-PATH or TO-LOSSCTR rules out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from msgspec.structs import replace

from scatterproof.impl.totalorder import make_plain
from scatterproof.impl.totalorder.codec import decode, encode
from scatterproof.impl.totalorder.embodiments import embodied
from scatterproof.impl.totalorder.proxy import MakeProcessor, ProxiedSwitch, ProxyHost
from scatterproof.impl.totalorder.rules import Rules
from scatterproof.impl.totalorder.sending_port import SendingPort, Waiting
from scatterproof.impl.totalorder.two_processors import TheCore
from scatterproof.spec.core import NodeConfig, Send
from scatterproof.spec.topology import LinkId
from scatterproof.spec.totalorder.messages import Packet, PacketKind
from scatterproof.spec.totalorder.proxies import Proxy

MakeCore: TypeAlias = Callable[[NodeConfig, Rules], TheCore]

_BEACON, _HANDED = int(PacketKind.BEACON), int(PacketKind.HANDED)


class OvertakingPort(SendingPort):
    """The second processor, or the proxy host, puts beacons out by itself, whatever waits in the first processor."""

    def enter(self, ready: int, packet: Packet) -> None:
        if packet.kind == _BEACON:
            self._queue.appendleft(Waiting(ready, packet))
        else:
            super().enter(ready, packet)


class StalePort(SendingPort):
    """A beacon leaves with the loss record and the greatest timestamp that it was made with: the second processor
    writes whole beacons, and knows nothing of the data that have left since."""

    def _written(self, now: int, packet: Packet) -> Send[Packet]:
        sent = super()._written(now, packet)
        if packet.kind != _BEACON:
            return sent
        return Send(sent.link, replace(sent.packet, greatest=packet.greatest, loss_record=packet.loss_record))


class TrustingSwitch(ProxiedSwitch):
    """Sends whatever comes back from its proxy host."""

    def _check_returned(self, link: LinkId, packet: Packet) -> None:
        pass


class UnorderedProxyHost(ProxyHost):
    """Returns every second beacon for a link after the next one."""

    def __init__(
        self, config: NodeConfig, host: TheCore, make_processor: MakeProcessor, proxies: Sequence[Proxy]
    ) -> None:
        super().__init__(config, host, make_processor, proxies)
        self._held: dict[LinkId, Send[Packet]] = {}

    def _returned(self, now: int) -> list[Send[Packet]]:
        out: list[Send[Packet]] = []
        for sent in super()._returned(now):
            held = self._held.pop(sent.packet.number, None)
            if held is None:
                self._held[sent.packet.number] = sent
            else:
                out += [sent, held]
        return out


class MeddlingSwitch(ProxiedSwitch):
    """Takes a beacon that passes on its way to a proxy host for one of its own, and raises it to what it knows."""

    def _receive(self, now: int, link: LinkId, packet: Packet) -> None:
        if packet.kind == _HANDED and packet.sender != self._node:
            beacon = decode(packet.payload)
            if isinstance(beacon, Packet):
                packet = replace(packet, payload=encode(replace(beacon, barrier=max(self._links.barriers))))
        super()._receive(now, link, packet)


# By what goes wrong: how nodes are made instead of by make_core.
LITERAL: dict[str, MakeCore] = {
    "beacons overtake data": partial(embodied, make_plain=make_plain, make_port=OvertakingPort),
    "beacons leave as made": partial(embodied, make_plain=make_plain, make_port=StalePort),
    "beacons return out of order": partial(
        embodied, make_plain=make_plain, make_proxied=TrustingSwitch, make_proxy=UnorderedProxyHost
    ),
    "beacons are aggregated on the way": partial(embodied, make_plain=make_plain, make_proxied=MeddlingSwitch),
}
