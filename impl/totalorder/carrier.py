"""What a node keeps for one egress link under loss: the link's numbers, what was said on it, and when.

Clauses: TO-FMT-5 to TO-FMT-9, TO-LOSSCTR, TO-FLAG-BEACON, TO-BEACON-MIN, TO-ENV-C, TO-RESTART.
"""

from __future__ import annotations

from scatterproof.impl.totalorder.egress import NEVER
from scatterproof.impl.totalorder.link_state import Values
from scatterproof.impl.totalorder.rules import Rules
from scatterproof.impl.totalorder.settings import Settings
from scatterproof.spec.core import Send
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.totalorder.messages import NO_BARRIER, NO_LOSS, NOT_SPOKEN, Packet, PacketKind

_DATA, _BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)


class Carrier:
    """Puts packets on one link, each with what its kind carries in this environment.

    barrier, ack: the values last sent. carried_at[k]: the local clock when a packet last made a beacon of the k-th
    kind needless. held_until[k]: a beacon of this kind, held back, is looked at no earlier. quiet_until: none is.
    """

    __slots__ = (
        "_beacons",
        "_data_ack",
        "_data_barrier",
        "_idle",
        "_incarnation",
        "_interval",
        "_loses",
        "_rules",
        "ack",
        "barrier",
        "carried_at",
        "held_until",
        "kinds",
        "link",
        "quiet_until",
        "seq",
    )

    def __init__(self, link: LinkId, settings: Settings, rules: Rules) -> None:
        environment = settings.environment
        self.link = link
        self.seq = 0
        self.barrier, self.ack = NOT_SPOKEN, NOT_SPOKEN
        self._beacons = environment.beacons
        self._data_barrier, self._data_ack = environment.data_carry_barriers, environment.data_carry_ack_barriers
        self._idle = environment.beacons_when_idle
        self._loses = environment.loses
        self._interval = settings.beacon_interval_ns
        self._incarnation = settings.incarnation
        self._rules = rules
        self.kinds = range(len(self._beacons))
        self.carried_at = [NEVER for _ in self.kinds]
        self.held_until = [NEVER for _ in self.kinds]
        self.quiet_until = NEVER

    def put(self, now: int, packet: Packet, values: Values) -> Send[Packet]:
        """Put a packet that goes from host to host on the link, with these values in place of its own."""
        barrier = ack = NO_BARRIER
        if packet.kind == _DATA:
            if self._data_barrier and self._may_tell(values.barrier):
                barrier = values.barrier
                self.barrier = max(self.barrier, barrier)
            if self._data_ack and self._may_tell(values.ack):
                ack = values.ack
                self.ack = max(self.ack, ack)
            if self._idle:
                self.carried_at[0] = now
        record = self._record(packet.kind, values)
        return Send(
            self.link,
            Packet(
                packet.kind,
                packet.sender,
                packet.receiver,
                packet.number,
                self._next_seq(),
                packet.timestamp,
                barrier,
                packet.payload,
                ack,
                record,
                self._greatest(values, record),
                packet.resent,
                self._incarnation,
            ),
        )

    def beacon(self, node: NodeId, values: Values, kind: int) -> Send[Packet]:
        """Put a beacon of the k-th kind, made by `node`, on the link."""
        with_barrier, with_ack = self._beacons[kind]
        barrier = ack = NO_BARRIER
        if with_barrier:
            barrier = values.barrier
            self.barrier = max(self.barrier, barrier)
        if with_ack:
            ack = values.ack
            self.ack = max(self.ack, ack)
        record = self._record(_BEACON, values)
        greatest = self._greatest(values, record)
        seq = self._next_seq()
        made = Packet(_BEACON, node, 0, 0, seq, 0, barrier, b"", ack, record, greatest, False, self._incarnation)
        return Send(self.link, made)

    def may_tell(self, values: Values, kind: int) -> bool:
        """Whether what a beacon of this kind carries may be said yet (TO-RESTART)."""
        with_barrier, with_ack = self._beacons[kind]
        return (not with_barrier or self._may_tell(values.barrier)) and (not with_ack or self._may_tell(values.ack))

    def _may_tell(self, value: int) -> bool:
        return self._rules.may_tell(self._incarnation > 0, value)

    def news(self, values: Values, kind: int) -> bool:
        """Whether a beacon of this kind would say what was not said yet. In the loss state every one counts as news:
        the one that ends it may be lost, too."""
        with_barrier, with_ack = self._beacons[kind]
        risen = (with_barrier and values.barrier > self.barrier) or (with_ack and values.ack > self.ack)
        return (risen or self.in_loss_state(values)) and (not self._incarnation or self.may_tell(values, kind))

    def in_loss_state(self, values: Values) -> bool:
        return self._loses and values.record > values.ack

    def due(self, now: int, kind: int) -> bool:
        return self._rules.beacon_due(now, self.carried_at[kind], self._interval)

    def hold(self, now: int, kind: int) -> int:
        """Hold a beacon of this kind back until it may be due, which is returned."""
        due = self.held_until[kind] = max(self.carried_at[kind] + self._interval, now + 1)
        self.quiet_until = min(self.held_until)
        return due

    def release(self) -> None:
        """Hold no beacon back any longer."""
        self.held_until = [NEVER for _ in self.kinds]
        self.quiet_until = NEVER

    def _next_seq(self) -> int:
        seq = self.seq
        self.seq = seq + 1
        return seq

    def _record(self, kind: int, values: Values) -> int:
        """The loss record to send. All that was lost at or below the ack barrier is made good."""
        if values.record > values.ack and self._loses and self._rules.flag_on(kind):
            return values.record
        return NO_LOSS

    def _greatest(self, values: Values, record: int) -> int:
        return max(values.greatest, record) if self._loses else NOT_SPOKEN
