"""The page that shows when a failure became likely: the share of failing runs over time, above the failing run."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from scatterproof.conformance.report.look import TABLES, Head, render
from scatterproof.conformance.report.space_time import LONGEST, as_svg, diagram
from scatterproof.fuzz.likelihood import NOTHING_KEPT, Likelihood, Moment
from scatterproof.spec.trace import Kind, schema

_WIDE, _TALL, _LEFT, _TOP = 720, 160, 60, 12


def sentence(found: Likelihood) -> str:
    """What it comes to."""
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
    """name: of the schedule. A drawing of the run shows `LONGEST` rows at the most: those up to the failure."""
    last = max(found.rows)
    first = max(0, last + 1 - LONGEST)
    at_jump = {} if len(found.moments) < 2 else _shares(found, first, last)
    picture = diagram(found.trace, found.rows, first=first, last=last, beside=at_jump)
    return render(
        Path(__file__).with_name("likelihood.html.jinja"),
        Head(title=name, verdict="fail", sentence=sentence(found), about=(f"of {iut}",)),
        styles=TABLES.styles,
        moments=found.moments,
        from_when=_from,
        curve=Markup(curve(found)),
        picture=Markup(as_svg(picture, style=None)),
    ).text


def _shares(found: Likelihood, first: int, last: int) -> dict[int, str]:
    """By row, the last of each moment that has no mark of its own: the share of runs that fail from there on."""
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
    """The share over time, as SVG: a step at each moment that was tried."""
    times = [max(0, moment.time_ns) for moment in found.moments]
    span = max(1, times[-1] - times[0])
    points = [
        (_LEFT + (time_ns - times[0]) / span * _WIDE, _TOP + (1 - moment.share) * _TALL)
        for time_ns, moment in zip(times, found.moments, strict=True)
    ]
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in points[1:])
    marks = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points)
    ticks = "".join(
        f'<text x="{_LEFT - 6}" y="{_TOP + (1 - share) * _TALL + 4:.0f}" text-anchor="end">{share:.0%}</text>'
        f'<path stroke="#888" stroke-opacity="0.4" d="M{_LEFT} {_TOP + (1 - share) * _TALL:.0f}h{_WIDE}"/>'
        for share in (0.0, 0.5, 1.0)
    )
    ends = "".join(
        f'<text x="{x}" y="{_TOP + _TALL + 18}" text-anchor="{anchor}">{time_ns} ns</text>'
        for x, anchor, time_ns in ((_LEFT, "start", times[0]), (_LEFT + _WIDE, "end", times[-1]))
    )
    wide, tall = _LEFT + _WIDE + 12, _TOP + _TALL + 26
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}"'
        f' role="img"><title>share of runs that fail, by the moment from which they are drawn anew</title>{ticks}{ends}'
        f'<path fill="none" stroke="#b3121d" stroke-width="2" d="{path}"/><g fill="#b3121d">{marks}</g></svg>'
    )
