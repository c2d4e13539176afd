"""The sending port of a switch whose data and beacons come from two places: a processor each, or a proxy host.

Clauses: TO-SW-PATH, TO-LOSSCTR. Document 000, switch examples 2, 5 and 6, has both put their packets out by themselves.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from scatterproof.impl.totalorder.carrier import Carrier
from scatterproof.impl.totalorder.link_state import Combined, Values
from scatterproof.impl.totalorder.settings import Settings
from scatterproof.spec.core import Send
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.totalorder.messages import NO_BARRIER, Packet, PacketKind

_BEACON = int(PacketKind.BEACON)


class Waiting(NamedTuple):
    """A packet that leaves no earlier than `ready`, a local clock reading."""

    ready: int
    packet: Packet


class SendingPort:
    """The queue of one egress link. A packet's place is settled when it enters: a beacon leaves after all data that
    were received before it was made, so that it may be late, never early.

    Link number, loss record and greatest timestamp are written when a packet leaves: a beacon that was made earlier
    knows nothing of the data that have left since.
    """

    def __init__(self, node: NodeId, carrier: Carrier, values: Combined, settings: Settings) -> None:
        self.link: LinkId = carrier.link
        self._node = node
        self._carrier = carrier
        self._values = values
        self._beacons = settings.environment.beacons
        self._queue: deque[Waiting] = deque()

    def enter(self, ready: int, packet: Packet) -> None:
        self._queue.append(Waiting(ready, packet))

    def leave(self, now: int) -> list[Send[Packet]]:
        """The packets whose turn has come, as they leave."""
        sent: list[Send[Packet]] = []
        while self._queue and self._queue[0].ready <= now:
            sent.append(self._written(now, self._queue.popleft().packet))
        return sent

    def due(self) -> int | None:
        """When the next packet leaves, None when none waits."""
        return self._queue[0].ready if self._queue else None

    def _written(self, now: int, packet: Packet) -> Send[Packet]:
        # What the link has been told counts: the second processor may know of acknowledgements that the link does not.
        carried = (packet.barrier != NO_BARRIER, packet.ack_barrier != NO_BARRIER)
        ack = packet.ack_barrier if carried[1] else self._carrier.ack
        values = Values(packet.barrier, ack, self._values.record, self._values.greatest)
        if packet.kind == _BEACON:
            return self._carrier.beacon(self._node, values, self._beacons.index(carried))
        return self._carrier.put(now, packet, values)
