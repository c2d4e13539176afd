"""Our own curves: mean latency against loss rate, beacon interval, hops and skew, best effort and reliable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ci.figures.latency import LatencySetting, Sample, measure
from ci.figures.testbed import TESTBED, TestbedNetwork, network, row
from scatterproof.spec.totalorder.messages import Environment

# How messages are ordered, by the name in the legend. Reliable: environment D, the carriers as those of C.
WAYS = {
    "best effort, beacons always": Environment.B,
    "best effort, beacons when idle": Environment.C,
    "reliable, beacons always": Environment.D8,
    "reliable, beacons when idle": Environment.D9,
}
LOSS_RATES = tuple(10.0**-exponent for exponent in range(8, 0, -1))
INTERVALS_US = (1, 2, 3, 5, 10, 20, 50, 100)
SWITCHES = (1, 2, 3, 4, 5, 7, 9)
SKEWS_US = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True, slots=True)
class Point:
    """A mean latency.

    mean_us: in us.
    simulated: False where it was extrapolated.
    """

    x: float
    mean_us: float
    simulated: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One picture.

    name: of its files.
    lines: points by what the legend calls them.
    """

    name: str
    title: str
    x_label: str
    lines: dict[str, list[Point]]
    y_label: str = "mean latency (us)"
    x_log: bool = True
    y_log: bool = False
    note: str = ""


def by_interval(sample: Sample, ways: Sequence[str], xs: Sequence[float] = INTERVALS_US) -> Curve:
    def setting(x: float, environment: Environment) -> LatencySetting:
        interval = int(x * 1000)
        testbed = replace(TESTBED, beacon_interval_ns=interval, switch_spacing_ns=interval // 2)
        return LatencySetting(network=network(16, testbed), environment=environment, testbed=testbed)

    return Curve(
        name="latency_by_interval",
        title="Latency by beacon interval (16 processes, 3 switches at the most)",
        x_label="beacon interval (us)",
        lines=_lines(xs, ways, setting, sample),
        y_log=True,
    )


def by_hops(sample: Sample, ways: Sequence[str], xs: Sequence[float] = SWITCHES) -> Curve:
    def setting(x: float, environment: Environment) -> LatencySetting:
        return LatencySetting(network=row(int(x)), environment=environment, pairs=((0, 2), (2, 0)))

    return Curve(
        name="latency_by_hops",
        title="Latency by switches on the way (from one end of a row to the other)",
        x_label="switches",
        lines=_lines(xs, ways, setting, sample),
        x_log=False,
    )


def by_skew(sample: Sample, ways: Sequence[str], xs: Sequence[float] = SKEWS_US) -> Curve:
    def setting(x: float, environment: Environment) -> LatencySetting:
        testbed = replace(TESTBED, greatest_offset_ns=int(2000 * x))
        return LatencySetting(network=network(16, testbed), environment=environment, testbed=testbed)

    return Curve(
        name="latency_by_skew",
        title="Latency by clock skew (16 processes, 3 switches at the most)",
        x_label="mean distance of a clock from the true time (us)",
        lines=_lines(xs, ways, setting, sample),
        x_log=False,
    )


def by_loss(sample: Sample, ways: Sequence[str], least_simulated: float, rates: Sequence[float] = LOSS_RATES) -> Curve:
    """Runs with and without loss share seeds, so that they differ by the loss alone. Below `least_simulated` losses are
    too rare to affect each other: latency grows in proportion to their rate, and is extrapolated."""
    there = network(16)
    lines: dict[str, list[Point]] = {}
    for way in ways:
        clean = measure(_lossy(there, WAYS[way], 0.0), sample).mean_us
        simulated = {
            rate: measure(_lossy(there, WAYS[way], rate), sample).mean_us for rate in rates if rate >= least_simulated
        }
        least = min(simulated)
        slope = (simulated[least] - clean) / least
        lines[way] = [
            Point(rate, simulated[rate]) if rate in simulated else Point(rate, clean + slope * rate, False)
            for rate in rates
        ]
    return Curve(
        name="latency_by_loss",
        title="Latency by loss rate (16 processes, 3 switches at the most)",
        x_label="loss rate of every packet on every link",
        lines=lines,
        y_log=True,
        note="Best effort gives no lost message back: its latency is that of the messages that were delivered. At a "
        "rate of 0.1 reliable messages pile up: their latency is that of these runs, and grows with their length. "
        f"Hollow points (below {least_simulated:g}) are extrapolated in proportion from the least rate simulated.",
    )


def _lossy(there: TestbedNetwork, environment: Environment, rate: float) -> LatencySetting:
    return LatencySetting(network=there, environment=environment, loss_rate=rate)


def _lines(
    xs: Sequence[float], ways: Sequence[str], setting: Callable[[float, Environment], LatencySetting], sample: Sample
) -> dict[str, list[Point]]:
    return {way: [Point(x, measure(setting(x, WAYS[way]), sample).mean_us) for x in xs] for way in ways}
