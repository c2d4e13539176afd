"""A P4 switch as its controller sees it: packets in, packets out, and what the program tells the controller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from scatterproof.impl.totalorder.codec import Malformed
from scatterproof.impl.totalorder.p4.control import Ports
from scatterproof.impl.totalorder.p4.entries import Entries
from scatterproof.impl.totalorder.p4.frames import (
    CPU_PORT,
    TICK_LIMIT,
    Ask,
    ControllerPacket,
    Reason,
    frame,
    packet_in,
    packet_of,
    packet_out,
)
from scatterproof.spec.core import Refuse, Send
from scatterproof.spec.topology import LinkId
from scatterproof.spec.totalorder.messages import Packet

REFUSALS = (
    "",
    "the link is none of this switch",
    "it is no packet of the wire format",
    "its link number came again or late (TO-LOSSCTR)",
    "what it carries is not what packets of its kind carry",
    "its sender is not the node at the other end of the link",
    "it breaks what its link has promised (TO-BAR-LINK, TO-BAR-RISE, TO-ACK-MEAN)",
    "there is no route from its link to its receiver",
    "a beacon came back wrongly from the proxy host (TO-SW-PATH)",
    "the link was given up (TO-FAIL)",
    "a host that has begun anew is not let in again (TO-RESTART)",
)


class Target(Protocol):
    """What runs the program. Raises scatterproof.spec.errors.CannotRun where it cannot."""

    def write(self, entries: Entries) -> None:
        """Make these entries all that the switch is told; registers keep what they hold."""
        ...

    def process(self, port: int, data: bytes, tick: int) -> Sequence[tuple[int, bytes]]:
        """All that leaves, as (port, frame) in order, when this comes at that tick of the clock."""
        ...

    def refusals(self) -> Sequence[int]:
        """How many packets were refused, by reason."""
        ...

    def close(self) -> None:
        """Let go of whatever was started."""
        ...


class Chip:
    """One switch. Packets go in by link and come out by link; what is for the controller waits in `told`."""

    def __init__(self, target: Target, ports: Ports, entries: Entries, *, clock_in_frame: bool = False) -> None:
        self._target = target
        self._ports = ports
        self._clock_in_frame = clock_in_frame
        self._egress = {port: link for link, port in ports.egress.items()}
        self._ingress = {port: link for link, port in ports.ingress.items()}
        self._refused = [0] * len(REFUSALS)
        self.told: list[ControllerPacket] = []
        target.write(entries)

    def write(self, entries: Entries) -> None:
        self._target.write(entries)

    def close(self) -> None:
        self._target.close()

    def arrive(self, now: int, link: LinkId, packet: Packet) -> list[Send[Packet] | Refuse]:
        """Give the switch a packet from a link; returns what leaves, or that it was refused."""
        return self.arrive_frame(now, link, frame(packet, clock=now if self._clock_in_frame else None))

    def arrive_frame(self, now: int, link: LinkId, data: bytes) -> list[Send[Packet] | Refuse]:
        """As `arrive`, for any frame."""
        port = self._ports.ingress.get(link)
        if port is None:
            return [Refuse(link, REFUSALS[1])]
        told = len(self.told)
        effects: list[Send[Packet] | Refuse] = [*self._run(now, port, data)]
        if effects or any(one.reason is not Reason.BEGAN_ANEW for one in self.told[told:]):
            return effects
        # A packet that is taken may cause nothing: a beacon that says nothing new.
        counts = self._target.refusals()
        for reason, sentence in enumerate(REFUSALS):
            if counts[reason] != self._refused[reason]:
                self._refused = list(counts[: len(REFUSALS)])
                return [Refuse(link, sentence)]
        return effects

    def ask(
        self, now: int, ask: Ask, *, link: LinkId | None = None, packet: Packet | None = None
    ) -> list[Send[Packet]]:
        """Ask the switch for something; returns what leaves. link: an egress link, or for a report an ingress link."""
        known = self._ports.ingress if ask is Ask.REPORT else self._ports.egress
        following = b"" if packet is None else frame(packet)
        data = packet_out(ask, port=0 if link is None else known[link], clock=now, following=following)
        return self._run(now, CPU_PORT, data)

    def report(self, now: int, link: LinkId) -> ControllerPacket:
        """What the switch knows of an ingress link."""
        self.ask(now, Ask.REPORT, link=link)
        return self.told.pop()

    def ingress_link(self, port: int) -> LinkId:
        return self._ingress[port]

    def egress_link(self, port: int) -> LinkId:
        return self._egress[port]

    def _run(self, now: int, port: int, data: bytes) -> list[Send[Packet]]:
        sent: list[Send[Packet]] = []
        for out, left in self._target.process(port, data, now % TICK_LIMIT):
            if out == CPU_PORT:
                self.told.append(packet_in(left))
            else:
                sent.append(Send(self._egress[out], read(left)))
        return sent


def read(data: bytes) -> Packet:
    """The packet in a frame that the switch has made. Raises ValueError for anything else."""
    packet = packet_of(data)
    if isinstance(packet, Malformed):
        raise ValueError(f"the switch put on a link what is no packet: {packet}")
    return packet


def until(now: int, tick: int) -> int:
    """The local clock reading at a tick that is near `now`; ticks wrap at `TICK_LIMIT`."""
    half = TICK_LIMIT // 2
    return now + (tick - now + half) % TICK_LIMIT - half
