"""The weakest twin: a host and a switch that use the freedom which the clauses leave. No check may fail them.

A host acknowledges and delivers later, and one acknowledgement in three twice; it sends the messages of a scattering in
any order, all unacknowledged ones again at a time-out, beacons at any time, and an ack barrier that is lower than it
could be while something is outstanding. A switch sends beacons at any time, and more than it must.

Clauses: TO-SCATTER, TO-COMPLETE, TO-DELIVER, TO-DUPACK, TO-RETX, TO-ACK-INIT, TO-ENV-B, TO-ENV-C, TO-BEACON-MIN.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeAlias

from msgspec.structs import replace

from scatterproof.impl import node
from scatterproof.impl.totalorder.authority import FailingSwitch
from scatterproof.impl.totalorder.embodiments import embodied
from scatterproof.impl.totalorder.failures import FailingHost
from scatterproof.impl.totalorder.host import Out
from scatterproof.impl.totalorder.link_state import Values
from scatterproof.impl.totalorder.outstanding import SendingLink
from scatterproof.impl.totalorder.receiving import Receiver
from scatterproof.impl.totalorder.reliable_host import ReliableHost
from scatterproof.impl.totalorder.reliable_switch import ReliableSwitch
from scatterproof.impl.totalorder.rules import RULES, Rules
from scatterproof.impl.totalorder.sending import Sender
from scatterproof.impl.totalorder.settings import Settings, settings
from scatterproof.spec.core import Core, NodeConfig, Send
from scatterproof.spec.topology import LinkId, NodeId, Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, Delivery, Packet, PacketKind

AnyCore: TypeAlias = Core[Packet, Delivery]
_DATA, _ACK = int(PacketKind.DATA), int(PacketKind.ACK)
_LOWER = 5  # by how much less than it could be an ack barrier is, ns
_AGAIN = 3  # one acknowledgement of three, as drawn, is sent twice


def make_core(config: NodeConfig) -> AnyCore:
    """The core for one node's configuration; its choices are a function of the node's number and incarnation."""
    node.check(config)
    return embodied(config, RULES, make_plain)


def make_plain(config: NodeConfig, rules: Rules) -> AnyCore:
    chosen = settings(config)
    if config.role is Role.HOST:
        return (_FailingHost if chosen.reliable else _Host)(config, rules)
    # A switch that was given as one that may not withhold beacons stays so.
    if "every_beacon" not in config.parameters and chosen.beacons_exist:
        config = replace(config, parameters={**config.parameters, "every_beacon": 1})
    return (_FailingSwitch if chosen.reliable else _Switch)(config, rules)


class _Sender(Sender):
    def __init__(self, config: NodeConfig, settings: Settings, rules: Rules, draw: Random) -> None:
        super().__init__(config, settings, rules)
        self._draw = draw

    def scatter(self, now: int, messages: tuple[tuple[NodeId, bytes], ...]) -> list[Out]:
        return super().scatter(now, tuple(self._draw.sample(messages, len(messages))))

    def resend_due(self, now: int) -> Sequence[Out]:
        """With each message whose time-out has run out, all that wait behind it."""
        effects = [*super().resend_due(now)]
        pairs = [
            self._pairs[effect.packet.receiver]
            for effect in effects
            if isinstance(effect, Send) and effect.packet.kind == _DATA
        ]
        return [*effects, *(self._again(now, pair, old) for pair in pairs for old in list(pair.waiting)[1:])]

    def _say(self, now: int, link: SendingLink, barrier: int, greatest: int) -> None:
        super()._say(now, link, barrier, greatest)
        if self._loses and link.least(self._pairs) is not None:
            able = link.values.ack
            # A record that it has reached stays reached: the loss flag ends with the acknowledgement (TO-FLAG-HOST).
            least = link.record if able >= link.record else link.carrier.ack
            link.values.ack = max(link.carrier.ack, least, able - self._draw.randrange(_LOWER))


class _Receiver(Receiver):
    """It delivers when it is let."""

    lets = False

    def deliver(self, values: Values) -> Sequence[Out]:
        return super().deliver(values) if self.lets else ()


class _Host(ReliableHost):
    def __init__(self, config: NodeConfig, rules: Rules) -> None:
        super().__init__(config, rules)
        chosen = settings(config)
        self._draw = _draw(config, chosen)
        self._sender = _Sender(config, chosen, rules, self._draw)
        self._late = _Receiver(config.node, rules, loses=self._loses, reliable=chosen.reliable)
        self._receiver = self._late
        self._every_beacon = "every_beacon" not in config.parameters
        self._owed: list[NodeId] = []  # whom acknowledgements are for
        self._due: int | None = None  # when they leave, and what can be is delivered

    def next_deadline(self) -> int | None:
        due = super().next_deadline()
        if self._due is None or self._is_over():
            return due
        return self._due if due is None else min(due, self._due)

    def _is_over(self) -> bool:
        return False

    def _receive(self, now: int, link: LinkId, packet: Packet) -> Sequence[Out]:
        if self._due is None:
            self._due = now + self._draw.randrange(1, 1 + max(1, self._interval // 2))
        return super()._receive(now, link, packet)

    def _accept(self, now: int, link: LinkId, packet: Packet) -> list[Out]:
        if packet.kind != _DATA:
            return super()._accept(now, link, packet)
        self._receiver.buffer(link, packet)
        if self._loses and self._sender.reaches(packet.sender):
            self._owed.append(packet.sender)
        return []

    def _wake(self, now: int) -> Sequence[Out]:
        before = self._beacons_at
        effects = [*super()._wake(now)]
        if self._beacons_at is not None and self._beacons_at != before:
            self._beacons_at = now + self._draw.randrange(1, 1 + self._interval)
        if self._due is not None and now >= self._due:
            self._due = None
            effects += self._acknowledge(now)
            self._late.lets = True
            effects += self._late.deliver(self._values)
            self._late.lets = False
            if self._causal:
                self._sender.delivered = self._late.delivered
        return effects

    def _acknowledge(self, now: int) -> list[Out]:
        owed, self._owed = self._owed, []
        self._draw.shuffle(owed)
        again = [sender for sender in owed if self._draw.randrange(_AGAIN) == 0]
        return [
            self._sender.send(now, Packet(_ACK, self._node, sender, self._receiver.upto(sender), 0, 0, NO_BARRIER, b""))
            for sender in (*owed, *again)
        ]


class _FailingHost(FailingHost, _Host):
    def _is_over(self) -> bool:
        return self.stopped


class _Switch(ReliableSwitch):
    def __init__(self, config: NodeConfig, rules: Rules) -> None:
        super().__init__(config, rules)
        self._draw = _draw(config, settings(config))

    def _wake(self, now: int) -> Sequence[Out]:
        before = self._deadline
        effects = super()._wake(now)
        if self._every_beacon and self._deadline != before:
            self._deadline = now + self._draw.randrange(1, 1 + self._interval)
        return effects


class _FailingSwitch(_Switch, FailingSwitch):
    pass


def _draw(config: NodeConfig, chosen: Settings) -> Random:
    return Random(f"{config.node} {chosen.incarnation}")
