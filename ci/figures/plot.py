"""Curves as pictures, SVG and PNG: the same curve gives the same bytes of SVG."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ci.figures.curves import Curve
from ci.figures.scale import ScaleComparison
from scatterproof.spec.files import write_atomically

_SIZE = (7.5, 4.5)
_MARKS = "os^Dvx"


def draw(curve: Curve, folder: Path) -> str:
    """Write NAME.svg and NAME.png; returns the SVG."""
    figure, axes = _axes(curve.title, curve.x_label, curve.y_label)
    for mark, (name, points) in zip(_MARKS, curve.lines.items(), strict=False):
        (line,) = axes.plot([p.x for p in points], [p.mean_us for p in points], label=name, linewidth=1.2)
        for simulated, face in ((True, line.get_color()), (False, "white")):
            those = [p for p in points if p.simulated is simulated]
            axes.plot(
                [p.x for p in those],
                [p.mean_us for p in those],
                mark,
                color=line.get_color(),
                markerfacecolor=face,
                markersize=5,
            )
    if curve.x_log:
        axes.set_xscale("log")
    if curve.y_log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.legend()
    return _write(figure, folder / curve.name)


def draw_scale(found: Sequence[ScaleComparison], folder: Path) -> str:
    """The published figures and ours in one picture: latency_by_scale.svg and .png; returns the SVG."""
    figure, axes = _axes("Latency by number of processes, published and simulated", "processes")
    xs = [row.published.processes for row in found]
    axes.plot(xs, [row.published.chip_us for row in found], "o-", color="C0", label="chip, published")
    axes.plot(xs, [row.chip_us for row in found], "o--", color="C0", markerfacecolor="white", label="chip, ours")
    axes.plot(xs, [row.published.host_us for row in found], "s-", color="C1", label="host, published")
    axes.plot(xs, [row.host_us for row in found], "s--", color="C1", markerfacecolor="white", label="host, ours")
    axes.plot(xs, [row.unordered_us for row in found], ":", color="C2", label="without order, ours")
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.legend()
    return _write(figure, folder / "latency_by_scale")


def _axes(title: str, x_label: str, y_label: str = "mean latency (us)") -> tuple[Figure, Axes]:
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(alpha=0.3)
    return figure, axes


def _write(figure: Figure, stem: Path) -> str:
    with matplotlib.rc_context({"svg.hashsalt": "scatterproof"}):
        for ending, metadata in (("png", {}), ("svg", {"Date": None})):
            content = BytesIO()
            figure.savefig(content, format=ending, dpi=120, metadata=metadata)
            write_atomically(stem.with_suffix(f".{ending}"), content.getvalue())
    return content.getvalue().decode()
