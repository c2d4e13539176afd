"""Perfect links (BC-PL): numbers for each destination, a sliding window, and sending again until acknowledged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from msgspec.structs import replace

from scatterproof.impl.broadcast.rules import ACK_SHARE, Rules
from scatterproof.impl.broadcast.runs import Numbers, Run, Waiting
from scatterproof.impl.broadcast.settings import MAX_NUMBER, Settings
from scatterproof.spec.broadcast.messages import Beginning, Delivery, Packet, PacketKind
from scatterproof.spec.core import Began, Deliver, LocalProtocolError, Refuse, Send
from scatterproof.spec.topology import LinkId, NodeId

Out: TypeAlias = Send[Packet] | Deliver[Delivery] | Began[Beginning] | Refuse

_DATA, _ACK = int(PacketKind.DATA), int(PacketKind.ACK)
# An acknowledgement waits for no more packets than this share of the window.
_WINDOW_SHARE = 4


class Refusal(Exception):
    """Why a packet is not taken. Nothing has changed."""


@dataclass(slots=True, eq=False)
class Flight:
    """A packet on its way, and when it was put on the link last."""

    packet: Packet
    sent_at: int


class Peer:
    """Both directions between this process and one other.

    last: the last number towards it; oldest: no number below is unacknowledged. flight: by number, in the order in
    which they were sent last. allowed: how many may be in flight. mean, deviation: of round trips, ns. tries: time-outs
    since the last round trip that was measured; the last of all was at asked_at, and acknowledges tells whether the
    peer has acknowledged anything since. heard_at: when something came last. received: the peer's numbers; owed:
    intervals of them, to be acknowledged at ack_due.
    """

    __slots__ = (
        "ack_due", "acknowledges", "allowed", "asked_at", "deviation", "egress", "flight", "heard_at", "last",
        "mean", "node", "oldest", "owed", "owed_packets", "received", "tries", "waiting",
    )  # fmt: skip

    def __init__(self, node: NodeId, egress: LinkId, settings: Settings, rules: Rules) -> None:
        self.node = node
        self.egress = egress
        self.last = 0
        self.oldest = 1
        self.flight: dict[int, Flight] = {}
        self.waiting = Waiting()
        self.allowed = rules.in_flight_next(0, settings.window, 0)
        self.mean = self.deviation = self.tries = self.heard_at = self.asked_at = 0
        self.acknowledges = True
        self.received = Numbers(rules.prefix_with)
        self.owed: list[tuple[int, int]] = []
        self.owed_packets = 0
        self.ack_due = 0


class Links:
    """The links to and from all peers. `deadline`: not later than anything that is due; None for nothing."""

    def __init__(self, me: NodeId, egress: Mapping[NodeId, LinkId], settings: Settings, rules: Rules) -> None:
        self._me = me
        self._rules = rules
        self._first_timeout = settings.resend_ns
        self._ack_delay = settings.resend_ns // ACK_SHARE
        self._window = settings.window
        self._ack_at = max(1, settings.window // _WINDOW_SHARE)
        self._overall = 0
        self.peers = {node: Peer(node, link, settings, rules) for node, link in egress.items()}
        self.deadline: int | None = None

    def send(self, now: int, to: NodeId, run: Run, out: list[Out]) -> None:
        """Send the run now, or when the window has room for it."""
        peer = self.peers[to]
        if not peer.waiting and self._has_room(peer):
            self._put(now, peer, run, out)
        else:
            peer.waiting.add(run)

    def _has_room(self, peer: Peer) -> bool:
        if len(peer.flight) >= peer.allowed:
            return False
        return self._rules.sendable(self._rules.next_pseq(peer.last, self._overall), peer.oldest, self._window)

    def _put(self, now: int, peer: Peer, run: Run, out: list[Out]) -> None:
        pseq = self._rules.next_pseq(peer.last, self._overall)
        if pseq > MAX_NUMBER:
            raise LocalProtocolError(f"process {self._me} has sent {MAX_NUMBER} packets to process {peer.node}")
        peer.last = pseq
        self._overall += 1
        count = run.last - run.first + 1
        packet = Packet(_DATA, self._me, peer.node, run.creator, run.first, count, pseq, False, run.payload, run.clock)
        if not peer.flight:
            self._at_latest(now + self._timeout(peer))
        peer.flight[pseq] = Flight(packet, now)
        out.append(Send(peer.egress, packet))

    def _timeout(self, peer: Peer) -> int:
        return self._rules.time_out(peer.mean, peer.deviation, self._first_timeout, peer.tries)

    def _at_latest(self, when: int) -> None:
        if self.deadline is None or when < self.deadline:
            self.deadline = when

    def check_data(self, packet: Packet) -> None:
        """Raise Refusal for a data packet that its sender cannot have sent."""
        prefix = self.peers[packet.source].received.prefix
        if not self._rules.acceptable(packet.pseq, prefix, self._window):
            raise Refusal(f"packet {packet.pseq} is beyond the window: all up to {prefix} have arrived")

    def take_data(self, now: int, packet: Packet) -> bool:
        """Whether the packet is new. It will be acknowledged either way (BC-PL-RESEND)."""
        peer = self.peers[packet.source]
        self._sign_of_life(now, peer)
        pseq, received = packet.pseq, peer.received
        new = pseq > received.prefix and pseq not in received.beyond  # each interval is one number
        if new:
            received.add(pseq, pseq)
        owed = peer.owed
        if not owed:
            peer.ack_due = now + self._ack_delay
            self._at_latest(peer.ack_due)
            owed.append((pseq, pseq))
        elif owed[-1][1] == pseq - 1:
            owed[-1] = (owed[-1][0], pseq)
        else:
            owed.append((pseq, pseq))
        peer.owed_packets += 1
        return new

    def acknowledge_many(self, source: NodeId, out: list[Out]) -> None:
        """Acknowledge at once where many packets wait for it: their sender's window has an end."""
        peer = self.peers[source]
        if peer.owed_packets >= self._ack_at:
            self._acknowledge(peer, out)

    def _acknowledge(self, peer: Peer, out: list[Out]) -> None:
        prefix = peer.received.prefix
        for first, last in peer.owed:
            ack = Packet(_ACK, self._me, peer.node, self._me, prefix, last - first + 1, first)
            out.append(Send(peer.egress, ack))
        peer.owed.clear()
        peer.owed_packets = 0

    def check_ack(self, packet: Packet) -> None:
        """Raise Refusal for an acknowledgement of what was not sent."""
        last = self.peers[packet.source].last
        if packet.first > last or packet.pseq + packet.count - 1 > last:
            raise Refusal(f"acknowledges packets that were not sent: the last was {last}")

    def take_ack(self, now: int, packet: Packet, out: list[Out]) -> None:
        """Forget what is acknowledged, and send what waits for it."""
        peer = self.peers[packet.source]
        self._sign_of_life(now, peer)
        flight, tries = peer.flight, peer.tries
        before = len(flight)
        newest: Flight | None = None
        for acknowledged in (range(peer.oldest, packet.first + 1), range(packet.pseq, packet.pseq + packet.count)):
            for pseq in acknowledged:
                found = flight.pop(pseq, None)
                if found is not None and self._rules.is_sample(found.packet.resent):
                    newest = found
        if newest is not None:
            sample = max(1, now - newest.sent_at)
            peer.mean, peer.deviation = self._rules.smoothed(peer.mean, peer.deviation, sample)
            peer.tries = 0
        while peer.oldest <= peer.last and peer.oldest not in flight:
            peer.oldest += 1
        gone = before - len(flight)
        if gone:
            peer.acknowledges = True
            peer.allowed = self._rules.in_flight_next(peer.allowed, self._window, gone)
        if tries and flight:
            # What was put off while the peer acknowledged nothing may be due by now.
            self._at_latest(self._due(peer))
        while peer.waiting and self._has_room(peer):
            self._put(now, peer, peer.waiting.take(), out)

    def _sign_of_life(self, now: int, peer: Peer) -> None:
        """Something came. After a silence the peer is asked again soon for what it has not acknowledged."""
        silence, peer.heard_at = now - peer.heard_at, now
        if peer.tries:
            peer.tries = self._rules.tries_after(peer.tries, silence, self._timeout(peer))
            if peer.flight:
                self._at_latest(self._due(peer))

    def _due(self, peer: Peer) -> int:
        """When a peer with packets in flight is sent one again."""
        asked_at = _oldest(peer).sent_at if peer.acknowledges else peer.asked_at
        return asked_at + self._timeout(peer)

    def wake(self, now: int, out: list[Out]) -> None:
        """Acknowledge and send again what is due."""
        due: list[int] = []
        for peer in self.peers.values():
            if peer.owed:
                if peer.ack_due <= now:
                    self._acknowledge(peer, out)
                else:
                    due.append(peer.ack_due)
            if peer.flight:
                if self._due(peer) <= now:
                    self._resend(now, peer, out)
                due.append(self._due(peer))
        self.deadline = min(due, default=None)

    def _resend(self, now: int, peer: Peer, out: list[Out]) -> None:
        timeout, flight = self._timeout(peer), peer.flight
        late = [pseq for pseq, found in flight.items() if found.sent_at + timeout <= now]
        for pseq in late[: self._rules.resent_at_once(len(late), peer.acknowledges)]:
            old = flight.pop(pseq).packet
            packet = old if old.resent else again(old)
            flight[pseq] = Flight(packet, now)
            out.append(Send(peer.egress, packet))
        peer.tries += 1
        peer.acknowledges = False
        peer.asked_at = now
        peer.allowed = self._rules.in_flight_next(peer.allowed, self._window, 0)


def _oldest(peer: Peer) -> Flight:
    """What was put on the link longest ago."""
    return next(iter(peer.flight.values()))


def again(packet: Packet) -> Packet:
    """The same packet, marked as sent before."""
    return replace(packet, resent=True)
