"""The page that shows when a failure became likely: the share of failing runs over time, above the failing run."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from scatterproof.conformance.report.look import TABLES, Head, render
from scatterproof.conformance.report.space_time import LONGEST, as_svg, diagram
from scatterproof.fuzz.likelihood import NOTHING_KEPT, Likelihood, Moment
from scatterproof.spec.trace import Kind, schema

_WIDE, _TALL, _LEFT, _TOP = 720, 160, 60, 12
_ABOVE = 60  # rows that are drawn above the jump


def sentence(found: Likelihood) -> str:
    """The result in one sentence."""
    if len(found.moments) < 2:
        return f"{found.clause} is broken by the first thing that the network does"
    low, high = found.jump
    if high.share <= low.share:
        return f"{found.clause} is broken whatever the network does: {_said(low)} {_from(low)} on"
    near = "" if found.whole else ", and there are moments between that were not tried"
    return (
        f"{found.clause} becomes likely at {high.time_ns} ns: {_said(low)} that are drawn anew {_from(low)} on, and"
        f" {_said(high)} {_from(high)} on{near}"
    )


def _said(moment: Moment) -> str:
    return f"{moment.failing} of {moment.runs} runs fail"


def _from(moment: Moment) -> str:
    return "from the beginning" if moment.time_ns == NOTHING_KEPT else f"from {moment.time_ns} ns"


def page(found: Likelihood, name: str, iut: str) -> str:
    """The page as HTML. name: of the schedule. The drawing shows `LONGEST` rows at the most, from shortly above the
    jump on."""
    last = max(found.rows)
    at_jump = 0 if len(found.moments) < 2 else found.jump[1].time_ns
    above = [at for at, row in enumerate(found.trace.rows[: last + 1]) if row[0] < at_jump]
    first = max(0, len(above) - _ABOVE) if last >= LONGEST else 0
    last = min(last, first + LONGEST - 1)
    picture = diagram(found.trace, found.rows, first=first, last=last, beside=_shares(found, first, last))
    return render(
        Path(__file__).with_name("likelihood.html.jinja"),
        Head(title=name, verdict="fail", sentence=sentence(found), about=(f"of {iut}",)),
        styles=TABLES.styles,
        moments=found.moments,
        from_when=_from,
        curve=Markup(curve(found)),
        shown=f"Rows {first} to {last}; the failure is at row {max(found.rows)}.",
        picture=Markup(as_svg(picture, style=None)),
    ).text


def _shares(found: Likelihood, first: int, last: int) -> dict[int, str]:
    """The share of runs that fail from each moment on, by the moment's last row that has no mark of its own."""
    labels, kind = {}, schema(found.trace.header.protocol).index("kind")
    for moment in found.moments:
        rows = [
            at
            for at in range(first, last + 1)
            if found.trace.rows[at][0] == moment.time_ns and found.trace.rows[at][kind] in (Kind.SENT, Kind.ARRIVED)
        ]
        if rows:
            labels[rows[-1]] = f"{moment.share:.0%} fail from here on"
    return labels


def curve(found: Likelihood) -> str:
    """The share from moment to moment, as SVG. Moments are drawn at equal distances: near the jump they may be
    nanoseconds apart, and milliseconds elsewhere."""
    apart = _WIDE / max(1, len(found.moments) - 1)
    points = [(_LEFT + place * apart, _TOP + (1 - moment.share) * _TALL) for place, moment in enumerate(found.moments)]
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}" + "".join(f"L{x:.1f} {y:.1f}" for x, y in points[1:])
    marks = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points)
    ticks = "".join(
        f'<text x="{_LEFT - 6}" y="{_TOP + (1 - share) * _TALL + 4:.0f}" text-anchor="end">{share:.0%}</text>'
        f'<path stroke="#888" stroke-opacity="0.4" d="M{_LEFT} {_TOP + (1 - share) * _TALL:.0f}h{_WIDE}"/>'
        for share in (0.0, 0.5, 1.0)
    )
    times = "".join(
        f'<text class="small" x="{x:.1f}" y="{_TOP + _TALL + 16 + place % 2 * 14}" text-anchor="middle">'
        f"{'beginning' if moment.time_ns == NOTHING_KEPT else f'{moment.time_ns} ns'}</text>"
        for place, ((x, _), moment) in enumerate(zip(points, found.moments, strict=True))
    )
    wide, tall = _LEFT + _WIDE + _LEFT, _TOP + _TALL + 40
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}"'
        f' role="img"><title>share of runs that fail, by the moment from which they are drawn anew</title>'
        f"{ticks}{times}"
        f'<path fill="none" stroke="#b3121d" stroke-width="2" d="{path}"/><g fill="#b3121d">{marks}</g></svg>'
    )
