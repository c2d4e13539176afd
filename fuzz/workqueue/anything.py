"""A store of either kind that says anything: more often than not what makes sense, whatever it said before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from msgspec.structs import replace

from scatterproof.impl.workqueue.lease_store import LeaseStorage
from scatterproof.spec.core import ClientEffect, ClientEvent, Outcome, PacketArrived, Send
from scatterproof.spec.workqueue.messages import MOST_ENTRIES, CallName, Handed, Packet

_MOST = 3  # of numbers that make no sense


class Anything:
    """opened: by group, the call that began it. bodies: by group, of its messages. put: the messages that were put.
    given: how many tokens and receipts. often: of 100 answers, how many make sense."""

    def __init__(self, draw: Random) -> None:
        self.draw, self.often, self.kept = draw, draw.choice((60, 80, 95)), LeaseStorage()
        self.opened: dict[int, Packet] = {}
        self.bodies: dict[int, list[bytes]] = {}
        self.put: list[Handed] = []
        self.given = 0
        self._says: dict[str, Callable[[Packet], Packet]] = {
            CallName.OPEN_GROUP: self._open,
            CallName.NEXT_GROUP: self._next,
            CallName.SEND_MESSAGE: self._send,
            CallName.READ_MESSAGE: self._read,
            CallName.CLEAN: self._count,
            CallName.UNLOCK_SERVER_GROUPS: self._count,
            CallName.PUT_MESSAGE: self._put,
            CallName.DELETE: self._carry_out,
            CallName.RECEIVE: self._receive,
            CallName.RECEIVE_ASIDE: self._receive,
        }

    def handle(self, event: ClientEvent[Packet]) -> Sequence[ClientEffect[Packet, Handed]]:
        assert isinstance(event, PacketArrived)
        outcome = Outcome.OK if self.draw.random() < 0.9 else Outcome.REFUSED
        says = self._says.get(event.packet.call)
        return [Send(0, replace(says(event.packet) if says else event.packet, outcome=int(outcome)))]

    def next_deadline(self) -> int | None:
        return None

    def _is_sense(self) -> bool:
        return self.draw.randrange(100) < self.often

    def _number(self, usual: int) -> int:
        return usual if self._is_sense() else self.draw.randint(0, _MOST)

    def _token(self) -> int:
        self.given += 1
        return self._number(self.given)

    def _open(self, asked: Packet) -> Packet:
        group = self._number(len(self.opened) + 1)
        self.opened.setdefault(group, asked)
        return replace(asked, group=group, token=self._token())

    def _next(self, asked: Packet) -> Packet:
        group = self._number(self.draw.choice((0, 0, *self.opened)))
        its = self.opened.get(group, asked)
        said = {name: self._number(getattr(its, name)) for name in ("priority", "correlation", "type")}
        return replace(asked, group=group, token=self._token(), retries=self.draw.randint(1, 2), **said)

    def _send(self, asked: Packet) -> Packet:
        bodies = self.bodies.setdefault(asked.group, [])
        bodies.append(asked.payload)
        return replace(asked, message=self._number(len(bodies)))

    def _read(self, asked: Packet) -> Packet:
        bodies = self.bodies.get(asked.group, [])
        message = self.draw.randint(0, len(bodies))
        body = bodies[message - 1] if message and self._is_sense() else b"?"
        return replace(asked, message=message, retries=self.draw.randint(1, 2), payload=body)

    def _count(self, asked: Packet) -> Packet:
        return replace(asked, removed=self.draw.choice((0, 0, 1, 2)), released=self.draw.choice((0, 0, 1, 2)))

    def _put(self, asked: Packet) -> Packet:
        for entry in range(1, min(max(1, asked.most), MOST_ENTRIES) + 1):
            body = asked.payload if entry == 1 else b""
            self.put.append(Handed(asked.client, asked.operation, asked.group, 0, body, entry))
        return self._carry_out(asked)

    def _carry_out(self, asked: Packet) -> Packet:
        whole = (1 << min(max(1, asked.most), MOST_ENTRIES)) - 1
        some = whole if self._is_sense() else self.draw.randint(-1, whole)
        return asked if whole == 1 else replace(asked, carried=some)

    def _receive(self, asked: Packet) -> Packet:
        count = self.draw.randint(0, max(0, asked.most) + int(not self._is_sense())) if self.put else 0
        which = [self.draw.choice(self.put[:2] if self._is_sense() else self.put) for _ in range(count)]
        return replace(asked, handed=tuple(replace(one, receipt=self._token()) for one in which))
