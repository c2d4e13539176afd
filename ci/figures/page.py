"""The page of all figures, results/figures/index.html: one static file that asks for nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from ci.figures.curves import Curve
from ci.figures.scale import HEADINGS, ScaleComparison, worst
from ci.figures.testbed import TESTBED
from scatterproof.spec.files import write_atomically

DIFFERENCES = (
    "The published latency goes on rising with several processes a server. Ours does not: in the model, processes that "
    "share a server do not get in each other's way.",
    "The published latency does not rise from 4 to 8 processes, ours does: it waits for the slowest of more clocks.",
    "The last column is environment C to the letter: a beacon only where no data went for a whole interval. A "
    "sender that has just sent waits up to two intervals for its own next beacon, so that an idle network is slower "
    "than with beacons at every interval, which is how the other columns are measured.",
    "Reliable delivery costs a round trip only where something was lost: by the corrected rule a receiver outside the "
    "loss state delivers below the barrier, without waiting for acknowledgements. The published one waits for them.",
)


def write_page(
    folder: Path,
    rows: Sequence[ScaleComparison],
    scale_svg: str,
    curves: Sequence[tuple[Curve, str]],
    messages: int,
    not_measured: Sequence[str],
) -> Path:
    templates = Environment(
        loader=PackageLoader("ci.figures", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = templates.get_template("page.html.j2").render(
        headings=HEADINGS,
        rows=rows,
        worst=worst(rows),
        messages=messages,
        scale_svg=_inline(scale_svg),
        parameters=[(name.replace("_", " "), value) for name, value in asdict(TESTBED).items()],
        differences=DIFFERENCES,
        curves=[(curve, _inline(svg)) for curve, svg in curves],
        not_measured=not_measured,
    )
    path = folder / "index.html"
    write_atomically(path, text.encode())
    return path


def _inline(svg: str) -> str:
    """The picture without the prologue that only a file of its own may have."""
    return re.sub(r"^.*?(?=<svg)", "", svg, count=1, flags=re.DOTALL)
