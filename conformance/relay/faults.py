"""What the relay does to datagrams: a function of (seed, ordered pair, index), so that the decision on one datagram
does not depend on what other processes send, or when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt

from scatterproof.conformance.network.delays import draws
from scatterproof.spec.errors import BadInput

# The delays in ns of a datagram's copies: none when it is lost, two when it is duplicated.
Fate = tuple[int, ...]

MAX_DELAY_NS = 3600 * 10**9
_STREAMS = 5  # draws for one datagram: lost, jitter, held back, duplicated, jitter of the copy
_UNIT = 2.0**-53


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """Cuts `members` off from the other processes.

    start_ns, end_ns: from the relay's start. What arrives at or after the first and strictly before the second does not
        pass.
    members: process numbers.
    """

    start_ns: int
    end_ns: int
    members: frozenset[int]

    def parts(self, source: int, target: int, now_ns: int) -> bool:
        return self.start_ns <= now_ns < self.end_ns and (source in self.members) != (target in self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """What links do to datagrams. Raises BadInput for a number that is out of range.

    loss, duplicate, reorder: shares of the datagrams, 0 to 1.
    delay_ns, jitter_ns: each copy takes the first, plus a uniform whole number from 0 to the second.
    hold_ns: how much longer a reordered datagram is held back.
    """

    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    delay_ns: int = 0
    jitter_ns: int = 0
    hold_ns: int = 0
    partitions: tuple[Partition, ...] = ()

    def __post_init__(self) -> None:
        for name in ("loss", "duplicate", "reorder"):
            share = getattr(self, name)
            if not 0 <= share <= 1:
                raise BadInput(f"{name} is {share:g}; give a share of the datagrams, 0 to 1")
        for name in ("delay_ns", "jitter_ns", "hold_ns"):
            if not 0 <= getattr(self, name) <= MAX_DELAY_NS:
                raise BadInput(f"{name} is {getattr(self, name)}; give 0 to {MAX_DELAY_NS}")


def partition(seed: int, processes: int, earliest_ns: int, latest_ns: int, length_ns: int) -> Partition:
    """One partition, drawn by seed: it begins between earliest_ns and latest_ns, lasts length_ns, and cuts at most half
    of the processes off from the rest."""
    random = Random(f"partition {seed}")
    size = random.randint(1, max(1, processes // 2))
    start = random.randint(earliest_ns, max(earliest_ns, latest_ns))
    members = frozenset(random.sample(range(processes), size))
    return Partition(start_ns=start, end_ns=start + length_ns, members=members)


class Fates:
    """Draws the fates of an ordered pair's datagrams, a block at a time."""

    def __init__(self, seed: int, faults: Faults) -> None:
        self._seed, self._faults = seed, faults

    def __call__(self, pair: int, first: int, count: int) -> Sequence[Fate]:
        """The fates of the pair's datagrams `first` (from 0) to first + count - 1."""
        faults = self._faults
        streams = range(_STREAMS * pair, _STREAMS * (pair + 1))
        drawn = draws(self._seed, streams, first, count)
        lost, held, doubled = (_share(drawn[row], share) for row, share in self._shares())
        span = np.uint64(faults.jitter_ns + 1)
        delays = faults.delay_ns + (drawn[1] % span).astype(np.int64) + np.where(held, faults.hold_ns, 0)
        copies = faults.delay_ns + (drawn[4] % span).astype(np.int64)
        return [
            () if gone else (delay, copy) if twice else (delay,)
            for gone, delay, twice, copy in zip(
                lost.tolist(), delays.tolist(), doubled.tolist(), copies.tolist(), strict=True
            )
        ]

    def _shares(self) -> tuple[tuple[int, float], ...]:
        return (0, self._faults.loss), (2, self._faults.reorder), (3, self._faults.duplicate)


def _share(drawn: npt.NDArray[np.uint64], share: float) -> npt.NDArray[np.bool_]:
    """Which of the draws, as numbers of [0, 1), are below `share`."""
    return (drawn >> np.uint64(11)).astype(np.float64) * _UNIT < share
