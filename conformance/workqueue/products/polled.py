"""What drivers share for products whose clients ask for one message at a time, and report when they are done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from scatterproof.conformance.workqueue.cases.building import gives_back, receives
from scatterproof.conformance.workqueue.products.history import SECOND_NS, History
from scatterproof.spec.core import Outcome
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.workqueue.messages import CallName, Handed

SENDER, CONSUMERS, GROUPS = 1, (2, 3), (1, 2)
FOREVER_NS = 1_000_000 * SECOND_NS  # a lease that only a recorded event ends

MoveT = TypeVar("MoveT", bound=Enum)


@dataclass(frozen=True, slots=True)
class Step(Generic[MoveT]):
    """A step that is no call. number: of a consumer, or of a group."""

    move: MoveT
    number: int = 0


@dataclass(slots=True)
class Held:
    """A message in hand. handle: the product's. ends_ns: when, in ns of the history, its lease has surely ended."""

    handed: Handed
    handle: Any
    ends_ns: int


@dataclass(frozen=True, slots=True)
class Taken:
    """What a product hands to a consumer."""

    body: bytes
    group: int
    handle: Any


class Driver(ABC):
    """Carries out calls and moves at one queue. A consumer holds at most one message at a time, and makes no call about
    one that it has lost."""

    def __init__(self) -> None:
        self.history = History()
        self._hands: dict[NodeId, Held] = {}
        self._receipts = 0

    # ---------------------------------------------------------------- of the product

    @abstractmethod
    def put(self, call: Call, body: bytes) -> None: ...

    @abstractmethod
    def take(self, node: NodeId, lease_ns: int) -> Taken | None: ...

    @abstractmethod
    def end_one(self, call: Call, held: Held) -> bool:
        """Delete a message, give it back, or extend its lease; returns whether the product did that."""

    @abstractmethod
    def move(self, step: Any) -> None: ...

    def can_take(self, node: NodeId) -> bool:
        """Whether to ask the product. Where it may hand out several messages of a group at a time, a driver asks only
        for groups without a held message."""
        return True

    # ---------------------------------------------------------------- for all

    def make(self, step: Any) -> None:
        if not isinstance(step, Call):
            self.move(step)
        elif step.call == CallName.PUT_MESSAGE:
            self.put(step, self.history.called(step))
            self.history.returned(step.node)
        elif step.call == CallName.RECEIVE:
            self._receive(step)
        elif (held := self.live(step.node)) is not None:
            self.history.called(step)
            done = self.end_one(step, held)
            self.history.returned(step.node, Outcome.OK if done else Outcome.REFUSED, held.handed)
            if step.call == CallName.EXTEND:
                held.ends_ns = self._ends_ns(int(step.arguments["lease_ns"]))
            else:
                self.drop(step.node)

    def live(self, node: NodeId) -> Held | None:
        held = self._hands.get(node)
        return held if held is not None and self.history.now_ns() <= held.ends_ns else None

    def held_groups(self) -> set[int]:
        found = [self.live(node) for node in self._hands]
        return {held.handed.group for held in found if held is not None}

    def drop(self, node: NodeId) -> None:
        """Empty the consumer's hand."""
        self._hands.pop(node, None)

    def lose(self, nodes: Sequence[NodeId]) -> None:
        """Record that these consumers lose what they have in hand, as if they had given it back."""
        for node in nodes:
            if (held := self.live(node)) is not None:
                self.history.called(gives_back(0, node, newest=1))
                self.history.returned(node, about=held.handed)
            self.drop(node)

    def _receive(self, call: Call) -> None:
        if self.live(call.node) is not None or not self.can_take(call.node):
            return
        lease_ns = int(call.arguments["lease_ns"])
        self.history.called(receives(0, call.node, 1, lease_ns))
        taken = self.take(call.node, lease_ns)
        if taken is not None:
            self._receipts += 1
            handed = self.history.handed(call.node, taken.body, self._receipts, taken.group)
            self._hands[call.node] = Held(handed, taken.handle, FOREVER_NS)
        self.history.returned(call.node)
        if taken is not None:
            self._hands[call.node].ends_ns = self._ends_ns(lease_ns)

    def _ends_ns(self, lease_ns: int) -> int:
        return self.history.now_ns() + lease_ns + SECOND_NS // 10
