"""Latency by number of processes: the published figures and ours, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ci.figures import published
from ci.figures.latency import LatencySetting, Sample, measure
from ci.figures.published import Published
from ci.figures.testbed import TESTBED, Testbed, network
from scatterproof.spec.totalorder.messages import Environment

HEADINGS = (
    "processes",
    "chip, published",
    "chip, ours",
    "error",
    "host, published",
    "host, ours",
    "error",
    "without order, ours",
    "chip, beacons when idle, ours",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleComparison:
    """Mean latencies in us.

    chip_us, host_us: with a beacon at every interval, without and with the detour over a host.
    unordered_us: to arrival.
    idle_us: with barriers on data too, and beacons only where no data went (environment C).
    """

    published: Published
    chip_us: float
    host_us: float
    unordered_us: float
    idle_us: float

    @property
    def chip_error(self) -> float:
        return self.chip_us / self.published.chip_us - 1

    @property
    def host_error(self) -> float:
        return self.host_us / self.published.host_us - 1

    def cells(self) -> tuple[str, ...]:
        theirs = self.published
        return (
            str(theirs.processes),
            f"{theirs.chip_us:.2f}",
            f"{self.chip_us:.2f}",
            f"{self.chip_error:+.0%}",
            f"{theirs.host_us:.2f}",
            f"{self.host_us:.2f}",
            f"{self.host_error:+.0%}",
            f"{self.unordered_us:.2f}",
            f"{self.idle_us:.2f}",
        )


def compare(
    sample: Sample,
    say: Callable[[ScaleComparison], None],
    rows: Sequence[Published] | None = None,
    testbed: Testbed = TESTBED,
) -> list[ScaleComparison]:
    """Measure every published row again, with this sample; `say` gets each row when it is done."""
    found: list[ScaleComparison] = []
    for row in published.read() if rows is None else rows:
        there = network(row.processes, testbed)
        chip = measure(LatencySetting(network=there, environment=Environment.B, testbed=testbed), sample)
        host = measure(LatencySetting(network=there, environment=Environment.B, testbed=testbed, detour=True), sample)
        idle = measure(LatencySetting(network=there, environment=Environment.C, testbed=testbed), sample)
        found.append(
            ScaleComparison(
                published=row,
                chip_us=chip.mean_us,
                host_us=host.mean_us,
                unordered_us=chip.unordered_us,
                idle_us=idle.mean_us,
            )
        )
        say(found[-1])
    return found


def worst(found: Sequence[ScaleComparison]) -> str:
    """The largest errors in one sentence."""
    chip = max((row.chip_error for row in found), key=abs)
    host = max((row.host_error for row in found), key=abs)
    return f"largest relative error: chip {chip:+.0%}, host {host:+.0%}"
