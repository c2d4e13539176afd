"""What ports to brokers share: the clients of a run, all in one thread, which read when they are told to."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from scatterproof.conformance.pubsub.products.driving import Deliver
from scatterproof.spec.core import Outcome
from scatterproof.spec.topology import NodeId

ANSWER_S = 10.0


@dataclass(slots=True)
class Client:
    """stalled: it reads nothing. unacknowledged: what acknowledges each message that it was delivered."""

    stalled: bool = False
    unacknowledged: list[Any] = field(default_factory=list)


C = TypeVar("C", bound=Client)


class ClientsPort(ABC, Generic[C]):
    """name: of the run, a prefix of all names at the broker, so that runs do not meet. restart: kill the broker, and
    start it again."""

    def __init__(self, deliver: Deliver, name: str, make: Callable[[], C], restart: Callable[[], None] | None) -> None:
        self._deliver, self._name, self._make, self._restart = deliver, name, make, restart
        self._ones: dict[NodeId, C] = {}
        self._got = 0

    @abstractmethod
    def drop(self, node: NodeId) -> None:
        """Its connection, where it has one, ends without a word."""

    @abstractmethod
    def is_connected(self, node: NodeId) -> bool: ...

    @abstractmethod
    def _read(self, most_s: float) -> None:
        """Read what has arrived for clients that are not stalled; wait `most_s` seconds at the most, where nothing
        has."""

    def _one(self, node: NodeId) -> C:
        return self._ones.setdefault(node, self._make())

    def _take(self, node: NodeId, topic: str, body: bytes, level: int, again: bool, retain: bool = False) -> None:
        # A message without an acknowledgement is sent again for ever.
        self._got += not again
        self._deliver(node, topic, body, level, again, retain)

    def disconnect(self, node: NodeId) -> Outcome:
        self.drop(node)
        return Outcome.OK

    def stall(self, node: NodeId, stalled: bool) -> None:
        if node in self._ones:
            self._ones[node].stalled = stalled

    def has_unacknowledged(self, node: NodeId) -> bool:
        return bool(self._ones[node].unacknowledged)

    def restart(self) -> None:
        assert self._restart is not None
        self._restart()
        for node in self._ones:
            self.drop(node)

    def pump(self, quiet_s: float) -> None:
        until = time.monotonic() + quiet_s
        while (left := until - time.monotonic()) > 0:
            before = self._got
            self._read(left)
            if self._got > before:
                until = time.monotonic() + quiet_s
