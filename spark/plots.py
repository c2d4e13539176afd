"""Pictures for the page of mining, as SVG: the same figures give the same bytes.

Written here, element by element: a plotting library takes longer to load than it takes to judge many a corpus, and
longer to draw these pictures than it takes to judge a million events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_WIDTH, _TALL = 760.0, 300.0  # in pixels; _TALL of curves
_ROW, _CELL, _LETTER, _MARGIN = 20.0, 16.0, 6.4, 12.0
_TITLE = 30.0  # what a picture's heading takes
_DASHES = ("", "7 3", "2 2", "7 2 2 2")
_HUES, _TICKS = 10, 8


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


class _Scale(NamedTuple):
    """Where numbers are: `low` at the pixel `begin`, and `high` at `end`."""

    low: float
    high: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        return self.begin + (value - self.low) / (self.high - self.low) * (self.end - self.begin)

    def at_log(self, value: float) -> float:
        """On a scale whose bounds are logarithms."""
        return self.at(log10(value))

    def decades(self) -> list[int]:
        return list(range(ceil(self.low - 1e-9), floor(self.high + 1e-9) + 1))


def bars(told: Bars) -> str:
    """One stacked bar a place, from top to bottom."""
    left = _MARGIN + _LETTER * max(map(len, told.places))
    most = max(1, *(sum(heights) for heights in zip(*told.stacks.values(), strict=True)))
    power = 10 ** floor(log10(most))
    step = next(step for step in (power // 5, power // 2, power, 2 * power) if step and most / step <= _TICKS)
    ticks = range(0, most + step, step)
    bottom = _TITLE + _ROW * len(told.places)
    scale = _Scale(0, ticks[-1], left, _WIDTH - 4 * _MARGIN)
    parts = [*_across(((scale.at(tick), f"{tick:,}") for tick in ticks), _TITLE, bottom, told.label)]
    ends = [left] * len(told.places)
    for number, heights in enumerate(told.stacks.values()):
        for row, height in enumerate(heights):
            if height:
                wide = scale.at(height) - left
                parts.append(_box(ends[row], _TITLE + _ROW * row + 2, wide, _ROW - 4, _color(number)))
                ends[row] += wide
    for row, place in enumerate(told.places):
        parts.append(_text(left - 4, _TITLE + _ROW * (row + 0.7), place, anchor="end"))
    return _with_legend(told.title, parts, list(told.stacks), bottom + 2.5 * _ROW, lines=False)


def distribution(title: str, label: str, lines: Sequence[PlotLine]) -> str:
    """The share of values at or above each value, in per cent, on logarithmic scales: both ends of a wide range are
    seen."""
    curves = [_beyond(line) for line in lines]
    values, shares = (np.log10(np.concatenate(some)) for some in zip(*curves, strict=True))
    left, bottom = 5 * _MARGIN, _TITLE + _TALL
    across = _Scale(float(values.min()), max(float(values.max()), float(values.min()) + 1), left, _WIDTH - _MARGIN)
    up = _Scale(min(float(shares.min()), 1.0), 2, bottom, _TITLE)
    parts = [*_across(((across.at(n), f"{10.0**n:g}") for n in across.decades()), _TITLE, bottom, label)]
    for decade in up.decades():
        at = up.at(decade)
        parts += [
            _path(f"M{left:.1f} {at:.1f}H{across.end:.1f}", "#ddd"),
            _text(left - 4, at + 4, f"{10.0**decade:g}", anchor="end"),
        ]
    parts.append(_text(_MARGIN, _TITLE + _TALL / 2, "at least so much, per cent", anchor="middle", turned=True))
    for number, (least, beyond) in enumerate(curves):
        x, y = across.at_log(least[0]), up.at_log(beyond[0])
        steps = "".join(
            f"V{up.at_log(share):.1f}H{across.at_log(value):.1f}" for value, share in zip(least, beyond, strict=True)
        )
        parts.append(_path(f"M{x:.1f} {y:.1f}{steps}", _color(number), _dashes(number)))
    return _with_legend(title, parts, [line.name for line in lines], bottom + 2.5 * _ROW, lines=True)


def _beyond(line: PlotLine) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The values, and of each the share at or above it."""
    values, counts = np.array(line.bins, dtype=float).T
    return np.maximum(values, 0.5), 100 * counts[::-1].cumsum()[::-1] / counts.sum()


def matrix(title: str, names: Sequence[str], counts: npt.NDArray[np.int64]) -> str:
    """Counts of pairs; what is 0 is left blank."""
    left, top = 2 * _MARGIN + _LETTER * max(map(len, names)), _TITLE + _ROW
    right, bottom = left + _CELL * len(names), top + _CELL * len(names)
    most = max(2, int(counts.max()))
    parts = [_box(left, top, right - left, bottom - top, "none", "#888")]
    for (first, then), count in np.ndenumerate(counts):
        if count:
            parts.append(_box(left + _CELL * then, top + _CELL * first, _CELL, _CELL, _shade(int(count), most)))
    for number, name in enumerate(names):
        parts.append(_text(left - 4, top + _CELL * (number + 0.75), name, anchor="end"))
        parts.append(_text(left + _CELL * (number + 0.75), bottom + 4, name, anchor="end", turned=True))
    parts.append(_text(_MARGIN, (top + bottom) / 2, "first", anchor="middle", turned=True))
    parts += [_text((left + right) / 2, top - 5, "then", anchor="middle"), _text(right + 2 * _MARGIN, top - 5, "rows")]
    for number in range(ceil(log10(most)) + 1):
        shown = min(10**number, most)
        parts.append(_box(right + 2 * _MARGIN, top + _ROW * number, _CELL, _CELL, _shade(shown, most)))
        parts.append(_text(right + 4 * _MARGIN, top + _ROW * number + _CELL * 0.75, f"{shown:,}"))
    wide = max(right + 14 * _MARGIN, 2 * _MARGIN + 1.3 * _LETTER * len(title))
    return _svg(title, parts, wide, bottom + left)


def _shade(count: int, most: int) -> str:
    return f"hsl(215 70% {88 - 66 * log10(count) / log10(most):.0f}%)"


def _color(number: int) -> str:
    return f"hsl({number * 7 % _HUES * 360 // _HUES} 65% {50 - 16 * (number % 2)}%)"


def _dashes(number: int) -> str:
    return _DASHES[number // _HUES % len(_DASHES)]


def _across(ticks: Iterable[tuple[float, str]], top: float, bottom: float, label: str) -> Iterator[str]:
    """A grid over a horizontal scale, and what it says below."""
    for x, said in ticks:
        yield _path(f"M{x:.1f} {top:.1f}V{bottom:.1f}", "#ddd")
        yield _text(x, bottom + 0.7 * _ROW, said, anchor="middle")
    yield _text(_WIDTH / 2, bottom + 1.6 * _ROW, label, anchor="middle")


def _with_legend(title: str, parts: list[str], names: Sequence[str], top: float, *, lines: bool) -> str:
    wide = 4 * _MARGIN + _LETTER * max(map(len, names))
    columns = max(1, int((_WIDTH - 2 * _MARGIN) / wide))
    for number, name in enumerate(names):
        x, y = _MARGIN + wide * (number % columns), top + _ROW * (number // columns)
        parts.append(
            _path(f"M{x:.1f} {y + 6:.1f}h22", _color(number), _dashes(number))
            if lines
            else _box(x + 8, y, _MARGIN, _MARGIN, _color(number))
        )
        parts.append(_text(x + 28, y + 10, name))
    return _svg(title, parts, _WIDTH, top + _ROW * ceil(len(names) / columns))


def _text(x: float, y: float, said: str, *, anchor: str = "start", turned: bool = False) -> str:
    place = f'transform="translate({x:.1f} {y:.1f}) rotate(-90)"' if turned else f'x="{x:.1f}" y="{y:.1f}"'
    return f'<text {place} text-anchor="{anchor}">{escape(said)}</text>'


def _path(places: str, color: str, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="{places}" fill="none" stroke="{color}"{dashed} stroke-width="1.3"/>'


def _box(x: float, y: float, wide: float, tall: float, color: str, edge: str = "none") -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{tall:.1f}" fill="{color}" stroke="{edge}"/>'


def _svg(title: str, parts: Sequence[str], wide: float, tall: float) -> str:
    size = f'width="{wide:.0f}" height="{tall:.0f}" viewBox="0 0 {wide:.0f} {tall:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">',
            f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="white"/>',
            f'<text x="{wide / 2:.1f}" y="18" text-anchor="middle" font-size="14">{escape(title)}</text>',
            *parts,
            "</svg>",
        ]
    )
