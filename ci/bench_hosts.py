"""Hosts of the reference core that hold many messages, and the work measured on them: CPU seconds a message."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeAlias

from scatterproof.impl.totalorder import Rules, make_core
from scatterproof.spec.core import Deliver, NodeConfig, PacketArrived, Refuse, Send, Submitted
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import ANSWER, NO_BARRIER, Packet, PacketKind

STEPS = 500  # of the barrier, or events of another kind, in one measurement
PEERS = 8

_DATA, _BEACON, _ACK, _NOTICE = (
    int(kind) for kind in (PacketKind.DATA, PacketKind.BEACON, PacketKind.ACK, PacketKind.NOTICE)
)
_BEGIN = 1 << 40  # timestamps are integers of one width, however many there are
_SPACING = 1_000  # ns between two buffered messages, in the mean
AT_ONCE = 4  # messages that a step of the barrier lets pass, in the mean
_LONG = 1 << 50  # no time-out falls into a measurement

_Event: TypeAlias = PacketArrived[Packet] | Submitted


class HostWork(NamedTuple):
    """repeatable: afterwards the host holds as many messages as it did."""

    what: str
    seconds: Callable[[], float]
    repeatable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavour:
    """links: number of ingress links of a receiver."""

    name: str
    environment: str
    links: int
    failure_timeout_ns: int = 0

    def __str__(self) -> str:
        return f"{self.name} ({self.environment})"


BEST_EFFORT = Flavour(name="best effort", environment="C", links=4)
UNDER_LOSS = Flavour(name="under loss", environment="D9", links=4)
# Where nodes may fail a host has one link.
RELIABLE = Flavour(name="reliable", environment="D9", links=1, failure_timeout_ns=_LONG)


class _Host:
    """Host 0 with peers 1, 2, ..., `links` ingress links and one egress link. Its arrivals are numbered as links and
    senders number them."""

    def __init__(self, flavour: Flavour, links: int, rules: Rules) -> None:
        self._loses = flavour.environment.startswith("D")
        self._links = links
        self._seqs = [0] * links
        self._core = make_core(
            NodeConfig(
                node=0,
                role=Role.HOST,
                protocol="totalorder",
                ingress=tuple(range(links)),
                egress=(links,),
                next_link=tuple((peer, links) for peer in range(1, PEERS + 1)),
                reaching=((),),
                parameters={
                    "environment": flavour.environment,
                    "beacon_interval_ns": _SPACING,
                    "retransmit_timeout_ns": _LONG,
                    "failure_timeout_ns": flavour.failure_timeout_ns,
                },
            ),
            rules,
        )
        self.now = _BEGIN  # and all that was sent strictly below it has been acknowledged

    def arrival(self, kind: int, sender: int, number: int = 0, timestamp: int = 0, link: int = -1) -> _Event:
        link = sender % self._links if link < 0 else link
        seq = self._seqs[link]
        self._seqs[link] = seq + 1
        carries = kind in (_DATA, _BEACON)
        barrier = self.now if carries else NO_BARRIER
        ack = self.now - 1 if carries and self._loses else NO_BARRIER
        payload = b"message" if kind == _DATA else b""
        return PacketArrived(self.now, link, Packet(kind, sender, 0, number, seq, timestamp, barrier, payload, ack))

    def beacons(self) -> list[_Event]:
        """One over every ingress link, from a switch at its other end."""
        return [self.arrival(_BEACON, PEERS + 1 + link, link=link) for link in range(self._links)]

    def handle(self, events: Sequence[_Event]) -> tuple[float, list[Send[Packet]], list[int]]:
        """CPU seconds, the packets sent, and the timestamps of the messages delivered. The deadline is asked for after
        each event, as drivers do."""
        handle, next_deadline = self._core.handle, self._core.next_deadline
        effects = []
        start = time.process_time()
        for event in events:
            effects.append(handle(event))
            next_deadline()
        seconds = time.process_time() - start
        every = [effect for some in effects for effect in some]
        refused = [effect.reason for effect in every if isinstance(effect, Refuse)]
        if refused:
            raise SystemExit(f"ci/bench: the core refused a packet, and its speed says nothing: {refused[0]}")
        sent = [effect for effect in every if isinstance(effect, Send)]
        return seconds, sent, [effect.message.timestamp for effect in every if isinstance(effect, Deliver)]


class Receiving:
    """A receiver that holds about `size` messages. They arrive over all its links in no order of timestamps, which is
    harder than what senders do. One arrives for each one delivered, so that the number held stays about the same."""

    def __init__(self, flavour: Flavour, rules: Rules, size: int) -> None:
        self._host = _Host(flavour, flavour.links, rules)
        self._recalls = flavour.failure_timeout_ns > 0
        self._size = size
        self._draw = Random(size)
        self._numbers = [0] * (PEERS + 1)
        self._held = 0
        self._newest: deque[tuple[int, int, int]] = deque(maxlen=STEPS)

    def work(self) -> Sequence[HostWork]:
        first = (
            HostWork("buffer a message", self._fill),
            HostWork("buffer one, the barrier rises a little, deliver one", self._keep, repeatable=True),
            HostWork("the barrier rises a little, deliver one", self._rise),
        )
        recall = (HostWork("discard a recalled message", self._recall),) if self._recalls else ()
        return (*first, *recall, HostWork("deliver all, one of them", self._empty))

    def _message(self, ahead: float) -> _Event:
        sender, timestamp = self._draw.randint(1, PEERS), self._host.now + int(ahead)
        number = self._numbers[sender] = self._numbers[sender] + 1
        self._newest.append((timestamp, sender, number))
        return self._host.arrival(_DATA, sender, number, timestamp)

    def _rises(self, messages: int) -> list[_Event]:
        """Beacons that raise the barrier of every link far enough to let this many messages pass, in the mean."""
        self._host.now += messages * _SPACING
        return self._host.beacons()

    def _seconds(self, events: Sequence[_Event], came: int) -> float:
        """Seconds for each delivered message, or for each one that came where none was delivered."""
        seconds, _, timestamps = self._host.handle(events)
        if timestamps != sorted(timestamps) or (timestamps and timestamps[-1] >= self._host.now):
            raise SystemExit("ci/bench: the receiver delivered in a wrong order, and its speed says nothing")
        self._held += came - len(timestamps)
        if not timestamps and not came:
            raise SystemExit("ci/bench: the receiver delivered nothing, and its speed says nothing")
        return seconds / (len(timestamps) or came)

    def _fill(self) -> float:
        span = 2 * self._size * _SPACING
        # As dense towards the barrier as `_keep` leaves them.
        ahead = [span * (1 - (1 - self._draw.random()) ** 0.5) for _ in range(self._size)]
        return self._seconds([*self._host.beacons(), *map(self._message, ahead)], self._size)

    def _keep(self) -> float:
        span = 2 * self._size * _SPACING
        events: list[_Event] = []
        for _ in range(STEPS):
            events += [self._message(self._draw.random() * span) for _ in range(AT_ONCE)]
            events += self._rises(AT_ONCE)
        return self._seconds(events, STEPS * AT_ONCE)

    def _rise(self) -> float:
        steps = min(STEPS, self._size // 5)  # some messages must stay
        return self._seconds([event for _ in range(steps) for event in self._rises(1)], 0)

    def _recall(self) -> float:
        recalled = [entry for entry in self._newest if entry[0] >= self._host.now][: self._size // 5]
        events = [self._host.arrival(_NOTICE, sender, number, timestamp) for timestamp, sender, number in recalled]
        self._held -= len(events)
        return self._host.handle(events)[0] / len(events)

    def _empty(self) -> float:
        cost = self._seconds(self._rises(2 * self._size), 0)
        if self._held:
            raise SystemExit(f"ci/bench: {self._held} messages too few were delivered, and their speed says nothing")
        return cost


class Sending:
    """A sender with `size` messages outstanding; each scattering goes to all peers."""

    def __init__(self, flavour: Flavour, rules: Rules, size: int) -> None:
        self._host = _Host(flavour, 1, rules)
        self._size = size
        self._sent = 0  # to each peer
        self._acknowledged = [0] * (PEERS + 1)

    def work(self) -> Sequence[HostWork]:
        return (
            HostWork("send one", self._fill),
            HostWork("send one, take one acknowledgement", self._keep, repeatable=True),
            HostWork("the same, while the last receiver lags by all", self._lag),
            HostWork("take an acknowledgement of the last receiver", self._catch_up),
        )

    def _scatter(self) -> _Event:
        self._sent += 1
        self._host.now += _SPACING
        return Submitted(self._host.now, tuple((peer, b"message") for peer in range(1, PEERS + 1)))

    def _acknowledge(self, peer: int, more: int = 1) -> _Event:
        self._acknowledged[peer] += more
        return self._host.arrival(_ACK, peer, self._acknowledged[peer])

    def _fill(self) -> float:
        scatterings = self._size // PEERS
        return self._host.handle([self._scatter() for _ in range(scatterings)])[0] / (scatterings * PEERS)

    def _exchange(self, peers: Sequence[int]) -> float:
        """Every scattering computes the ack barrier anew, for each of its messages."""
        events: list[_Event] = []
        for _ in range(STEPS // 2):
            events += [self._scatter(), *map(self._acknowledge, peers)]
        return self._host.handle(events)[0] / (STEPS // 2 * PEERS)

    def _keep(self) -> float:
        return self._exchange(range(1, PEERS + 1))

    def _lag(self) -> float:
        self._host.handle([self._acknowledge(peer, self._sent - self._acknowledged[peer]) for peer in range(1, PEERS)])
        return self._exchange(range(1, PEERS))

    def _catch_up(self) -> float:
        """Includes the entries that waited behind the last receiver's messages: they are looked at only now."""
        acknowledgements = [self._acknowledge(PEERS) for _ in range(self._sent - self._acknowledged[PEERS])]
        return self._host.handle([*acknowledgements, self._scatter()])[0] / (len(acknowledgements) + PEERS)


class Recalling(Sending):
    """A sender with `size` messages outstanding, when one of its receivers fails."""

    def work(self) -> Sequence[HostWork]:
        return (
            HostWork("send one, and no receiver answers", self._fill),
            HostWork("recall one, as a receiver has failed", self._fail),
            HostWork("take an answer to a recall, send one", self._answered),
        )

    def _fail(self) -> float:
        """What was put on the link first is answered first."""
        failed = self._host.arrival(_NOTICE, PEERS, 0, self._host.now + 1)
        seconds, sent, _ = self._host.handle([failed])
        self._recalled = deque(send.packet for send in sent if send.packet.number and not send.packet.number & ANSWER)
        return seconds / len(self._recalled)

    def _answered(self) -> float:
        events: list[_Event] = []
        for _ in range(min(STEPS, len(self._recalled) // 2)):
            recall = self._recalled.popleft()
            events.append(self._host.arrival(_NOTICE, recall.receiver, recall.number | ANSWER, recall.timestamp))
            self._host.now += _SPACING
            events.append(Submitted(self._host.now, ((1, b"message"),)))
        return 2 * self._host.handle(events)[0] / len(events)
