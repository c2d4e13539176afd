"""What tasks measure in the same pass as judging: small histograms by carrier, and counts of actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
import numpy as np
import numpy.typing as npt

from scatterproof.conformance.checks.compiled import CompiledRun
from scatterproof.conformance.checks.interpreted import InterpretedRun
from scatterproof.conformance.measures import BINS, Gauge, least_of
from scatterproof.conformance.protocol import gauge
from scatterproof.spec.trace import Header

Ints = npt.NDArray[np.int64]


class Histogram(msgspec.Struct, frozen=True, kw_only=True):
    """One measure over the runs of one carrier and one group.

    unit: of its values.
    count: how many values.
    bins: (least value, how many) of the bins that are not empty. A bin ends at the next one's least value, at most a
        quarter above its own.
    """

    measure: str
    carrier: str
    group: str
    unit: str
    count: int
    bins: tuple[tuple[int, int], ...]

    def quantile(self, share: float) -> int:
        """The least value of the bin that holds it."""
        before = 0
        for least, count in self.bins:
            before += count
            if before >= share * self.count:
                return least
        return self.bins[-1][0] if self.bins else 0


class Filled(msgspec.Struct, frozen=True):
    """What is not 0 in an array, as bytes: there are some hundred of these a file, and objects would need ten times as
    much memory.

    places: in the flattened array, 64 bits each.
    counts: what is there, 64 bits each.
    """

    places: bytes
    counts: bytes


class Packed(msgspec.Struct, frozen=True):
    """`Measured` as tasks return it.

    bins: carrier, measure, and what its bins hold.
    """

    bins: tuple[tuple[str, str, Filled], ...]
    taken: list[int]
    pairs: Filled


class Measured:
    """Sums over runs, of one file or of all. bins: by carrier and measure, a row a group. taken, pairs: by action."""

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol
        self.bins: dict[tuple[str, str], Ints] = {}
        self.taken: Ints = np.zeros(0, np.int64)
        self.pairs: Ints = np.zeros((0, 0), np.int64)
        found = gauge(protocol)
        self._measures = () if found is None else found.measures
        if found is not None and found.actions is not None:
            count = len(found.actions.names)
            self.taken, self.pairs = np.zeros(count, np.int64), np.zeros((count, count), np.int64)

    def packed(self) -> Packed:
        return Packed(
            bins=tuple((*key, _filled(bins)) for key, bins in self.bins.items()),
            taken=self.taken.tolist(),
            pairs=_filled(self.pairs),
        )

    def add(self, other: Packed) -> None:
        groups = {measure.name: len(measure.groups) for measure in self._measures}
        for carrier, measure, filled in other.bins:
            bins = self.bins.setdefault((carrier, measure), np.zeros((groups[measure], BINS), np.int64))
            _pour(filled, bins)
        self.taken += np.array(other.taken, np.int64)
        _pour(other.pairs, self.pairs)

    def add_run(self, header: Header, run: CompiledRun | InterpretedRun, found: Gauge) -> None:
        carrier = found.carrier(header.parameters)
        for measure in found.measures:
            self._add_bins((carrier, measure.name), run.state(measure.check.name, "bins").reshape(-1, BINS))
        if found.actions is not None:
            name = found.actions.check.name
            self.taken += run.state(name, "taken")
            self.pairs += run.state(name, "pairs").reshape(self.pairs.shape)

    def _add_bins(self, key: tuple[str, str], bins: Ints) -> None:
        if key in self.bins:
            self.bins[key] += bins
        else:
            self.bins[key] = bins.copy()

    def histograms(self) -> tuple[Histogram, ...]:
        """Those that hold something, by measure, carrier and group."""
        return tuple(
            _histogram(measure.name, carrier, group, measure.unit, self.bins[carrier, measure.name][number])
            for measure in self._measures
            for carrier in sorted(carrier for carrier, name in self.bins if name == measure.name)
            for number, group in enumerate(measure.groups)
            if self.bins[carrier, measure.name][number].any()
        )


def _filled(counts: Ints) -> Filled:
    flat = counts.ravel()
    places = np.flatnonzero(flat)
    return Filled(places.tobytes(), flat[places].tobytes())


def _pour(filled: Filled, counts: Ints) -> None:
    counts.reshape(-1)[np.frombuffer(filled.places, np.int64)] += np.frombuffer(filled.counts, np.int64)


def together(protocol: str, parts: Iterable[Packed]) -> Measured:
    every = Measured(protocol)
    for part in parts:
        every.add(part)
    return every


def _histogram(measure: str, carrier: str, group: str, unit: str, bins: Ints) -> Histogram:
    filled: Mapping[int, int] = {number: int(bins[number]) for number in np.flatnonzero(bins).tolist()}
    return Histogram(
        measure=measure,
        carrier=carrier,
        group=group,
        unit=unit,
        count=int(bins.sum()),
        bins=tuple((least_of(number), count) for number, count in filled.items()),
    )
