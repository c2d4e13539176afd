"""Link delays as a function of (seed, link, packet index): taking one packet away leaves all other draws alone. And
what the packets of a link wait for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scatterproof.spec.schedule import Delay, Redraw, Schedule

_Numbers = npt.NDArray[np.uint64]

_FIRST = 32  # delays drawn for every link at the start
_WEYL = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def draws(seed: int, links: Sequence[int], first: int, count: int) -> _Numbers:
    """Uniform 64-bit numbers, a row a link: those with index first to first + count - 1 (splitmix64, keyed twice)."""
    # Arrays throughout: they wrap silently, as this arithmetic is meant to, where NumPy scalars warn.
    key = _mix(np.array([seed & (2**64 - 1)], dtype=np.uint64) * _WEYL)
    keys = _mix(key + np.array(links, dtype=np.uint64) * _WEYL)
    index = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    return _mix(keys[:, np.newaxis] + index[np.newaxis, :] * _WEYL)


def _mix(values: _Numbers) -> _Numbers:
    values = (values ^ (values >> np.uint64(30))) * _MIX_1
    values = (values ^ (values >> np.uint64(27))) * _MIX_2
    return values ^ (values >> np.uint64(31))


def delays_of(schedule: Schedule) -> Delays:
    return Delays(schedule.seed, schedule.delays, schedule.redraw or None)


class Delays:
    """The delays of all links, drawn in growing blocks: that is far cheaper than drawing packet by packet.

    drawn[link][index] is the delay of that packet in ns, for the indices drawn so far; `draw_more(link)` doubles their
    number.
    """

    __slots__ = ("_delays", "_redraw", "_seed", "drawn")

    def __init__(self, seed: int, delays: Sequence[Delay], redraw: Redraw | None = None) -> None:
        self._seed, self._delays, self._redraw = seed, delays, redraw
        self.drawn = [[delay.base_ns] * _FIRST for delay in delays]
        self._add_jitter([link for link, delay in enumerate(delays) if delay.jitter_ns], 0)

    def __call__(self, link: int, index: int) -> int:
        """The delay in ns of the packet with this index on the link."""
        while index >= len(self.drawn[link]):
            self.draw_more(link)
        return self.drawn[link][index]

    def draw_more(self, link: int, used: Sequence[int] = ()) -> None:
        """Draw as many again for the link. used: how many of each link's are used; links that have as many drawn, and
        will soon need more, are drawn together, which takes much less time."""
        first = len(self.drawn[link])
        soon = (other for other, count in enumerate(used) if 2 * count > first == len(self.drawn[other]))
        links = {link, *soon}
        for one in links:
            self.drawn[one] += [self._delays[one].base_ns] * first
        self._add_jitter([one for one in links if self._delays[one].jitter_ns], first)

    def _add_jitter(self, links: Sequence[int], first: int) -> None:
        """Replace the constant delays from index `first` on by drawn ones."""
        if links:
            base = np.array([[self._delays[link].base_ns] for link in links], dtype=np.uint64)
            jitter = np.array([[self._delays[link].jitter_ns] for link in links], dtype=np.uint64)
            count = len(self.drawn[links[0]]) - first
            numbers = draws(self._seed, links, first, count)
            if self._redraw is not None:
                kept = np.array([[self._redraw.kept[link]] for link in links])
                anew = draws(self._redraw.seed, links, first, count)
                numbers = np.where(np.arange(first, first + count) < kept, numbers, anew)
            drawn = base + numbers % (jitter + np.uint64(1))
            for link, row in zip(links, drawn.tolist(), strict=True):
                self.drawn[link][first:] = row


def latest_arrivals(links: int, *, fifo: bool) -> list[int]:
    """By link, when its last packet arrives, before the first one. Where links are not FIFO no packet waits for
    another, and the list keeps what it began with."""
    return [0] * links if fifo else _Forgetful([0] * links)


class _Forgetful(list[int]):
    def __setitem__(self, at: Any, value: Any) -> None:
        pass
