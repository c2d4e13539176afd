"""A host where nodes and links may fail: it heeds notices, recalls, and stops when it is cut off itself.

Notices, recalls and their answers are packets of kind NOTICE, told apart by their number. A notice that a host has
failed comes in that host's name and has number 0; a recall comes from the sender of the message and has its number; an
answer goes back, with bit 62 set in the number. The timestamp is that of the recalled message, or the cut-off + 1: the
least that is discarded. Answers repeat it. Answers to notices are addressed to the failed host: the switch that has
given it up takes them out. Where that has begun anew and forgotten the host, they come to the host, which stops.

Clauses: TO-FAIL, TO-ATOMIC, TO-RESTART.
"""

from __future__ import annotations

from collections.abc import Sequence

from scatterproof.impl.totalorder.host import In, Out
from scatterproof.impl.totalorder.ingress import Refusal
from scatterproof.impl.totalorder.reliable_host import ReliableHost
from scatterproof.impl.totalorder.rules import RULES, Rules
from scatterproof.impl.totalorder.settings import settings
from scatterproof.spec.core import NodeConfig
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.totalorder.messages import ANSWER, NO_BARRIER, Packet, PacketKind

_DATA, _NOTICE = int(PacketKind.DATA), int(PacketKind.NOTICE)


def notice(failed: NodeId, to: NodeId, cut_off: int) -> Packet:
    return Packet(_NOTICE, failed, to, 0, 0, cut_off + 1, NO_BARRIER, b"")


def answer(to: Packet) -> Packet:
    """The answer of a notice's or recall's receiver."""
    return Packet(_NOTICE, to.receiver, to.sender, to.number | ANSWER, 0, to.timestamp, NO_BARRIER, b"")


class FailingHost(ReliableHost):
    """It stops for good when its ingress link falls silent; a host that has begun anew does not even start."""

    def __init__(self, config: NodeConfig, rules: Rules = RULES) -> None:
        super().__init__(config, rules)
        if len(config.ingress) != 1 or len(config.egress) != 1:
            raise BadInput(
                f"node {config.node}: a host has {len(config.ingress)} ingress and {len(config.egress)} egress links; "
                f"give it one each, or set failure_timeout_ns to 0"
            )
        chosen = settings(config)
        self._timeout = chosen.failure_timeout_ns
        self._heard: int | None = None
        self._incarnation = 0  # of the node at the other end
        self._knows_of_failures = False
        self._links.allow(_NOTICE)
        self.stopped = chosen.incarnation > 0

    def handle(self, event: In) -> Sequence[Out]:
        if self._heard is None:
            self._heard = event.now
        if self.stopped or event.now - self._heard >= self._timeout:
            self.stopped = True
            return ()
        return super().handle(event)

    def next_deadline(self) -> int | None:
        if self.stopped:
            return None
        if self._heard is None:
            return 0
        silent = self._heard + self._timeout
        due = super().next_deadline()
        return silent if due is None else min(silent, due)

    def _receive(self, now: int, link: LinkId, packet: Packet) -> Sequence[Out]:
        if packet.incarnation > self._incarnation:
            self._incarnation = packet.incarnation
            # The switch knows nothing of failures any more: it might let back in who was cut off.
            self.stopped = self._knows_of_failures
            if self.stopped:
                return ()
        if packet.kind == _NOTICE and packet.number == ANSWER and packet.receiver == self._node:
            self.stopped = True  # given up, and let in again by a switch that has forgotten it
            return ()
        self._heard = now
        return super()._receive(now, link, packet)

    def _check(self, now: int, link: LinkId, packet: Packet) -> None:
        super()._check(now, link, packet)
        if packet.kind != _NOTICE:
            return
        if packet.sender == self._node and packet.number == 0:
            raise Refusal("a notice that this host itself has failed")
        if packet.timestamp < 1:
            raise Refusal(f"a notice of timestamp {packet.timestamp}: nothing is below 1")

    def _accept(self, now: int, link: LinkId, packet: Packet) -> list[Out]:
        if packet.kind == _DATA and (cut_off := self._receiver.cut_offs.get(packet.sender)) is not None:
            # Nothing comes from it unless its switch has begun anew, and let it in again. It is told; what it sends
            # has no acknowledgement, as it delivers what all have acknowledged.
            told = answer(notice(packet.sender, self._node, cut_off))
            return [self._sender.send(now, told)] if self._sender.reaches(packet.sender) else []
        if packet.kind != _NOTICE:
            return super()._accept(now, link, packet)
        if packet.number & ANSWER:
            self._sender.recall_answered(packet.sender, packet.number ^ ANSWER)
            return []
        effects: list[Out] = []
        if packet.number:
            self._receiver.void(link, packet.sender, packet.number)
        else:
            self._knows_of_failures = True
            self._receiver.cut_off(packet.sender, packet.timestamp - 1)
            effects += self._sender.fail(now, packet.sender)
        if self._sender.reaches(packet.sender):
            effects.append(self._sender.send(now, answer(packet)))
        return effects
