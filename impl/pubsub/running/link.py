"""A neighbour: what it wants and was told, and the messages that it has not acknowledged, over connections that come
and go. Each message is taken once, in order: the two compare their numbers when they connect again.

Clauses: PS-ROUTE, PS-ORDER, PS-NEIGHBOUR, PS-COVER.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from scatterproof.impl.pubsub.channels.flow_rules import FLOW_RULES
from scatterproof.impl.pubsub.rules import RULES, Rules
from scatterproof.impl.pubsub.running.ledger import KeptLink, Ledger
from scatterproof.impl.pubsub.running.messages import (
    VERSION,
    Data,
    Frame,
    Hello,
    Taken,
    Want,
    encode,
)
from scatterproof.impl.pubsub.running.outbox import Outbox
from scatterproof.impl.pubsub.running.propagation import Propagation
from scatterproof.impl.pubsub.translation.messages import Carried


@dataclass(frozen=True, slots=True)
class Unheard:
    serial: int
    carried: Carried
    plain: bool
    groups: tuple[str, ...]


class Link:
    """peer: the neighbour's name.
    outbox: of the connection, None while there is none.
    dialled: whether this appliance made the connection.
    behind: the neighbour and the appliances behind it, also while it is away: guaranteed messages wait for them on this
        link alone.
    wants: what it wants.
    due: the wants that are still to be answered.
    seen: the wants that it has told on this connection so far, None once it has told all.
    """

    def __init__(self, peer: str, ledger: Ledger, rules: Rules = RULES) -> None:
        self.peer, self._ledger, self._rules = peer, ledger, rules
        self.propagation = Propagation(rules)
        self.outbox: Outbox | None = None
        self.dialled = False
        self.behind: set[str] = set()
        self.wants: set[Want] = set()
        self.due: set[Want] = set()
        self.seen: set[Want] | None = None
        self._unheard: deque[Unheard] = deque()
        self._incarnation, self._is_full = "", False
        self._last = self.taken = self._told_taken = 0

    @classmethod
    def kept(cls, peer: str, kept: KeptLink, messages: dict[int, Carried], ledger: Ledger) -> Link:
        made = cls(peer, ledger)
        made._incarnation, made.taken, made._last = kept.incarnation, kept.taken, kept.sent
        made.wants, made.behind = set(kept.wants), {peer}
        for serial, plain, groups, number in kept.unheard:
            messages[number].queues += 1
            made._unheard.append(Unheard(serial, messages[number], plain, tuple(groups.split())))
        return made

    def hello(self, name: str, incarnation: str, names: list[str], *, all_paths: bool) -> bytes:
        first = self._unheard[0].serial if self._unheard else self._last + 1
        return encode(Hello(VERSION, name, incarnation, names, self._incarnation, self.taken, first, all_paths))

    def begin(self, outbox: Outbox, hello: Hello, incarnation: str, now_ns: int) -> None:
        """A connection has come, with the neighbour's first frame. What it has not taken is sent again."""
        self.outbox, self.behind = outbox, set(hello.names)
        self.due, self.seen = set(), set()
        if hello.incarnation != self._incarnation:
            self._incarnation, self.taken = hello.incarnation, hello.first - 1
            self._ledger.note("put_link", self.peer, self._incarnation, self.taken)
        self._told_taken = -1  # what was told last may not have come
        if hello.known == incarnation:
            self.heard(hello.taken)
        for one in self._unheard:
            self._write(one.serial, one.carried, one.plain, one.groups, now_ns)

    def end(self) -> None:
        self.outbox, self.seen = None, None
        self.due = set()

    def say(self, frame: Frame) -> None:
        if self.outbox is not None:
            self.outbox.write(encode(frame))

    def send(self, carried: Carried, plain: bool, groups: tuple[str, ...], now_ns: int) -> None:
        if not self._rules.is_guaranteed(carried.message.level):
            if self.outbox is not None and self.outbox.keeps_up():
                self._write(0, carried, plain, groups, now_ns)
            elif self.outbox is not None:
                listed = list(groups)
                self.outbox.wait(
                    carried, (plain, groups), lambda one: encode(Data(0, plain, listed, now_ns, one.message))
                )
            return
        self._last += 1
        self._unheard.append(Unheard(self._last, carried, plain, groups))
        number = self._ledger.hold(carried)
        self._ledger.note("put_unheard", self.peer, self._last, plain, " ".join(groups), number)
        self._ledger.note("put_sent", self.peer, self._last)
        self._write(self._last, carried, plain, groups, now_ns)

    def _write(self, serial: int, carried: Carried, plain: bool, groups: tuple[str, ...], now_ns: int) -> None:
        if self.outbox is not None:
            self.outbox.write(encode(Data(serial, plain, list(groups), now_ns, carried.message)))

    def is_full(self, high: int, low: int) -> bool:
        """Whether a connected neighbour has too many guaranteed messages to acknowledge; then publishers wait
        (PS-FLOW)."""
        waits = len(self._unheard) if self.outbox is not None else 0
        self._is_full = FLOW_RULES.is_on(self._is_full, waits, high, low)
        return self._is_full

    def heard(self, serial: int) -> None:
        """The neighbour has taken all messages up to this number."""
        while self._unheard and self._unheard[0].serial <= serial:
            one = self._unheard.popleft()
            self._ledger.note("drop_unheard", self.peer, one.serial)
            self._ledger.release(one.carried)

    def takes(self, serial: int) -> bool:
        """Whether a message with this number is new; it counts as taken then. 0 is best effort, and always new."""
        if not serial:
            return True
        if not self._rules.is_next(serial, self.taken):
            return False
        self.taken = serial
        return True

    def tell_taken(self) -> None:
        """Acknowledge what was taken since the last acknowledgement."""
        if self.taken != self._told_taken:
            self._told_taken = self.taken
            self._ledger.note("put_link", self.peer, self._incarnation, self.taken)
            self.say(Taken(self.taken))
