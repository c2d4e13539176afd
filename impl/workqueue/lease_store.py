"""The store of a queue with leases: carries out each call in one step, and answers it again when it is asked again.

Clauses: Q-LEASE, Q-LEASE-ALL, Q-DEDUP, Q-RECEIPT, Q-ACK-ORDER, Q-CONSUMER-ONE, Q-BATCH, Q-AS-PUT,
Q-DEADLETTER.
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
from scatterproof.spec.workqueue.messages import MOST_ENTRIES, CallName, Handed, Packet

OK, REFUSED = int(Outcome.OK), int(Outcome.REFUSED)
Key = tuple[int, int]


@dataclass(slots=True, kw_only=True)
class Message:
    """sender, number: the client that put it, and the number of that call. entry: which of the call's messages.
    place: in the queue.
    until_ns: when its lease ends, 0 for none.
    receipt: of its last lease, 0 where it was never handed out. holder: whose lease that is.
    tries: how often it was handed out before it was set aside. aside: whether it was.
    """

    sender: NodeId
    number: int
    entry: int
    group: int
    key: Key
    body: bytes
    place: int
    until_ns: int = 0
    receipt: int = 0
    holder: NodeId = -1
    tries: int = 0
    aside: bool = False


@dataclass(slots=True)
class LeaseStorage:
    """taken: how many messages were taken that are no copies, and places given to those that came back elsewhere.
    messages: those that are there, by sender, number and entry.
    ids: since when each deduplication id is known.
    answered: by client, the answer to the last of its calls that was carried out.
    consumer, until_ns: who is the one consumer, and until when unless it asks again.
    """

    taken: int = 0
    messages: dict[tuple[NodeId, int, int], Message] = field(default_factory=dict)
    ids: dict[Key, int] = field(default_factory=dict)
    answered: dict[NodeId, Packet] = field(default_factory=dict)
    consumer: NodeId = -1
    until_ns: int = 0


class LeaseStore:
    """The sans-IO node. kept: what outlives it, for the node that follows it (`begin_with`)."""

    def __init__(self, config: NodeConfig, rules: LeaseRules) -> None:
        parameters = Parameters("workqueue", config.parameters, f"node {config.node}")
        self._window_ns, self._by_group = parameters.number("window_ns"), parameters.number("by_group") == 1
        self._back_order, self._batches = parameters.number("back_order"), parameters.number("batches")
        self._one_consumer = parameters.number("one_consumer") == 1
        self._most_tries = parameters.number("most_tries")
        self._me, self._links, self._rules = config.node, dict(config.next_link), rules
        self._all = LeaseStorage()
        self._does_with: dict[str, Callable[[Packet, Message, int], None]] = {
            CallName.DELETE: self._delete,
            CallName.EXTEND: self._extend,
            CallName.GIVE_BACK: self._give_back,
        }

    @property
    def kept(self) -> LeaseStorage:
        return self._all

    def begin_with(self, kept: LeaseStorage) -> None:
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
        if asked.call in (CallName.RECEIVE, CallName.RECEIVE_ASIDE):
            return self._receive(asked, now)
        if asked.call == CallName.CANCEL:
            return self._cancel(asked)
        if asked.call not in self._does_with:
            return replace(asked, outcome=REFUSED)
        return self._use(asked, now)

    def _use(self, asked: Packet, now: int) -> Packet:
        """delete, extend, give_back."""
        found = [(self._all.messages.get((one.sender, one.number, one.entry)), one.receipt) for one in asked.about]
        # Who is no consumer any more does not hold back what the next one begins with.
        may = asked.call != CallName.EXTEND or not self._one_consumer or self._all.consumer == asked.client
        good = [
            one is not None
            and (may or one.aside)
            and self._rules.is_good(receipt, one.receipt, self._is_held(one, now))
            for one, receipt in found
        ]
        if self._batches == 1 and len(good) > 1 and not self._rules.is_whole(good):
            good = [False] * len(good)
        for (message, _), is_good in zip(found, good, strict=True):
            if message is not None and is_good:
                self._does_with[asked.call](asked, message, now)
        return replace(asked, outcome=OK if any(good) else REFUSED, **_done(good))

    def _put(self, asked: Packet, now: int) -> Packet:
        count = min(asked.most, MOST_ENTRIES)
        for entry in range(1, count + 1):
            body = asked.payload if entry == 1 else b"%b/%d" % (asked.payload, entry)
            self._put_one(asked, entry, body, now)
        return replace(asked, outcome=OK, payload=b"", **_done([True] * count))

    def _put_one(self, asked: Packet, entry: int, body: bytes, now: int) -> None:
        dedup = asked.dedup + entry - 1 if asked.dedup > 0 else 0
        key, there = self._rules.key_of(asked.group, dedup, self._by_group), self._all.messages
        if dedup > 0:
            waiting = any(message.key == key for message in there.values())
            since_ns = self._all.ids.get(key)
            if since_ns is not None and self._rules.is_seen(since_ns, now, self._window_ns, waiting):
                return
            self._all.ids[key] = now
        self._all.taken += 1
        there[asked.client, asked.operation, entry] = Message(
            sender=asked.client,
            number=asked.operation,
            entry=entry,
            group=asked.group,
            key=key,
            body=body,
            place=self._all.taken,
        )

    def _receive(self, asked: Packet, now: int) -> Packet:
        """Of one group after the other, in the order of their first messages."""
        aside = asked.call == CallName.RECEIVE_ASIDE
        if self._one_consumer and not aside:
            is_own = self._all.consumer == asked.client
            if not self._rules.is_left(is_own, self._rules.is_held(self._all.until_ns, now)):
                return replace(asked, outcome=OK)
            self._all.until_ns = max(now + asked.lease_ns, self._all.until_ns if is_own else 0)
            self._all.consumer = asked.client
        groups: dict[int, list[Message]] = {}
        for message in sorted(self._all.messages.values(), key=lambda one: one.place):
            if message.aside == aside:
                groups.setdefault(message.group, []).append(message)
        found: list[Handed] = []
        for messages in groups.values():
            for message in self._free(messages, aside, asked.most - len(found), now):
                message.until_ns = now + asked.lease_ns
                message.receipt = self._rules.next_receipt(message.receipt)
                message.holder = asked.client
                message.tries += int(not aside)
                found.append(_handed(message))
        return replace(asked, outcome=OK, handed=tuple(found))

    def _free(self, messages: list[Message], aside: bool, room: int, now: int) -> list[Message]:
        """What may be handed out of a group, as others of it are set aside."""
        held = [self._is_held(message, now) for message in messages]
        if self._back_order > 0:
            messages = [message for message, is_held in zip(messages, held, strict=True) if not is_held]
        elif not self._rules.may_hand_out(held):
            return []
        self._set_aside([one for one in messages if self._rules.is_tried_out(one.tries, self._most_tries)])
        messages = [one for one in messages if one.aside == aside]
        return messages[: max(0, self._rules.batch_of(room, len(messages)))]

    def _set_aside(self, messages: list[Message]) -> None:
        for message in messages:
            message.aside = True

    def _cancel(self, asked: Packet) -> Packet:
        for message in sorted(self._all.messages.values(), key=lambda one: one.place):
            if message.until_ns > 0 and message.holder == asked.client:
                self._come_back(message)
        if self._all.consumer == asked.client:
            self._all.until_ns = 0
        return replace(asked, outcome=OK)

    def _is_held(self, message: Message, now: int) -> bool:
        return message.until_ns > 0 and self._rules.is_held(message.until_ns, now)

    def _take_back(self, now: int) -> None:
        """Those whose lease has ended, one after the other as they ended."""
        for message in sorted(self._all.messages.values(), key=lambda one: (one.until_ns, one.place)):
            if message.until_ns > 0 and not self._is_held(message, now):
                self._come_back(message)

    def _come_back(self, message: Message) -> None:
        message.until_ns = 0
        place = self._rules.back(message.place, self._all.taken, self._back_order == 2)
        if place > self._all.taken:
            self._all.taken = place
        message.place = place

    def _delete(self, asked: Packet, message: Message, now: int) -> None:
        del self._all.messages[message.sender, message.number, message.entry]

    def _extend(self, asked: Packet, message: Message, now: int) -> None:
        message.until_ns = self._rules.extended(now, message.until_ns, asked.lease_ns)
        if self._all.consumer == asked.client and not message.aside:
            self._all.until_ns = max(self._all.until_ns, message.until_ns)

    def _give_back(self, asked: Packet, message: Message, now: int) -> None:
        self._come_back(message)


def _handed(message: Message) -> Handed:
    return Handed(message.sender, message.number, message.group, message.receipt, message.body, message.entry)


def _done(good: Sequence[bool]) -> dict[str, int]:
    """What the answer to a batch says of its entries."""
    return {"carried": sum(1 << at for at, one in enumerate(good) if one)} if len(good) > 1 else {}
