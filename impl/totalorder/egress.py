"""What a node keeps for one egress link, which hosts and switches do alike."""

from __future__ import annotations

from scatterproof.spec.core import Send
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.totalorder.messages import NOT_SPOKEN, Packet, PacketKind

_BEACON = int(PacketKind.BEACON)
# Before the first data message that carried a barrier: a beacon is due at the first opportunity.
NEVER = -(1 << 62)


class Egress:
    """seq: number of the next packet. sent: the barrier last sent, 0 for none. last_carried: the local clock when a
    data message, or a switch's beacon, last carried a barrier over the link. held_until: a switch looks at a held-back
    beacon no earlier."""

    __slots__ = ("held_until", "last_carried", "link", "sent", "seq")

    def __init__(self, link: LinkId) -> None:
        self.link = link
        self.seq = 0
        self.sent = NOT_SPOKEN
        self.last_carried = NEVER
        self.held_until = NEVER

    def beacon(self, node: NodeId, barrier: int) -> Send[Packet]:
        """The next packet on the link, as a beacon that `node` makes."""
        seq = self.seq
        self.seq = seq + 1
        self.sent = barrier
        return Send(self.link, Packet(_BEACON, node, 0, 0, seq, 0, barrier, b""))
