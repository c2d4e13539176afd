"""The sending half of a host that keeps all four values: timestamps, promises, beacons, and messages sent again.

Clauses: TO-SCATTER, TO-MONO, TO-BAR-HOST, TO-ACK-INIT, TO-ACK-IDLE, TO-RETX, TO-RETX-BAR, TO-DUPACK, TO-FLAG-HOST,
TO-ADJ-SAFE, TO-CAUSAL, TO-BAR-FILL, TO-FAIL, TO-ATOMIC.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush, heapreplace

from scatterproof.impl.totalorder.carrier import Carrier
from scatterproof.impl.totalorder.host import Out
from scatterproof.impl.totalorder.ingress import Refusal
from scatterproof.impl.totalorder.limits import MAX_PAYLOAD_BYTES
from scatterproof.impl.totalorder.outstanding import Pair, SendingLink
from scatterproof.impl.totalorder.recalls import Recalls
from scatterproof.impl.totalorder.rules import Rules
from scatterproof.impl.totalorder.settings import Settings
from scatterproof.spec.core import LocalProtocolError, NodeConfig, Send
from scatterproof.spec.topology import NodeId
from scatterproof.spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN, Packet, PacketKind

_DATA, _NOTICE = int(PacketKind.DATA), int(PacketKind.NOTICE)


class Sender:
    """adjustment: what is added to the local clock (TO-ADJ-2), in ns. delivered: the greatest timestamp that later
    ones must be strictly above (TO-CAUSAL); 0 for none."""

    def __init__(self, config: NodeConfig, settings: Settings, rules: Rules) -> None:
        self._node = config.node
        self._rules = rules
        self._settings = settings
        self._loses = settings.environment.loses
        self._links = tuple(SendingLink(Carrier(link, settings, rules)) for link in config.egress)
        by_link = {link.carrier.link: link for link in self._links}
        timeout, doublings = settings.retransmit_timeout_ns, settings.retransmit_doublings
        self._pairs = {receiver: Pair(by_link[link], timeout, doublings) for receiver, link in config.next_link}
        self._alarms: list[tuple[int, NodeId]] = []  # heap; at or below `due` of every receiver with messages waiting
        self._recalls = Recalls(timeout) if settings.reliable else None
        self._last = NOT_SPOKEN  # the last timestamp given
        self._promised = NOT_SPOKEN  # the greatest of the barriers, and of the ack barriers + 1, that were sent
        self.adjustment = 0
        self.delivered = NOT_SPOKEN

    def reaches(self, host: NodeId) -> bool:
        return host in self._pairs

    def next_deadline(self) -> int | None:
        """When a message, or a recall, may have to be sent again."""
        due = self._alarms[0][0] if self._alarms else None
        if self._recalls is None or self._recalls.due is None:
            return due
        return self._recalls.due if due is None else min(due, self._recalls.due)

    def scatter(self, now: int, messages: tuple[tuple[NodeId, bytes], ...]) -> list[Out]:
        """Send the messages of one scattering, all with one timestamp (TO-SCATTER)."""
        self._check(messages)
        failed = () if self._recalls is None else self._recalls.failed
        if all(receiver in failed for receiver, _ in messages):
            return []  # nothing leaves, so that nothing may show: a timestamp given here would, in the next beacon
        timestamp = self._last = self._next_possible(now)
        barrier = NO_BARRIER if self._settings.fill_barrier else self._rules.data_barrier(timestamp)
        effects: list[Out] = []
        for receiver, payload in messages:
            if receiver in failed:
                continue
            pair = self._pairs[receiver]
            pair.number += 1
            if self._recalls is not None:
                self._recalls.sent(timestamp, receiver, pair.number, self._pairs)
            message = Packet(_DATA, self._node, receiver, pair.number, 0, timestamp, NO_BARRIER, payload)
            link = pair.link
            greatest = self._rules.greatest_with(link.greatest, timestamp)
            link.greatest = timestamp
            if self._loses:
                pair.add(now, message)
                if len(pair.waiting) == 1:
                    heappush(self._alarms, (pair.due, receiver))
            effects.append(self._put(now, link, message, barrier, greatest))
        return effects

    def _check(self, messages: tuple[tuple[NodeId, bytes], ...]) -> None:
        """Raise LocalProtocolError for messages that cannot be sent as one scattering."""
        receivers = {receiver for receiver, _ in messages}
        if not messages or len(receivers) < len(messages):
            raise LocalProtocolError("a scattering has at least one message, and one message for each receiver")
        for receiver, payload in messages:
            if receiver not in self._pairs:
                raise LocalProtocolError(f"host {self._node} has no route to host {receiver}")
            if len(payload) > MAX_PAYLOAD_BYTES:
                raise LocalProtocolError(f"a payload has {len(payload)} bytes; at most {MAX_PAYLOAD_BYTES} can be sent")

    def send(self, now: int, packet: Packet) -> Send[Packet]:
        """Send a packet that is no message to its receiver: an acknowledgement, or one of timestamp adjustment."""
        link = self._pairs[packet.receiver].link
        return self._put(now, link, packet, NO_BARRIER, link.greatest)

    def beacons(self, now: int, *, every: bool) -> Sequence[Out]:
        """Beacons of each kind on every egress link where they are due: all, or those that say something new."""
        effects: list[Out] = []
        for link in self._links:
            carrier = link.carrier
            for kind in carrier.kinds:
                self._say(now, link, self._current(now), link.greatest)
                if (every or carrier.news(link.values, kind)) and carrier.due(now, kind):
                    effects.append(self._promising(carrier.beacon(self._node, link.values, kind)))
        return effects

    def check_acknowledgement(self, packet: Packet) -> None:
        """Raise Refusal for an acknowledgement that cannot be."""
        pair = self._pairs.get(packet.sender)
        if pair is None or not 0 <= packet.number <= pair.number:
            sent = 0 if pair is None else pair.number
            raise Refusal(f"host {packet.sender} acknowledges message {packet.number}; {sent} were sent to it (TO-SEQ)")

    def acknowledged(self, now: int, receiver: NodeId, number: int) -> Sequence[Out]:
        """Take an acknowledgement. One equal to the last means loss, once for a message (TO-RETX); one that came late
        says nothing."""
        pair = self._pairs[receiver]
        if number > pair.acknowledged:
            pair.acknowledge(now, number)
        elif number == pair.acknowledged and pair.waiting and pair.hastened <= number:
            pair.hastened = number + 1
            return (self._resend(now, pair, timed_out=False),)
        return ()

    def fail(self, now: int, host: NodeId) -> Sequence[Out]:
        """Wait for a failed host no more, and recall what it has not acknowledged (TO-FAIL, TO-ATOMIC)."""
        assert self._recalls is not None
        if host not in self._pairs or host in self._recalls.failed:
            return ()
        recalled = self._recalls.fail(now, host, self._pairs, recalls=self._rules.recalls())
        self._pairs[host].give_up()
        return [self._recall(now, *what) for what in recalled]

    def recall_answered(self, receiver: NodeId, number: int) -> None:
        """A receiver has discarded a recalled message."""
        if self._recalls is not None:
            self._recalls.answered(receiver, number)

    def _recall(self, now: int, receiver: NodeId, number: int, timestamp: int) -> Send[Packet]:
        return self.send(now, Packet(_NOTICE, self._node, receiver, number, 0, timestamp, NO_BARRIER, b""))

    def resend_due(self, now: int) -> Sequence[Out]:
        """Send again what was not acknowledged, or answered, in time (TO-RETX)."""
        effects: list[Out] = []
        if self._recalls is not None:
            effects += [self._recall(now, *what) for what in self._recalls.again(now)]
        alarms = self._alarms
        while alarms and alarms[0][0] <= now:
            receiver = alarms[0][1]
            pair = self._pairs[receiver]
            if not pair.waiting:
                heappop(alarms)
                continue
            if pair.due <= now:
                effects.append(self._resend(now, pair, timed_out=True))
            heapreplace(alarms, (pair.due, receiver))
        return effects

    def _resend(self, now: int, pair: Pair, *, timed_out: bool) -> Send[Packet]:
        """Send the oldest waiting message again, with its old timestamp (TO-RETX)."""
        return self._again(now, pair, pair.resend(now, timed_out=timed_out))

    def _again(self, now: int, pair: Pair, old: Packet) -> Send[Packet]:
        if self._settings.host_flags:
            pair.link.record = max(pair.link.record, old.timestamp)
        again = Packet(
            _DATA, old.sender, old.receiver, old.number, 0, old.timestamp, NO_BARRIER, old.payload, resent=True
        )
        barrier = self._rules.resent_barrier(old.timestamp, self._current(now))
        return self._put(now, pair.link, again, barrier, pair.link.greatest)

    def _put(self, now: int, link: SendingLink, packet: Packet, barrier: int, greatest: int) -> Send[Packet]:
        self._say(now, link, barrier, greatest)
        return self._promising(link.carrier.put(now, packet, link.values))

    def _say(self, now: int, link: SendingLink, barrier: int, greatest: int) -> None:
        """Set what the next packet on the link says."""
        values = link.values
        values.barrier, values.record, values.greatest = barrier, link.record, greatest
        if self._loses:
            least = link.least(self._pairs)
            if self._recalls is not None:
                least = self._recalls.least(least)
            values.ack = self._rules.ack_barrier(least, link.acknowledged, self._next_possible(now))

    def _promising(self, send: Send[Packet]) -> Send[Packet]:
        """Keep what the packet promises of the timestamps to come (TO-BAR-HOST, TO-ACK-MEAN)."""
        self._promised = max(self._promised, send.packet.barrier, send.packet.ack_barrier + 1)
        return send

    def _next_possible(self, now: int) -> int:
        """The timestamp of a scattering at this moment: the least that is still possible (TO-MONO, TO-CAUSAL)."""
        return self._rules.stamp(now + self.adjustment, max(self._last, self.delivered), self._promised)

    def _current(self, now: int) -> int:
        """Barrier of a packet that bears no new message (TO-BAR-HOST)."""
        reading = self._rules.beacon_reading(now, now + self.adjustment)
        return self._rules.adjusted_beacon(reading, self._last, self._promised)
