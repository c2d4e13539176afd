"""A node with real sockets: carries events to its core, and the effects to its log and its sockets.

Every event is logged, with its effects, strictly before the datagrams that it causes are sent, so that merged logs
agree with causality.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, cast

from scatterproof.impl.drivers.log import NodeLogWriter
from scatterproof.impl.drivers.sockets import Sockets
from scatterproof.impl.protocol import ImplPlugin, RecordsOfBeginnings
from scatterproof.spec.adapter import Init
from scatterproof.spec.core import (
    AnyCore,
    Began,
    ClientEffect,
    Deliver,
    PacketArrived,
    Refuse,
    Send,
    Submitted,
    TimerFired,
)
from scatterproof.spec.topology import LinkId, NodeId

# Reasons of refusals beside those of the codec.
UNEXPECTED_SOURCE = "unexpected_source"
AGAINST_PROTOCOL = "against_protocol"


class UdpNode:
    """refused: how many datagrams, by reason."""

    def __init__(self, init: Init, plugin: ImplPlugin, core: AnyCore, log: NodeLogWriter, sockets: Sockets) -> None:
        self.node: NodeId = init.config.node
        self._offset = init.clock_offset_ns
        self._plugin = plugin
        self._core = core
        self._records = plugin.records()
        self._log = log
        self._sockets = sockets
        self.refused = Counter[str]()

    def submit(self, messages: tuple[tuple[NodeId, bytes], ...]) -> None:
        """Raises LocalProtocolError for messages that the core cannot send."""
        now, clock = self._now()
        effects = self._core.handle(Submitted(clock, messages))
        for columns in self._records.submission(self.node, messages):
            self._log.add("submitted", now, clock, columns)
        self._carry_out(now, clock, effects)

    def take(self, link: LinkId) -> None:
        """Hand the core the datagrams that wait on an ingress link."""
        for source, datagram in self._sockets.arrived(link):
            now, clock = self._now()
            if not self._sockets.expects(link, source):
                self._refuse(now, clock, link, UNEXPECTED_SOURCE, "the link's packets came from another port")
                continue
            packet = self._plugin.decode(datagram)
            if isinstance(packet, StrEnum):
                self._refuse(now, clock, link, packet, "malformed datagram")
                continue
            self._sockets.settle(link, source)
            self._log.add("arrived", now, clock, self._records.packet(packet), link)
            self._carry_out(now, clock, self._core.handle(PacketArrived(clock, link, packet)))

    def wake(self) -> None:
        """Tell the core when its deadline is reached."""
        deadline = self._core.next_deadline()
        now, clock = self._now()
        if deadline is not None and clock >= deadline:
            self._carry_out(now, clock, self._core.handle(TimerFired(clock)))

    def seconds_to_deadline(self) -> float | None:
        deadline = self._core.next_deadline()
        return None if deadline is None else max(0, deadline - self._now()[1]) / 1_000_000_000

    def _now(self) -> tuple[int, int]:
        now = time.monotonic_ns()
        return now, now + self._offset

    def _refuse(self, now: int, clock: int, link: LinkId, reason: str, text: str) -> None:
        self.refused[reason] += 1
        self._log.add("refused", now, clock, {"reason": reason, "text": text}, link)
        self._log.write()

    def _carry_out(self, now: int, clock: int, effects: Sequence[ClientEffect[Any, Any]]) -> None:
        datagrams: list[tuple[LinkId, bytes]] = []
        for effect in effects:
            if isinstance(effect, Send):
                self._log.add("sent", now, clock, self._records.packet(effect.packet), effect.link)
                datagrams.append((effect.link, self._plugin.encode(effect.packet)))
            elif isinstance(effect, Deliver):
                self._log.add("delivered", now, clock, self._records.delivery(self.node, effect.message))
            elif isinstance(effect, Began):
                self._log.add(
                    "begun", now, clock, cast(RecordsOfBeginnings, self._records).beginning(self.node, effect.message)
                )
            elif isinstance(effect, Refuse):
                self._refuse(now, clock, effect.link, AGAINST_PROTOCOL, effect.reason)
        self._log.write()
        for link, datagram in datagrams:
            self._sockets.send(link, datagram)
