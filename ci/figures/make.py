"""All figures at once: measured, drawn and put on one page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from ci.figures.curves import (
    INTERVALS_US,
    SKEWS_US,
    SWITCHES,
    WAYS,
    Curve,
    by_hops,
    by_interval,
    by_loss,
    by_skew,
)
from ci.figures.latency import Sample
from ci.figures.page import write_page
from ci.figures.plot import draw, draw_scale
from ci.figures.recovery import PROCESSES, by_recovery
from ci.figures.scale import HEADINGS, compare, worst
from scatterproof.spec.files import write_atomically

FOLDER = Path("results/figures")
NO_RECOVERY = "recovery time against scale for a failed host, link and switch: the core does not recover yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is measured.

    row, point, loss: samples for a row of the comparison, a point of a curve, and a point of the loss curve.
    least_loss: the lowest loss rate that is simulated.
    every: one of this many points of a curve is measured.
    failures: how often each failure is tried.
    """

    row: Sample
    point: Sample
    loss: Sample
    least_loss: float
    every: int
    failures: int


QUICK = Effort(row=Sample(100, 64), point=Sample(60, 16), loss=Sample(120, 16), least_loss=1e-3, every=2, failures=1)
FULL = Effort(
    row=Sample(1_500, 256), point=Sample(800, 64), loss=Sample(1_500, 64), least_loss=1e-4, every=1, failures=4
)


def make(effort: Effort, say: Callable[[str], None], folder: Path = FOLDER) -> Path:
    """Measure and draw everything into `folder`, saying each row of the comparison as it is done; returns the page."""
    say("| " + " | ".join(HEADINGS) + " |")
    say("|" + "---|" * len(HEADINGS))
    rows = compare(effort.row, lambda row: say("| " + " | ".join(row.cells()) + " |"))
    say(f"\n{worst(rows)}\n")
    ways, every = tuple(WAYS), effort.every
    steps: tuple[Callable[[], Curve], ...] = (
        lambda: by_loss(effort.loss, ways, effort.least_loss),
        lambda: by_interval(effort.point, ways, INTERVALS_US[::every]),
        lambda: by_hops(effort.point, ways, SWITCHES[::every]),
        lambda: by_skew(effort.point, ways, SKEWS_US[::every]),
    )
    curves: list[Curve] = []
    for step in steps:
        curves.append(step())
        say(told(curves[-1]))
    recovery = by_recovery(effort.failures, PROCESSES[::every])
    if recovery is not None:
        curves.append(recovery)
        say(told(recovery))
    drawn = [(curve, draw(curve, folder)) for curve in curves]
    not_measured = () if recovery is not None else (NO_RECOVERY,)
    found = {"scale": [asdict(row) for row in rows], "curves": [asdict(curve) for curve in curves]}
    write_atomically(folder / "figures.json", msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    return write_page(folder, rows, draw_scale(rows, folder), drawn, effort.row.messages, not_measured)


def told(curve: Curve) -> str:
    """The curve as a table; a point in brackets was extrapolated."""
    xs = sorted({point.x for points in curve.lines.values() for point in points})
    lines = [
        f"{curve.title}: {curve.y_label}",
        "",
        "| " + " | ".join([curve.x_label, *(f"{x:g}" for x in xs)]) + " |",
    ]
    lines.append("|" + "---|" * (len(xs) + 1))
    for name, points in curve.lines.items():
        known = {p.x: f"{p.mean_us:.2f}" if p.simulated else f"({p.mean_us:.2f})" for p in points}
        cells = [known.get(x, "-") for x in xs]
        lines.append("| " + " | ".join([name, *cells]) + " |")
    return "\n".join(lines) + "\n"
