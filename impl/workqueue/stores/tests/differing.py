"""Gives two stores the same calls, and finds where they first differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scatterproof.impl.workqueue.conftest import Clock
from scatterproof.impl.workqueue.stores.access import Access, GroupMessage, LockedGroup, Opened, Refused, Taken

# A call, and numbers that choose its arguments.
Step = tuple[str, int, int, int]
CALLS = (
    *("open", "open", "send", "send", "send", "close", "close", "flush", "whole"),
    *("next", "next", "take", "read", "read", "pop", "pop", "advance", "finish", "finish", "release", "aside"),
    *("unlock", "clean", "contents", "aside_list"),
)
SERVERS = ("r", "s")
LAST = {5: False, 6: True, 7: True}


@dataclass(slots=True)
class Calling:
    """Makes calls on one store. locks: all that it was ever handed, so that calls with old tokens are made, too."""

    access: Access
    clock: Clock
    locks: list[tuple[int, int]] = field(default_factory=list)

    def __call__(self, step: Step) -> object:
        """What came back; "refused" where it was."""
        name, x, y, z = step
        self.clock.now += 1
        try:
            return getattr(self, "_" + name)(x, y, z)
        except Refused:
            return "refused"

    def _lock(self, x: int) -> tuple[int, int]:
        # Mostly the latest ones; one in eight is of no lock at all.
        group, token = self.locks[-1 - x * x // 8 % len(self.locks)] if self.locks else (1, 1)
        return group, token + (x == 7)

    def _open(self, x: int, y: int, z: int) -> Opened:
        given: dict[str, Any] = {"type": z, "priority": 1 + y % 3, "correlation": f"c{x % 3}", "server": SERVERS[z % 2]}
        opened = self.access.open_group(**given, last=LAST.get(y))
        self.locks.append((opened.group, opened.token))
        return opened

    def _send(self, x: int, y: int, z: int) -> int:
        return self.access.send_message(*self._lock(x), b"%d" % y)

    def _close(self, x: int, y: int, z: int) -> None:
        self.access.close_group(*self._lock(x))

    def _flush(self, x: int, y: int, z: int) -> None:
        self.access.flush_group(*self._lock(x))

    def _whole(self, x: int, y: int, z: int) -> int:
        bodies = [b"%d" % n for n in range(1 + z % 3)]
        given: dict[str, Any] = {"type": z, "priority": 1 + y % 3, "correlation": f"c{x % 3}", "server": SERVERS[z % 2]}
        return self.access.send_group(**given, bodies=bodies, last=LAST.get(y))

    def _next(self, x: int, y: int, z: int) -> LockedGroup | None:
        group = self.access.next_group(SERVERS[x % 2])
        if group is not None:
            self.locks.append((group.group, group.token))
        return group

    def _take(self, x: int, y: int, z: int) -> Taken:
        taken = self.access.take(SERVERS[x % 2], self._lock(y) if z % 3 else None)
        if taken.group is not None:
            self.locks.append((taken.group.group, taken.group.token))
        return taken

    def _read(self, x: int, y: int, z: int) -> GroupMessage | None:
        return self.access.read_message(*self._lock(x))

    def _pop(self, x: int, y: int, z: int) -> None:
        self.access.pop_message(*self._lock(x), 1 + y % 3)

    def _advance(self, x: int, y: int, z: int) -> GroupMessage | None:
        return self.access.pop_and_read(*self._lock(x), 1 + y % 3)

    def _finish(self, x: int, y: int, z: int) -> None:
        self.access.pop_group(*self._lock(x))

    def _release(self, x: int, y: int, z: int) -> None:
        self.access.release_group(*self._lock(x), unread=bool(z % 2))

    def _aside(self, x: int, y: int, z: int) -> None:
        self.access.set_aside_message(*self._lock(x), 1 + y % 3, f"because {z}")

    def _unlock(self, x: int, y: int, z: int) -> int:
        return self.access.unlock_server_groups(SERVERS[x % 2])

    def _clean(self, x: int, y: int, z: int) -> object:
        return self.access.clean(self.clock.now - 2 * x, self.clock.now - 2 * y)

    def _contents(self, x: int, y: int, z: int) -> object:
        return self.access.contents()

    def _aside_list(self, x: int, y: int, z: int) -> object:
        return list(self.access.set_aside(most=x))


def difference(one: Calling, other: Calling, steps: Sequence[Step]) -> tuple[Any, ...] | None:
    """The first step after which the two answered differently, with both answers; None where they never did. In the
    end, all that can still be taken is taken."""
    last: list[Step] = [("unlock", 0, 0, 0), ("unlock", 1, 0, 0)]
    last += [(name, 0, 0, 0) for _ in steps for name in ("next", "contents")]
    for at, step in enumerate([*steps, *last]):
        answers = one(step), other(step)
        if answers[0] != answers[1]:
            return (at, step, *answers)
    return None
