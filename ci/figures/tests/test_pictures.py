"""Curves, their tables and pictures, and the page."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from ci.figures.curves import Curve, Point, by_hops, by_loss
from ci.figures.latency import Sample
from ci.figures.make import told
from ci.figures.page import write_page
from ci.figures.plot import draw, draw_scale
from ci.figures.published import Published
from ci.figures.scale import ScaleComparison

CURVE = Curve(
    name="by_nothing",
    title="Latency by <nothing>",
    x_label="nothing",
    lines={"one": [Point(0.001, 2.0, False), Point(1.0, 3.25)], "other": [Point(0.001, 1.0), Point(1.0, 1.5)]},
    note="A note & more.",
)
ROW = ScaleComparison(published=Published(2, 4.0, 5.0), chip_us=5.0, host_us=4.0, unordered_us=2.0, idle_us=9.0)


def test_points_that_were_extrapolated_stand_in_brackets() -> None:
    assert told(CURVE).splitlines()[2:] == [
        "| nothing | 0.001 | 1 |",
        "|---|---|---|",
        "| one | (2.00) | 3.25 |",
        "| other | 1.00 | 1.50 |",
    ]


def test_a_curve_is_drawn_as_svg_and_png_with_the_same_bytes_of_svg_every_time(tmp_path: Path) -> None:
    first = draw(CURVE, tmp_path)

    assert draw(CURVE, tmp_path) == first == (tmp_path / "by_nothing.svg").read_text()
    assert (tmp_path / "by_nothing.png").read_bytes().startswith(b"\x89PNG")
    assert ElementTree.fromstring(first).tag.endswith("svg")


def test_the_page_holds_table_pictures_and_what_was_not_measured_and_asks_for_nothing(tmp_path: Path) -> None:
    drawn = [(CURVE, draw(CURVE, tmp_path))]
    page = write_page(tmp_path, [ROW], draw_scale([ROW], tmp_path), drawn, 100, ["the rest"]).read_text()

    assert page.count("<svg") == 2
    assert "<?xml" not in page
    assert "<td>+25%</td>" in page
    assert "Latency by &lt;nothing&gt;" in page
    assert "Not measured: the rest." in page
    assert not any(word in page for word in ("<script", "<link", "src=", "@import", "url(http"))


def test_loss_below_the_least_simulated_rate_is_extrapolated_in_proportion() -> None:
    curve = by_loss(Sample(60, 16), ["best effort, beacons always"], 0.05, rates=(0.001, 0.01, 0.1))
    (low, middle, high) = curve.lines["best effort, beacons always"]

    assert [point.simulated for point in (low, middle, high)] == [False, False, True]
    assert (high.mean_us - low.mean_us) / 99 == pytest.approx((high.mean_us - middle.mean_us) / 90)
    assert low.mean_us < middle.mean_us < high.mean_us


def test_every_way_has_a_line_with_a_point_for_every_x() -> None:
    curve = by_hops(Sample(8, 4), ["best effort, beacons always", "reliable, beacons when idle"], (1, 3))

    assert [[point.x for point in points] for points in curve.lines.values()] == [[1, 3], [1, 3]]
    assert all(near.mean_us < far.mean_us for near, far in curve.lines.values())
