"""What mining tells beside verdicts: histograms, coverage, the page, and commands that replay what it found."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from html import unescape
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import msgspec
import numpy as np
import pytest

from scatterproof.conformance.broadcast.tests import runs as broadcast
from scatterproof.conformance.judge import columns_of
from scatterproof.conformance.measures import BINS, with_hops
from scatterproof.conformance.protocol import gauge, load
from scatterproof.conformance.tests import runs as totalorder
from scatterproof.conformance.tests.agreement import beginning
from scatterproof.conformance.verdict import Verdict
from scatterproof.spark.coverage import coverage
from scatterproof.spark.judge_part import judge_part
from scatterproof.spark.layout import RunClass, events_path, runs_path
from scatterproof.spark.measured import Histogram, Measured, together
from scatterproof.spark.mine import mine
from scatterproof.spark.plots import Bars, PlotLine, bars, distribution, matrix
from scatterproof.spark.read import parts_of
from scatterproof.spec.trace import Kind, Trace
from scatterproof.spec.trace_parquet import write_runs

TRACES = {
    "totalorder": [totalorder.conforming("star", variant) for variant in ("C", "D9", "C")],
    "broadcast": [broadcast.conforming(level, "plain", 3) for level in ("urb", "lcb", "pl")],
}


def numbered(traces: list[Trace]) -> list[Trace]:
    return [Trace(msgspec.structs.replace(trace.header, run=run), trace.rows) for run, trace in enumerate(traces)]


def written(folder: Path, traces: list[Trace]) -> Path:
    write_runs(events_path(folder, 0), runs_path(folder, 0), numbered(traces))
    return folder


@pytest.mark.parametrize("protocol", TRACES)
def test_measures_of_a_part_are_the_sums_of_those_of_its_runs_however_it_is_cut(tmp_path: Path, protocol: str) -> None:
    (part,) = parts_of(written(tmp_path, TRACES[protocol]))
    found = gauge(protocol)
    assert found is not None
    assert found.actions is not None
    expected = Measured(protocol)
    for trace in TRACES[protocol]:
        run = found.kernel.run(with_hops(load(trace.header.protocol).surroundings(trace.header), trace.header))
        run.feed(columns_of(trace))
        expected.add_run(trace.header, run, found)
    for batch_rows in (7, 1 << 16):
        measured = Measured(protocol)
        assert len(list(judge_part(part, batch_rows, measured))) == len(TRACES[protocol])
        assert measured.histograms() == expected.histograms()
        assert (measured.pairs == expected.pairs).all()
        assert measured.taken.sum() == part.rows
    deliveries = sum(trace.column("kind").count(Kind.DELIVERED) for trace in TRACES[protocol])
    latencies = [one for one in expected.histograms() if one.measure == "delivery_latency"]
    assert sum(one.count for one in latencies) == deliveries
    assert len({one.carrier for one in latencies}) == len(
        {found.carrier(t.header.parameters) for t in TRACES[protocol]}
    )


def test_quantiles_are_the_bins_that_hold_them() -> None:
    told = Histogram(measure="m", carrier="c", group="g", unit="ns", count=10, bins=((1, 5), (4, 4), (96, 1)))
    assert [told.quantile(share) for share in (0.1, 0.5, 0.51, 0.9, 0.91, 1.0)] == [1, 1, 4, 4, 96, 96]


@pytest.mark.parametrize("protocol", TRACES)
def test_the_page_stands_alone_and_every_violation_has_its_command(tmp_path: Path, protocol: str) -> None:
    traces = [beginning(trace, len(trace.rows)) for trace in TRACES[protocol]]
    at = traces[1].column("kind").index(Kind.DELIVERED)
    rows = list(traces[1].rows)
    rows.insert(at, rows[at])  # delivered twice
    traces[1] = Trace(traces[1].header, rows)
    folder = written(tmp_path / "a corpus", traces)
    result = mine(folder)
    assert not result.holds
    table = result.table()
    assert {row["run"] for row in table.to_pylist()} == {1}
    for row in table.to_pylist():
        words = shlex.split(row["replay"])
        assert words == ["scatterproof", "replay", "--corpus", str(folder), "--run", str(row["run"])]
    page = (folder / "mined" / "report.html").read_text()
    assert "http://" not in page
    assert "default-src 'none'; style-src 'sha256-" in page
    assert page.count("<script") == 1
    assert '<strong id="verdict" class="fail">fail</strong>' in page
    assert page.index('<td class="verdict fail">') < page.index('<td class="verdict pass">')
    first = table.to_pylist()[0]
    assert shlex.join(
        ["scatterproof", "explore", str(folder), "--run", "1", "--row", str(first["position"])]
    ) in unescape(page)
    for clause in result.clauses:
        assert clause.clause in page
    for sentence in table.column("sentence").to_pylist():
        assert sentence.split(":")[0] in page
    assert "<svg" not in page
    assert page.count('<img src="data:image/svg+xml;base64,') >= 4
    assert result.coverage is not None
    assert result.coverage.actions.counts["Deliver"] == sum(
        trace.column("kind").count(Kind.DELIVERED) for trace in traces
    )


def of_class(kind: str, family: str, faults: bool, imported: bool = False, **parameters: int | str) -> RunClass:
    return RunClass(kind, family, faults, False, imported, msgspec.json.encode(parameters))


def test_coverage_tells_what_is_in_no_run() -> None:
    runs = {
        of_class("A", "star", False, environment="A", x_ns=5): 2,
        of_class("A", "star", False, environment="A", x_ns=7): 3,
        of_class("A", "chain", False, environment="A", x_ns=0): 1,
        of_class("B", "star", True, environment="B"): 1,
    }
    clauses = [
        ("TO-ONE", 3, {Verdict.PASS: 2}),
        ("TO-TWO", 0, {Verdict.INCONCLUSIVE: 1}),
        ("TO-THREE", 0, {Verdict.NOT_APPLICABLE: 3}),
    ]
    measured = Measured("totalorder")
    measured.taken[0] = 4
    measured.pairs[0, 1] = 2
    told = coverage("totalorder", runs, clauses, measured)
    assert (told.clauses.counts, told.clauses.never) == ({"TO-ONE": 3}, ("TO-TWO",))
    assert told.classes["family"].counts == {"star": 6, "chain": 1}
    assert "fat_tree" in told.classes["family"].never
    assert {"A", "B"} <= set(told.classes["kind"].counts)
    assert "C" in told.classes["kind"].never
    assert told.classes["failures"].never == ("some",)
    assert told.classes["x_ns"].counts == {"above 0": 5, "0": 1, "not given": 1}
    assert told.pairs["faults and environment"].counts == {"none and A": 6, "some and B": 1}
    assert set(told.pairs["faults and environment"].never) == {"none and B", "some and A"}
    assert told.actions.counts == {"Submit": 4}
    assert "Scatter" in told.actions.never
    assert told.action_pairs.counts == {"Submit then Scatter": 2}
    assert "Scatter then Submit" in told.action_pairs.never
    assert told.never > 0


def test_kinds_and_families_that_do_not_suit_each_other_are_not_missed() -> None:
    told = coverage(
        "totalorder", {of_class(kind, "star", False): 1 for kind in ("A", "D9")}, [], Measured("totalorder")
    )
    never = told.pairs["kind and family"].never
    assert "A and one_way" in never
    assert "D9 and one_way" not in never  # nobody can answer there
    assert "D9 and chain" in never


def test_of_imported_runs_only_what_occurs_is_known() -> None:
    told = coverage("totalorder", {of_class("ndjson", "imported", False, imported=True): 1}, [], Measured("totalorder"))
    assert told.classes["kind"].never == told.classes["family"].never == ()


def test_pictures_are_the_same_bytes_for_the_same_figures_and_well_formed() -> None:
    draw = Random(1)
    lines = [PlotLine(f"line <{n}>", [(at, draw.randrange(1, 99)) for at in range(0, 900, 90)]) for n in range(12)]
    names = [f"a{n}" for n in range(5)]
    counts = np.array([[draw.randrange(3) for _ in names] for _ in names])
    pictures: list[Callable[[], str]] = [
        lambda: distribution("times", "ns", lines),
        lambda: bars(Bars("b", "many", names, {"k": [1] * 5, "l": [0, 2, 0, 2, 0]})),
        lambda: matrix("m", names, counts),
    ]
    for picture in pictures:
        text = picture()
        assert text == picture()
        ElementTree.fromstring(text)


def elements(picture: str, tag: str) -> list[dict[str, str]]:
    return [dict(one.attrib) for one in ElementTree.fromstring(picture).iter(f"{{http://www.w3.org/2000/svg}}{tag}")]


def words(picture: str) -> list[str]:
    return ["".join(one.itertext()) for one in ElementTree.fromstring(picture).iter() if one.tag.endswith("}text")]


def test_a_distribution_falls_from_a_hundred_by_the_share_of_each_bin() -> None:
    picture = distribution("times", "ns", [PlotLine("a", [(10, 90), (1000, 9), (10_000, 1)]), PlotLine("b", [(10, 1)])])
    assert {"times", "ns", "a", "b", "10", "100", "1000", "10000", "1"} <= set(words(picture))
    grid = {
        float(one["d"].partition(" ")[2].partition("H")[0])
        for one in elements(picture, "path")
        if one["stroke"] == "#ddd" and "H" in one["d"]
    }
    hundred, ten, one = sorted(grid)[:3]
    assert hundred - ten == ten - one < 0
    first, *_ = (one["d"] for one in elements(picture, "path") if one["stroke"].startswith("hsl"))
    at, rest = first.split("V")[0], first.split("V")[1:]
    begin, (a, b, c) = float(at[1:].split()[0]), [tuple(map(float, part.split("H"))) for part in rest]
    assert (a, b[0], c[0]) == ((hundred, begin), ten, one)
    assert b[1] - begin == pytest.approx(2 * (c[1] - b[1]), abs=0.2)


def test_bars_are_stacked_by_their_heights() -> None:
    picture = bars(Bars("b", "many", ["p", "q"], {"k": [1, 0], "l": [3, 2]}))
    assert {"b", "many", "p", "q", "k", "l", "0", "4"} <= set(words(picture))
    *shown, _, _ = elements(picture, "rect")[1:]
    (x1, w1), (x2, w2), (x3, w3) = [(float(one["x"]), float(one["width"])) for one in shown]
    assert [w2 / w1, w3 / w1] == pytest.approx([3, 2], rel=0.01)
    assert [x2, x3] == pytest.approx([x1 + w1, x1], abs=0.2)
    assert [one["fill"] for one in shown] == [shown[0]["fill"], *[shown[1]["fill"]] * 2]
    assert shown[0]["y"] == shown[1]["y"] < shown[2]["y"]


def test_a_matrix_has_a_cell_for_each_pair_that_occurs_the_darker_the_more() -> None:
    picture = matrix("m", ["f", "g"], np.array([[0, 5], [1000, 0]]))
    _, _, few, many, *_ = elements(picture, "rect")
    assert float(few["x"]) > float(many["x"])
    assert float(few["y"]) < float(many["y"])
    assert [words(picture).count(name) for name in ("f", "g", "first", "then", "1,000")] == [2, 2, 1, 1, 1]
    light = [int(one["fill"].split()[-1].rstrip("%)")) for one in (few, many)]
    assert light[0] > light[1]
    assert len(elements(picture, "rect")) == 2 + 2 + 4  # and the scale, from 1 to 1,000


def test_packing_loses_nothing() -> None:
    draw = Random(5)
    every, expected = [], Measured("broadcast")
    for name in ("level urb", "level pl"):
        one = Measured("broadcast")
        for measure in one._measures:
            counts = np.array([[draw.choice((0, 0, 3)) for _ in range(BINS)] for _ in measure.groups])
            one.bins[name, measure.name] = expected.bins[name, measure.name] = counts
        one.taken[3] = one.pairs[1, 2] = 7
        every.append(one.packed())
    found = together("broadcast", every)
    assert found.histograms() == expected.histograms()
    assert (found.taken[3], found.pairs[1, 2], found.pairs.sum()) == (14, 14, 14)
    assert together("broadcast", [*every, *every]).histograms()[0].count == 2 * found.histograms()[0].count
