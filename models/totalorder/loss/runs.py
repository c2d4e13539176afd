"""Runs under loss on a small network from its start: who acts and what is lost is fixed, every number is free.

Hosts 1 and 2 send to receivers A and B: by one switch, with a link from each host and one to each receiver; or, where
``direct``, over a link of each host to receiver A. A counterexample is a run that can happen, shown step by step in
`LossRun.show`. The proofs for any network are in `invariant`; these runs show a wrong rule at work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import z3

from scatterproof.models.claim import Rules
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers.network import greater
from scatterproof.models.totalorder.loss.rules import BEACON, DATA

Lost = Literal["first link", "last link", None]
HOSTS = (1, 2)


def _zero() -> Any:
    return z3.IntVal(0)


@dataclass(slots=True)
class LinkState:
    """The registers at the far end of a link, in ns; ``gap``: a numbered packet was lost, and no later number has
    come."""

    name: str
    barrier: Any = field(default_factory=_zero)
    ack: Any = field(default_factory=_zero)
    record: Any = field(default_factory=_zero)
    greatest: Any = field(default_factory=_zero)
    largest: Any = field(default_factory=_zero)
    gap: bool = False


@dataclass(slots=True, kw_only=True)
class SentMessage:
    """``own`` is the record of the packet that brought it."""

    sender: int
    receiver: str
    timestamp: Any
    received: bool = False
    acknowledged: bool = False
    own: Any = field(default_factory=_zero)


@dataclass(slots=True, kw_only=True)
class LossPacket:
    kind: int
    barrier: Any
    ack: Any
    record: Any
    greatest: Any
    message: SentMessage | None = None


class LossRun:
    """A run under construction: what nodes hold, and the guards of all steps taken."""

    def __init__(self, rules: Rules, *, direct: bool = False, host_records: bool = False) -> None:
        """With ``host_records`` every packet of a host carries any loss record; 0 without."""
        self.rules = rules
        self.direct = direct
        self.host_records = host_records
        self.ingress = {host: LinkState(f"from host {host}") for host in HOSTS}
        self.egress = {name: LinkState(f"to receiver {name}") for name in ("A", "B")}
        self.last = {host: _zero() for host in HOSTS}
        self.promised = {host: _zero() for host in HOSTS}
        self.sent: list[SentMessage] = []
        self.guards: tuple[z3.BoolRef, ...] = ()
        self.said_to_a: list[Any] = []
        self.acks_said: list[tuple[int | str, Any]] = []
        self.ack_promises: list[z3.BoolRef] = []
        self.show: dict[str, z3.ExprRef] = {}
        self.told = 0

    def scatter(self, host: int, to: str = "A", *, lost: Lost = None) -> SentMessage:
        """The host stamps a scattering, and its first copy leaves."""
        clock = self._clock()
        self.last[host] = self._rule("stamp")(clock, self.last[host], self.promised[host])
        return self._copy(host, to, lost, clock, "scatters")

    def scatter_more(self, host: int, to: str, *, lost: Lost = None) -> SentMessage:
        """The next copy of the newest scattering; no promise may have passed it."""
        self.guards += (self.promised[host] <= self.last[host],)
        return self._copy(host, to, lost, self._clock(), "sends more of it")

    def resend(self, message: SentMessage) -> None:
        clock, host = self._clock(), message.sender
        barrier = self._rule("resent_barrier")(message.timestamp, self._current(host, clock))
        packet = self._host_packet(host, DATA, barrier, clock, message)
        self._tell(f"host {host} resends", timestamp=message.timestamp, barrier=packet.barrier)
        self._travel(packet, host, None)

    def beacon(self, host: int, *, lost: Lost = None) -> None:
        clock = self._clock()
        packet = self._host_packet(host, BEACON, self._current(host, clock), clock, None)
        self._tell(f"host {host} sends a beacon", barrier=packet.barrier, ack_barrier=packet.ack)
        self._travel(packet, host, lost)

    def switch_beacon(self, to: str = "A") -> None:
        self._take(self.egress[to], self._on(BEACON, to, None), [self.egress[to]], watched=self._last_hop())

    def learn(self, message: SentMessage) -> None:
        """The sender gets the acknowledgement."""
        assert message.received
        message.acknowledged = True

    def overtaken(self, message: SentMessage, missing: SentMessage) -> z3.BoolRef:
        """The message may be delivered, though the missing one precedes it: no correct rule allows this."""
        assert message.received
        assert not missing.received
        assert message.receiver == missing.receiver
        key = self._rule("precedence")
        one, other = key(missing.timestamp, missing.sender), key(message.timestamp, message.sender)
        self._tell("at the end", delivered=message.timestamp, missing=missing.timestamp)
        return z3.And(self.deliverable(message), _below(one, other))

    def deliverable(self, message: SentMessage) -> z3.BoolRef:
        held = list(self.ingress.values()) if self.direct else [self.egress[message.receiver]]
        barrier, ack, record = self._combined(held)
        record = self.rules["judged_by"](record, message.own)
        self._tell(f"receiver {message.receiver} holds", barrier=barrier, ack_barrier=ack, record=record)
        answer: z3.BoolRef = self._rule("deliverable_under_loss")(message.timestamp, barrier, ack, record)
        return answer

    def barriers_rise(self) -> z3.BoolRef:
        """The barriers that the switch put on the link to receiver A never fall."""
        pairs = zip(self.said_to_a, self.said_to_a[1:], strict=False)
        return z3.And(*(one <= other for one, other in pairs))

    def _copy(self, host: int, to: str, lost: Lost, clock: Any, what: str) -> SentMessage:
        message = SentMessage(sender=host, receiver=to, timestamp=self.last[host])
        self.sent.append(message)
        self.ack_promises += [ack < message.timestamp for place, ack in self.acks_said if place in (host, to)]
        packet = self._host_packet(host, DATA, self._rule("data_barrier")(message.timestamp), clock, message)
        self._tell(
            f"host {host} {what} to {to}" + (f", lost on its {lost}" if lost else ""),
            timestamp=message.timestamp,
            ack_barrier=packet.ack,
        )
        self._travel(packet, host, lost)
        return message

    def _host_packet(self, host: int, kind: int, barrier: Any, clock: Any, message: SentMessage | None) -> LossPacket:
        own = [m for m in self.sent if m.sender == host]
        waiting = [m.timestamp for m in own if not m.acknowledged]
        acknowledged = [m.timestamp for m in own if m.acknowledged]
        possible = self._rule("stamp")(clock, self.last[host], self.promised[host])
        ack = self._rule("ack_barrier")(
            lift(min)(waiting) if waiting else None, lift(max)(acknowledged) if acknowledged else _zero(), possible
        )
        greatest = lift(max)((_zero(), *(m.timestamp for m in own if m is not message)))
        if message is not None:
            greatest = self._rule("greatest_with")(greatest, message.timestamp)
        self.promised[host] = greater(self.promised[host], greater(barrier, ack + 1))
        self._says_ack(host, ack)
        record = _zero()
        if self.host_records:
            record = z3.Int(f"host_record_{len(self.guards)}")
            self.guards += (record >= 0,)
        return LossPacket(kind=kind, barrier=barrier, ack=ack, record=record, greatest=greatest, message=message)

    def _says_ack(self, place: int | str, ack: Any) -> None:
        """Note the promise on the link from a host, or to a receiver: all at or below that can take it has been
        received."""
        self.acks_said.append((place, ack))
        missing = [m for m in self.sent if place in (m.sender, m.receiver) and not m.received]
        self.ack_promises += [ack < m.timestamp for m in missing]

    def _travel(self, packet: LossPacket, host: int, lost: Lost) -> None:
        """To the switch, and data from there to the receiver at once; or to receiver A."""
        link = self.ingress[host]
        if lost == "first link":
            self._lose(link, packet)
            return
        everywhere = list(self.ingress.values())
        self._take(link, packet, everywhere, watched=self._last_hop() if self.direct else True)
        if self.direct:
            self._receive(packet)
        elif packet.message is not None:
            onwards = self._on(DATA, packet.message.receiver, packet.message)
            self._arrive(onwards, packet.message.receiver, lost)

    def _arrive(self, packet: LossPacket, to: str, lost: Lost) -> None:
        if lost == "last link":
            self._lose(self.egress[to], packet)
            return
        self._take(self.egress[to], packet, [self.egress[to]], watched=self._last_hop())
        self._receive(packet)

    def _receive(self, packet: LossPacket) -> None:
        if packet.message is not None:
            packet.message.received = True
            packet.message.own = packet.record

    def _lose(self, link: LinkState, packet: LossPacket) -> None:
        link.gap = link.gap or bool(self.rules["counts"](packet.kind))

    def _take(self, link: LinkState, packet: LossPacket, node: Sequence[LinkState], *, watched: bool) -> None:
        """The far end of ``link`` takes a packet; ``node`` has all ingress links of that node."""
        numbered = bool(self.rules["counts"](packet.kind))
        noticed = watched and link.gap and numbered
        link.gap = link.gap and not numbered
        link.barrier = self._rule("register_under_loss")(link.barrier, packet.barrier)
        link.ack = self._rule("register_ack")(link.ack, packet.ack)
        link.largest = greater(link.largest, packet.barrier)
        link.greatest = greater(link.greatest, packet.greatest)
        told = (lift(min)(tuple(one.barrier for one in node)), link.largest, packet.greatest)
        told_record = self._rule("passed_record")(packet.record, *told)
        if noticed:
            told_record = greater(told_record, self._rule("noticed_record")(*told))
            self._tell(f"gap on the link {link.name}", record=told_record)
        link.record = self._rule("kept_record")(link.record, told_record)

    def _on(self, kind: int, to: str, message: SentMessage | None) -> LossPacket:
        """What the switch puts on the link to a receiver; a record that its ack barrier has reached is sent as 0."""
        held = list(self.ingress.values())
        barrier, ack, record = self._combined(held)
        if to == "A":
            self.said_to_a.append(barrier)
        self._says_ack(to, ack)
        carried = z3.If(record <= ack, 0, record) if self.rules["flag_on"](kind) else _zero()
        what = "forwards" if kind == DATA else "sends a beacon"
        self._tell(f"switch {what} to {to}", barrier=barrier, ack_barrier=ack, record=carried)
        greatest = lift(max)(tuple(link.greatest for link in held))
        return LossPacket(kind=kind, barrier=barrier, ack=ack, record=carried, greatest=greatest, message=message)

    def _combined(self, held: Sequence[LinkState]) -> tuple[Any, Any, Any]:
        return (
            self._rule("aggregate")(tuple(link.barrier for link in held)),
            self._rule("aggregate_ack")(tuple(link.ack for link in held)),
            self._rule("aggregate_record")(tuple(link.record for link in held)),
        )

    def _current(self, host: int, clock: Any) -> Any:
        return lift(max)((clock, self.last[host], self.promised[host]))

    def _last_hop(self) -> bool:
        return bool(self.rules["last_hop_watched"]())

    def _rule(self, name: str) -> Any:
        return lift(self.rules[name])

    def _clock(self) -> z3.ArithRef:
        clock = z3.Int(f"clock_{len(self.guards)}")
        self.guards += (clock > 0,)
        return clock

    def _tell(self, step: str, **values: Any) -> None:
        self.told += 1
        self.show |= {f"{self.told}. {step}: {name.replace('_', ' ')}": value for name, value in values.items()}


def _below(one: tuple[Any, ...], other: tuple[Any, ...]) -> z3.BoolRef:
    """Lexicographically, over terms."""
    below: z3.BoolRef = lift(lambda mine, theirs: mine < theirs)(one, other)
    return below
