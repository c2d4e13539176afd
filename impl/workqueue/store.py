"""The store: carries out each call of the access interface in one step, and answers it again when it is asked again.

Clauses: all that begin with Q-, but those of receivers and products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from scatterproof.impl.workqueue.rules import Lock, Rules
from scatterproof.impl.workqueue.selection import selected
from scatterproof.impl.workqueue.storage import Storage, StoredGroup, StoredMessage
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
from scatterproof.spec.workqueue.messages import GIVEN, NONE, CallName, Handed, Packet

OK, REFUSED = int(Outcome.OK), int(Outcome.REFUSED)


class Store:
    """The sans-IO node. kept: what outlives it, for the node that follows it (`begin_with`)."""

    def __init__(self, config: NodeConfig, rules: Rules) -> None:
        self._me, self._links, self._rules = config.node, dict(config.next_link), rules
        self._most_tries = Parameters("workqueue", config.parameters, f"node {config.node}").number("most_tries")
        self._all = Storage()
        self._does: dict[str, Callable[[Packet, int], Packet]] = {
            CallName.OPEN_GROUP: self._open_group,
            CallName.NEXT_GROUP: self._next_group,
            CallName.UNLOCK_SERVER_GROUPS: self._unlock_server_groups,
            CallName.CLEAN: self._clean,
        }
        self._does_with: dict[str, Callable[[Packet, StoredGroup], Packet]] = {
            CallName.SEND_MESSAGE: self._send_message,
            CallName.CLOSE_GROUP: self._close_group,
            CallName.FLUSH_GROUP: self._flush_group,
            CallName.READ_MESSAGE: self._read_message,
            CallName.POP_MESSAGE: self._pop_message,
            CallName.POP_GROUP: self._pop_group,
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
        if self._rules.is_new(asked.operation, before.operation if before else 0):
            before = self._all.answered[asked.client] = self._carry_out(asked, event.now)
        if before is None or before.operation != asked.operation:
            return []  # the client has gone on since
        return [Send(self._links[asked.client], before)]

    def next_deadline(self) -> int | None:
        return None

    def _carry_out(self, asked: Packet, now: int) -> Packet:
        if asked.call in GIVEN:
            return replace(self._does[asked.call](asked, now), outcome=OK)
        group = self._all.groups.get(asked.group)
        if group is None or asked.call not in self._does_with:
            return replace(asked, outcome=REFUSED)
        if not self._rules.is_current(asked.token, group.token if group.lock else 0):
            return replace(asked, outcome=REFUSED)
        group.heard_ns = now
        return self._does_with[asked.call](asked, group)

    def _open_group(self, asked: Packet, now: int) -> Packet:
        self._all.begun += 1
        group = StoredGroup(
            number=self._all.begun,
            type=asked.type,
            priority=asked.priority,
            correlation=asked.correlation,
            server=asked.server,
            token=self._rules.next_token(0),
            heard_ns=now,
            mark=asked.last,
        )
        self._all.groups[group.number] = group
        return replace(asked, group=group.number, token=group.token)

    def _next_group(self, asked: Packet, now: int) -> Packet:
        number = selected((group.standing(self._rules) for group in self._all.groups.values()), self._rules)
        if number is None:
            return replace(asked, group=NONE)
        group = self._all.groups[number]
        group.lock = self._rules.lock_when_handed(Lock.RECEIVE)
        group.server, group.heard_ns = asked.server, now
        group.token = self._rules.next_token(group.token)
        group.handed = self._rules.tries_with(group.handed)
        return replace(
            asked,
            group=number,
            token=group.token,
            type=group.type,
            priority=group.priority,
            correlation=group.correlation,
            retries=group.handed,
        )

    def _unlock_server_groups(self, asked: Packet, now: int) -> Packet:
        freed = [
            group
            for group in self._all.groups.values()
            if self._rules.is_freed(group.lock is Lock.RECEIVE, group.server == asked.server)
        ]
        for group in freed:
            group.lock = Lock.NONE
        return replace(asked, released=len(freed))

    def _clean(self, asked: Packet, now: int) -> Packet:
        """Each group by itself; of what a dead sender leaves nothing remains (Q-CRASH-SEND)."""
        locked = [group for group in self._all.groups.values() if group.lock]
        removed = [one for one in locked if one.lock is Lock.SEND and self._is_dead(one, asked.senders_before)]
        released = [one for one in locked if one.lock is Lock.RECEIVE and self._is_dead(one, asked.receivers_before)]
        for group in removed:
            del self._all.groups[group.number]
        for group in released:
            group.lock = Lock.NONE
        return replace(asked, removed=len(removed), released=len(released))

    def _is_dead(self, group: StoredGroup, before_ns: int) -> bool:
        return self._rules.is_dead(group.heard_ns, before_ns)

    def _send_message(self, asked: Packet, group: StoredGroup) -> Packet:
        if group.lock is not Lock.SEND:
            return replace(asked, outcome=REFUSED)
        group.last = self._rules.next_message(group.last)
        group.messages[group.last] = StoredMessage(asked.payload)
        return replace(asked, outcome=OK, message=group.last, payload=b"")

    def _close_group(self, asked: Packet, group: StoredGroup) -> Packet:
        if group.lock is not Lock.SEND:
            return replace(asked, outcome=REFUSED)
        self._all.closed += 1
        group.closed, group.lock = self._all.closed, Lock.NONE
        if not group.messages:  # an empty group is none
            del self._all.groups[group.number]
        return replace(asked, outcome=OK)

    def _flush_group(self, asked: Packet, group: StoredGroup) -> Packet:
        if group.lock is not Lock.SEND:
            return replace(asked, outcome=REFUSED)
        del self._all.groups[group.number]
        return replace(asked, outcome=OK)

    def _read_message(self, asked: Packet, group: StoredGroup) -> Packet:
        if group.lock is not Lock.RECEIVE:
            return replace(asked, outcome=REFUSED)
        first = group.first
        if first and self._rules.sets_aside(group.messages[first].tries, self._most_tries):
            group.aside[first] = group.messages.pop(first)
            first = group.first
        if first == 0:
            return replace(asked, outcome=OK, message=NONE)
        message = group.messages[first]
        message.tries = self._rules.tries_with(message.tries)
        return replace(asked, outcome=OK, message=first, retries=message.tries, payload=message.body)

    def _pop_message(self, asked: Packet, group: StoredGroup) -> Packet:
        first = group.first
        # What is not there cannot be popped, whatever the rule says.
        there = asked.message in group.messages
        if group.lock is not Lock.RECEIVE or not there or not self._rules.may_pop(asked.message, first):
            return replace(asked, outcome=REFUSED)
        del group.messages[asked.message]
        return replace(asked, outcome=OK)

    def _pop_group(self, asked: Packet, group: StoredGroup) -> Packet:
        if group.lock is not Lock.RECEIVE or not self._rules.is_finished(len(group.messages)):
            return replace(asked, outcome=REFUSED)
        del self._all.groups[group.number]
        return replace(asked, outcome=OK)
