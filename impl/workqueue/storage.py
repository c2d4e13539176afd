"""What the store keeps: groups with their messages and locks, and the answers to each client's last call. All of it is
durable (Q-DURABLE): it outlives the store's process."""

from __future__ import annotations

from dataclasses import dataclass, field

from scatterproof.impl.workqueue.rules import Lock, Rules, Standing
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT
from scatterproof.spec.workqueue.messages import Packet


@dataclass(slots=True)
class StoredMessage:
    """tries: how often it was handed out."""

    body: bytes
    tries: int = 0


@dataclass(slots=True, kw_only=True)
class StoredGroup:
    """closed: its place among the groups by their ends, 0 before that.
    token: of its last lock.
    server: under which it is locked.
    heard_ns: when its holder last called, by the store's clock.
    handed: how often it was handed out.
    last: the id of the last message sent to it.
    mark: 1 for the last of its correlation, 0 for one that waits for the last; else anything.
    messages: those that were not popped, by id.
    aside: those that were set aside, by id.
    """

    number: int
    type: int
    priority: int
    correlation: int
    server: int
    token: int
    heard_ns: int
    lock: Lock = Lock.SEND
    closed: int = 0
    handed: int = 0
    last: int = 0
    mark: int = ABSENT
    messages: dict[int, StoredMessage] = field(default_factory=dict)
    aside: dict[int, StoredMessage] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """The first message that was not popped, 0 for none."""
        return min(self.messages, default=0)

    def standing(self, rules: Rules) -> Standing:
        return Standing(
            group=self.number,
            correlation=self.correlation,
            priority=self.priority,
            place=rules.place_of(self.number, self.closed),
            lock=self.lock,
            waits=self.mark == 0,
            last=self.mark == 1,
        )


@dataclass(slots=True)
class Storage:
    """begun, closed: how many groups ever were.
    answered: by client, the answer to the last of its calls that was carried out.
    """

    begun: int = 0
    closed: int = 0
    groups: dict[int, StoredGroup] = field(default_factory=dict)
    answered: dict[NodeId, Packet] = field(default_factory=dict)
