"""What processes messages: the handler that users write, and what it is told (Q-HANDLER, Q-CONTEXT)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from threading import Lock
from typing import Protocol, TypeAlias

from scatterproof.impl.workqueue.stores.access import GroupMessage, LockedGroup


@dataclass(slots=True)
class Context:
    """retries: how often this message was handed out, this time included: 1 on the first try, over crashes too. A
        group's first message comes with the group, so that a process that dies in `start_group` has tried it.
    group_retries: the same of the group.
    sleep_before_retry_ms: how long to wait before this message, or its group, is tried again; the handler may set it.
    """

    group_retries: int
    sleep_before_retry_ms: float
    retries: int = 0


class Handler(Protocol):
    """One instance for each worker, used by one thread at a time. What it raises ends the worker: its group is given
    back, and is tried again from its first message that was not dequeued."""

    def start_group(self, group: LockedGroup, context: Context) -> None:
        """Before the first message is read."""
        ...

    def process(self, message: GroupMessage, group: LockedGroup, context: Context) -> bool:
        """True: dequeue the message. False: hand it out again. A message may come again after it was processed, when
        something crashed before it was dequeued."""
        ...

    def end_group(self, group: LockedGroup) -> None:
        """After the last message, and also where the group was given up."""
        ...


HandlerFactory: TypeAlias = Callable[[], Handler]


@dataclass(slots=True)
class Counters:
    """What a receiver has done since it was made.

    refused: calls without their lock any more.
    store_errors: calls that the store could not do, or of which the outcome is not known.
    died: workers that a handler's error ended.
    """

    groups_taken: int = 0
    groups_finished: int = 0
    processed: int = 0
    failed: int = 0
    set_aside: int = 0
    died: int = 0
    refused: int = 0
    store_errors: int = 0
    cleaned_groups: int = 0
    cleaned_locks: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False)

    def add(self, name: str, number: int = 1) -> None:
        with self._lock:
            setattr(self, name, getattr(self, name) + number)

    def told(self) -> dict[str, int]:
        """All of them by name, at one moment."""
        with self._lock:
            return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "_lock"}
