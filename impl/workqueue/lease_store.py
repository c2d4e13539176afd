"""The store of a queue with leases: carries out each call in one step, and answers it again when it is asked again.

Clauses: Q-LEASE, Q-LEASE-ALL, Q-DEDUP, Q-RECEIPT.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from scatterproof.impl.workqueue.lease_rules import LeaseRules
from scatterproof.impl.workqueue.rules import is_new
from scatterproof.spec.core import (
    ClientEffect,
    ClientEvent,
    LocalProtocolError,
    NodeConfig,
    Outcome,
    PacketArrived,
    Refuse,
    Send,
)
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.topology import NodeId
from scatterproof.spec.workqueue.messages import CallName, Handed, Packet

OK, REFUSED = int(Outcome.OK), int(Outcome.REFUSED)
Key = tuple[int, int]


@dataclass(slots=True, kw_only=True)
class Message:
    """sender, number: the client that put it, and the number of that call.
    place: in the queue.
    until_ns: when its lease ends, 0 for none.
    receipt: of its last lease, 0 where it was never handed out.
    """

    sender: NodeId
    number: int
    group: int
    key: Key
    body: bytes
    place: int
    until_ns: int = 0
    receipt: int = 0


@dataclass(slots=True)
class Storage:
    """taken: how many messages were taken that are no copies, and places given to those that came back elsewhere.
    messages: those that are there, by sender and number.
    ids: since when each deduplication id is known.
    answered: by client, the answer to the last of its calls that was carried out.
    """

    taken: int = 0
    messages: dict[tuple[NodeId, int], Message] = field(default_factory=dict)
    ids: dict[Key, int] = field(default_factory=dict)
    answered: dict[NodeId, Packet] = field(default_factory=dict)


class LeaseStore:
    """The sans-IO node. kept: what outlives it, for the node that follows it (`begin_with`)."""

    def __init__(self, config: NodeConfig, rules: LeaseRules) -> None:
        parameters = Parameters("workqueue", config.parameters, f"node {config.node}")
        self._window_ns, self._by_group = parameters.number("window_ns"), parameters.number("by_group") == 1
        self._me, self._links, self._rules = config.node, dict(config.next_link), rules
        self._all = Storage()
        self._does_with: dict[str, Callable[[Packet, Message, int], None]] = {
            CallName.DELETE: self._delete,
            CallName.EXTEND: self._extend,
            CallName.GIVE_BACK: self._give_back,
        }

    @property
    def kept(self) -> Storage:
        return self._all

    def begin_with(self, kept: Storage) -> None:
        self._all = kept

    def handle(self, event: ClientEvent[Packet]) -> Sequence[ClientEffect[Packet, Handed]]:
        if not isinstance(event, PacketArrived):
            raise LocalProtocolError(f"host {self._me} is the store; clients make calls")
        asked = event.packet
        if asked.is_answer or asked.client not in self._links:
            return [Refuse(event.link, f"call {asked.operation} of {asked.client} is no request of a client")]
        before = self._all.answered.get(asked.client)
        if is_new(asked.operation, before.operation if before else 0):
            before = self._all.answered[asked.client] = self._carry_out(asked, event.now)
        if before is None or before.operation != asked.operation:
            return []  # the client has gone on since
        return [Send(self._links[asked.client], before)]

    def next_deadline(self) -> int | None:
        return None

    def _carry_out(self, asked: Packet, now: int) -> Packet:
        if asked.call == CallName.PUT_MESSAGE:
            return self._put(asked, now)
        self._take_back(now)
        if asked.call == CallName.RECEIVE:
            return self._receive(asked, now)
        message = self._all.messages.get((asked.sender, asked.number))
        if message is None or asked.call not in self._does_with:
            return replace(asked, outcome=REFUSED)
        if not self._rules.is_good(asked.receipt, message.receipt, self._is_held(message, now)):
            return replace(asked, outcome=REFUSED)
        self._does_with[asked.call](asked, message, now)
        return replace(asked, outcome=OK)

    def _put(self, asked: Packet, now: int) -> Packet:
        key, there = self._rules.key_of(asked.group, asked.dedup, self._by_group), self._all.messages
        if asked.dedup > 0:
            waiting = any(message.key == key for message in there.values())
            since_ns = self._all.ids.get(key)
            if since_ns is not None and self._rules.is_seen(since_ns, now, self._window_ns, waiting):
                return replace(asked, outcome=OK, payload=b"")
            self._all.ids[key] = now
        self._all.taken += 1
        there[asked.client, asked.operation] = Message(
            sender=asked.client,
            number=asked.operation,
            group=asked.group,
            key=key,
            body=asked.payload,
            place=self._all.taken,
        )
        return replace(asked, outcome=OK, payload=b"")

    def _receive(self, asked: Packet, now: int) -> Packet:
        """Of one group after the other, in the order of their first messages."""
        groups: dict[int, list[Message]] = {}
        for message in sorted(self._all.messages.values(), key=lambda one: one.place):
            groups.setdefault(message.group, []).append(message)
        found: list[Handed] = []
        for messages in groups.values():
            if not self._rules.may_hand_out([self._is_held(message, now) for message in messages]):
                continue
            for message in messages[: max(0, self._rules.batch_of(asked.most - len(found), len(messages)))]:
                message.until_ns = now + asked.lease_ns
                message.receipt = self._rules.next_receipt(message.receipt)
                found.append(Handed(message.sender, message.number, message.group, message.receipt, message.body))
        return replace(asked, outcome=OK, handed=tuple(found))

    def _is_held(self, message: Message, now: int) -> bool:
        return message.until_ns > 0 and self._rules.is_held(message.until_ns, now)

    def _take_back(self, now: int) -> None:
        """Those whose lease has ended."""
        for message in self._all.messages.values():
            if message.until_ns > 0 and not self._is_held(message, now):
                self._come_back(message)

    def _come_back(self, message: Message) -> None:
        message.until_ns = 0
        place = self._rules.back(message.place, self._all.taken)
        if place > self._all.taken:
            self._all.taken = place
        message.place = place

    def _delete(self, asked: Packet, message: Message, now: int) -> None:
        del self._all.messages[message.sender, message.number]

    def _extend(self, asked: Packet, message: Message, now: int) -> None:
        message.until_ns = self._rules.extended(now, message.until_ns, asked.lease_ns)

    def _give_back(self, asked: Packet, message: Message, now: int) -> None:
        self._come_back(message)
