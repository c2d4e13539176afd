"""A P4 switch with two processors, or with a proxy host (TO-SW-2, TO-SW-5, TO-SW-6).

The program is the first processor: it forwards data, watches for loss, and writes beacons as they leave. The second one
is another P4 switch behind the CPU port, which gets beacons alone; or a proxy host in the network, to which the program
hands beacons over by itself. Where data wait at sending ports, their queues are here (TO-SW-PATH).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from scatterproof.impl.totalorder.embodiments import ONE, form
from scatterproof.impl.totalorder.host import In, Out
from scatterproof.impl.totalorder.p4.chip import Chip, read
from scatterproof.impl.totalorder.p4.control import SwitchControl, in_order, split_of
from scatterproof.impl.totalorder.p4.frames import Ask, ControllerPacket, Reason
from scatterproof.impl.totalorder.p4.node import MakeTarget, P4Switch
from scatterproof.impl.totalorder.two_processors import SecondProcessor, earliest
from scatterproof.spec.core import LocalProtocolError, NodeConfig, PacketArrived, Refuse, Send, Submitted
from scatterproof.spec.topology import LinkId
from scatterproof.spec.totalorder.messages import Packet, PacketKind

_BEACON, _HANDED = PacketKind.BEACON, PacketKind.HANDED


class _Waiting(NamedTuple):
    """A packet that leaves no earlier than `ready`, a local clock reading."""

    ready: int
    packet: Packet


class P4SplitSwitch:
    """The first processor, the queues of its sending ports, and the second processor where it is beside it."""

    def __init__(self, config: NodeConfig, make_target: MakeTarget, *, clock_in_frame: bool = False) -> None:
        chosen = form(config)
        self._node = config.node
        self._delay = chosen.forwarding_delay
        split = split_of(config, queues=self._delay > 0)
        control = SwitchControl(config, in_order(config), split)
        self._chip = Chip(make_target(control.size), control.ports, control.entries(), clock_in_frame=clock_in_frame)
        self._second: SecondProcessor | None = None
        self._beside: P4Switch | None = None
        if split.own is None:
            plain = replace(config, parameters={**config.parameters, "switch": ONE, "incarnation": 0})
            self._beside = P4Switch(plain, make_target, clock_in_frame=clock_in_frame)
            self._second = SecondProcessor(self._beside, chosen.processor_delay)
        self._queues: dict[LinkId, deque[_Waiting]] = {link: deque() for link in config.egress}

    def handle(self, event: In) -> Sequence[Out]:
        now = event.now
        left: dict[LinkId, list[Send[Packet]]] = {link: [] for link in self._queues}
        if isinstance(event, PacketArrived):
            effects = self._chip.arrive(now, event.link, event.packet)
            refused = [effect for effect in effects if isinstance(effect, Refuse)]
            if refused:
                return refused
            self._sort(now, [effect for effect in effects if isinstance(effect, Send)], left)
        elif isinstance(event, Submitted):
            raise LocalProtocolError(f"node {self._node} is a switch; only hosts take submissions")
        if self._second is not None:
            for link, beacon in self._second.made(now):
                self._sort(now, self._chip.ask(now, Ask.MADE, link=link, packet=beacon), left)
        for link, queue in self._queues.items():
            while queue and queue[0].ready <= now:
                left[link] += self._chip.ask(now, Ask.SEND, link=link, packet=queue.popleft().packet)
        return [sent for link in self._queues for sent in left[link]]

    def arrive_frame(self, now: int, link: LinkId, data: bytes) -> Sequence[Out]:
        """What leaves when any frame comes over a link, or that it was refused."""
        return self._chip.arrive_frame(now, link, data)

    def close(self) -> None:
        self._chip.close()
        if self._beside is not None:
            self._beside.close()

    def next_deadline(self) -> int | None:
        second = None if self._second is None else self._second.due()
        return earliest(second, *(queue[0].ready for queue in self._queues.values() if queue))

    def _sort(self, now: int, sent: Sequence[Send[Packet]], left: dict[LinkId, list[Send[Packet]]]) -> None:
        """Put what left to its link, and pass on what the program has told the controller."""
        for one in sent:
            left[one.link].append(one)
        for told in self._chip.told:
            self._take(now, told)
        self._chip.told.clear()

    def _take(self, now: int, told: ControllerPacket) -> None:
        packet = read(told.frame)
        if told.reason is Reason.FOR_SECOND and self._second is not None:
            self._second.take(now, self._chip.ingress_link(told.port), packet)
        elif told.reason is Reason.QUEUED:
            # What this switch has made waits for data alone.
            made = packet.kind == _BEACON or (packet.kind == _HANDED and packet.sender == self._node)
            ready = now if made else now + self._delay
            self._queues[self._chip.egress_link(told.port)].append(_Waiting(ready, packet))
