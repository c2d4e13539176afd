"""Pictures for the page of mining, as SVG: the same figures give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import NamedTuple

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

_SIZE = (8.0, 4.2)
_STYLES = ("-", "--", ":", "-.")


class Bars(NamedTuple):
    """stacks: by name, the height at each place."""

    title: str
    label: str
    places: Sequence[str]
    stacks: Mapping[str, Sequence[int]]


class PlotLine(NamedTuple):
    """bins: (least value, how many), in order."""

    name: str
    bins: Sequence[tuple[int, int]]


def bars(told: Bars, name: str) -> str:
    """One stacked bar a place, from top to bottom."""
    figure = Figure(figsize=(_SIZE[0], 1.6 + 0.3 * len(told.places)), layout="constrained")
    axes: Axes = figure.add_subplot()
    left = np.zeros(len(told.places))
    colors = matplotlib.colormaps["tab20"]
    for number, (stack, heights) in enumerate(told.stacks.items()):
        axes.barh(told.places, heights, left=left, label=stack, color=colors(number % 20))
        left += np.array(heights)
    axes.invert_yaxis()
    axes.set_title(told.title)
    axes.set_xlabel(told.label)
    axes.legend(fontsize="small")
    return _svg(figure, name)


def distribution(title: str, label: str, lines: Sequence[PlotLine], name: str) -> str:
    """How many of a hundred are at or above each value; both ends of a range of many sizes can be seen so."""
    figure = Figure(figsize=_SIZE)
    # A layout that is sought, and numbers set as formulas, would take longer than mining a million events.
    figure.subplots_adjust(left=0.08, right=0.98, bottom=0.13, top=0.92)
    axes: Axes = figure.add_subplot()
    for number, line in enumerate(lines):
        values = np.array([least for least, _ in line.bins], dtype=float)
        counts = np.array([count for _, count in line.bins], dtype=float)
        beyond = 100 * counts[::-1].cumsum()[::-1] / counts.sum()
        style = _STYLES[number // 10 % len(_STYLES)]
        axes.step(np.maximum(values, 0.5), beyond, style, where="pre", label=line.name, linewidth=1.3)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.set_title(title)
    axes.set_xlabel(label)
    axes.set_ylabel("at least so much, per cent")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="lower left", ncols=1 + len(lines) // 12)
    return _svg(figure, name)


def matrix(title: str, names: Sequence[str], counts: npt.NDArray[np.int64], name: str) -> str:
    """Counts of pairs; what is 0 is left blank."""
    side = 2.0 + 0.28 * len(names)
    figure = Figure(figsize=(side + 1, side), layout="constrained")
    axes: Axes = figure.add_subplot()
    shown = np.ma.masked_equal(counts, 0)
    image = axes.imshow(shown, norm=LogNorm(vmin=1, vmax=max(2, int(counts.max()))), cmap="viridis_r")
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize="small")
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_xlabel("then")
    axes.set_ylabel("first")
    axes.set_title(title)
    figure.colorbar(image, ax=axes, shrink=0.6, label="rows")
    return _svg(figure, name)


def _svg(figure: Figure, name: str) -> str:
    """name: apart from those of the other pictures on a page, so that what they define for themselves is apart."""
    content = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(content, format="svg", metadata={"Date": None})
    text = content.getvalue()
    return text[text.index("<svg") :]
