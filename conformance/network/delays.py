"""Link delays as a function of (seed, link, packet index): taking one packet away leaves all other draws alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spec.schedule import Delay

_BLOCK = 1024
_WEYL = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def draws(seed: int, link: int, first: int, count: int) -> npt.NDArray[np.uint64]:
    """Uniform 64-bit numbers number first to first + count - 1 of this seed and link (splitmix64, keyed twice)."""
    # Arrays throughout: they wrap silently, as this arithmetic is meant to, where NumPy scalars warn.
    keys = np.array([seed & (2**64 - 1), link], dtype=np.uint64) * _WEYL
    key = _mix(_mix(keys[:1]) + keys[1:])
    index = np.arange(first, first + count, dtype=np.uint64)
    return _mix(key + (index + np.uint64(1)) * _WEYL)


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    values = (values ^ (values >> np.uint64(30))) * _MIX_1
    values = (values ^ (values >> np.uint64(27))) * _MIX_2
    return values ^ (values >> np.uint64(31))


class LinkDelays:
    """The delays of one link, drawn in blocks: a vectorised draw costs a small part of one a packet."""

    __slots__ = ("_base", "_block", "_first", "_jitter", "_link", "_seed")

    def __init__(self, seed: int, link: int, delay: Delay) -> None:
        self._seed, self._link = seed, link
        self._base, self._jitter = delay.base_ns, delay.jitter_ns
        self._first = -_BLOCK
        self._block: list[int] = []

    def __call__(self, index: int) -> int:
        """Delay in ns of the packet with this index on the link."""
        if self._jitter == 0:
            return self._base
        at = index - self._first
        if not 0 <= at < _BLOCK:
            self._first = index - index % _BLOCK
            block = draws(self._seed, self._link, self._first, _BLOCK) % np.uint64(self._jitter + 1)
            self._block = block.tolist()
            at = index - self._first
        return self._base + self._block[at]
