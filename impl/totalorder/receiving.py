"""The receiving half of a host under loss: what it holds of each sender, and the one order of delivery.

Clauses: TO-SEQ, TO-DUPACK, TO-ONCE, TO-ORDER, TO-DELIVER, TO-FLAG-RX, TO-FAIL, TO-ATOMIC.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from scatterproof.impl.totalorder.host import Out
from scatterproof.impl.totalorder.ingress import Refusal
from scatterproof.impl.totalorder.link_state import Values
from scatterproof.impl.totalorder.rules import Rules
from scatterproof.spec.core import Deliver
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.totalorder.messages import NOT_SPOKEN, Delivery, Packet


class _Held:
    """The numbers that were received of one sender: all up to `upto`, and some above. link: where they come from."""

    __slots__ = ("above", "link", "upto")

    def __init__(self, link: LinkId) -> None:
        self.link = link
        self.upto = 0
        self.above: set[int] = set()

    def has(self, number: int) -> bool:
        return number <= self.upto or number in self.above

    def add(self, number: int) -> None:
        self.above.add(number)
        while self.upto + 1 in self.above:
            self.upto += 1
            self.above.remove(self.upto)


class Receiver:
    """delivered: the greatest timestamp that was delivered. cut_offs: of hosts that have failed."""

    def __init__(self, node: NodeId, rules: Rules, *, loses: bool, reliable: bool = False) -> None:
        """reliable: deliver only what every receiver has (TO-ATOMIC)."""
        self._node = node
        self._rules = rules
        self._reliable = reliable
        self.cut_offs: dict[NodeId, int] = {}
        self._loses = loses
        self._held: dict[NodeId, _Held] = {}
        # Arrival count as the last resort: packets themselves have no order.
        self._buffer: list[tuple[tuple[int, ...], int, Packet]] = []
        # Where messages are recalled: those in the buffer that were not, by sender and number.
        self._wanted: set[tuple[NodeId, int]] = set()
        self._arrivals = 0
        self.delivered = NOT_SPOKEN

    def check(self, link: LinkId, packet: Packet) -> None:
        """Raise Refusal for a message that cannot be."""
        held = self._held.get(packet.sender)
        if held is not None and held.link != link:
            raise Refusal(f"a message of host {packet.sender} came over link {link}; its route ends with {held.link}")
        if packet.number < 1:
            raise Refusal(f"message number {packet.number} is below 1 (TO-SEQ)")

    def buffer(self, link: LinkId, packet: Packet) -> int:
        """Buffer a message, unless it was there already; the number up to which there are all of its sender."""
        held = self._held.get(packet.sender)
        if held is None:
            held = self._held[packet.sender] = _Held(link)
        if not held.has(packet.number):
            held.add(packet.number)
            if packet.timestamp > self.cut_offs.get(packet.sender, packet.timestamp):
                return held.upto
            self._arrivals += 1
            key = self._rules.precedence(packet.timestamp, packet.sender)
            heappush(self._buffer, (key, self._arrivals, packet))
            if self._reliable:
                self._wanted.add((packet.sender, packet.number))
        return held.upto

    def upto(self, sender: NodeId) -> int:
        """The number up to which there are all of the sender's messages."""
        held = self._held.get(sender)
        return 0 if held is None else held.upto

    def cut_off(self, sender: NodeId, timestamp: int) -> None:
        """Discard a failed host's messages above the timestamp, now and later; of two cut-offs the lower holds
        (TO-FAIL)."""
        lowest = self.cut_offs[sender] = min(timestamp, self.cut_offs.get(sender, timestamp))
        self._buffer = [e for e in self._buffer if e[2].sender != sender or e[2].timestamp <= lowest]
        heapify(self._buffer)
        self._wanted &= {(packet.sender, packet.number) for _, _, packet in self._buffer}

    def void(self, link: LinkId, sender: NodeId, number: int) -> None:
        """Discard a recalled message, be it here or still to come (TO-ATOMIC). One that is here keeps its place in the
        buffer until all before it have left: thousands may be recalled at a time."""
        held = self._held.get(sender)
        if held is None:
            held = self._held[sender] = _Held(link)
        if not held.has(number):
            held.add(number)
        self._wanted.discard((sender, number))

    def deliver(self, values: Values) -> Sequence[Out]:
        """Deliver, in the order of precedence, what the values of all ingress links together allow."""
        buffer = self._buffer
        if self._reliable:
            self._drop_recalled()
        if not buffer or not self._deliverable(buffer[0][2], values):
            return ()
        effects: list[Out] = []
        while buffer and self._deliverable(buffer[0][2], values):
            packet = heappop(buffer)[2]
            if packet.timestamp > self.delivered:
                self.delivered = packet.timestamp
            effects.append(Deliver(Delivery(packet.sender, packet.number, packet.timestamp, packet.payload)))
            if self._reliable:
                self._wanted.remove((packet.sender, packet.number))
                self._drop_recalled()
        return effects

    def _drop_recalled(self) -> None:
        """Leave nothing that was recalled at the front of the buffer."""
        buffer, wanted = self._buffer, self._wanted
        while buffer and (buffer[0][2].sender, buffer[0][2].number) not in wanted:
            heappop(buffer)

    def _deliverable(self, packet: Packet, values: Values) -> bool:
        if self._reliable:
            return self._rules.may_deliver(packet.timestamp, values.ack, values.barrier)
        if not self._loses:
            return self._rules.deliverable(packet.timestamp, values.barrier)
        record = self._rules.judged_by(values.record, packet.loss_record)
        return self._rules.deliverable_under_loss(packet.timestamp, values.barrier, values.ack, record)
