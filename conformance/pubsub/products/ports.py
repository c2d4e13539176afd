"""What ports to brokers share: a run's clients, all in one thread, which read only when asked to."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from scatterproof.conformance.pubsub.products.driving import Deliver
from scatterproof.spec.core import Outcome
from scatterproof.spec.topology import NodeId

ANSWER_S = 10.0
Restart = Callable[[NodeId], Collection[NodeId] | None]


@dataclass(slots=True)
class Client:
    """A client.

    stalled: whether it reads nothing.
    unacknowledged: for each message that it has not acknowledged, what its acknowledgement needs.
    """

    stalled: bool = False
    unacknowledged: list[Any] = field(default_factory=list)


C = TypeVar("C", bound=Client)


class ClientsPort(ABC, Generic[C]):
    """A port over clients of one kind.

    name: the run's, a prefix of all its names at the broker, so that runs do not meet.
    make: makes a client.
    restart: kills the broker, and starts it again; of several, that of the client. Returns which clients were at it,
        None for all.
    """

    def __init__(self, deliver: Deliver, name: str, make: Callable[[], C], restart: Restart | None) -> None:
        self._deliver, self._name, self._make, self._restart = deliver, name, make, restart
        self._ones: dict[NodeId, C] = {}
        self._got = 0

    @abstractmethod
    def drop(self, node: NodeId) -> None:
        """Break the client's connection, where it has one."""

    @abstractmethod
    def is_connected(self, node: NodeId) -> bool: ...

    @abstractmethod
    def _read(self, most_s: float) -> None:
        """Read what has arrived for clients that are not stalled; where nothing has, wait `most_s` seconds at most."""

    def _one(self, node: NodeId) -> C:
        return self._ones.setdefault(node, self._make())

    def _take(self, node: NodeId, topic: str, body: bytes, level: int, again: bool, retain: bool = False) -> None:
        # Repeats do not count: a message that is never acknowledged comes again for ever.
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

    def restart(self, node: NodeId) -> None:
        assert self._restart is not None
        hit = self._restart(node)
        for one in self._ones:
            if hit is None or one in hit:
                self.drop(one)

    def pump(self, quiet_s: float) -> None:
        until = time.monotonic() + quiet_s
        while (left := until - time.monotonic()) > 0:
            before = self._got
            self._read(left)
            if self._got > before:
                until = time.monotonic() + quiet_s
