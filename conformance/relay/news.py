"""Finds out what gets through for the first time. Programs that resend for ever are at a standstill when nothing new
does.

Contents are told apart by a hash in a bitmap: a few in a hundred new ones may be taken for old ones, which does not
matter where many come. Once a bitmap is a quarter full, everything that gets through counts as new.
"""

from __future__ import annotations

from dataclasses import dataclass

_BITS = 1 << 28
_MOST_LOST = 1 << 17  # contents that are remembered because no copy of them got through


@dataclass(slots=True)
class _Tries:
    """The losses of contents that have never got through.

    latest_ns: when they were last lost.
    gap_ns: how long after the loss before that, 0 if they were lost once.
    """

    latest_ns: int
    gap_ns: int = 0


class News:
    """latest_ns: when new contents last got through, 0 if none have. Times are those of time.monotonic_ns()."""

    def __init__(self) -> None:
        self.latest_ns = 0
        self._seen = bytearray(_BITS // 8)
        self._count = 0
        self._lost: dict[int, _Tries] = {}

    def carried(self, pair: int, contents: bytes, now_ns: int) -> None:
        """These contents got through to the pair's target."""
        key = hash((pair, contents)) & (_BITS - 1)
        place, bit = key >> 3, 1 << (key & 7)
        if not self._seen[place] & bit or self._count >= _BITS // 4:
            self._seen[place] |= bit
            self._count += 1
            self._lost.pop(key, None)
            self.latest_ns = now_ns

    def lost(self, pair: int, contents: bytes, now_ns: int) -> None:
        """These contents were lost on their way to the pair's target."""
        key = hash((pair, contents)) & (_BITS - 1)
        if self._seen[key >> 3] & 1 << (key & 7):
            return
        tries = self._lost.get(key)
        if tries is not None:
            tries.gap_ns, tries.latest_ns = now_ns - tries.latest_ns, now_ns
        elif len(self._lost) < _MOST_LOST:
            self._lost[key] = _Tries(now_ns)

    def is_due(self, now_ns: int) -> bool:
        """Whether a program is still resending contents that have always been lost so far: they were lost at least
        twice, and the next copy is not overdue."""
        return any(each.gap_ns and now_ns - each.latest_ns < 3 * each.gap_ns for each in self._lost.values())
