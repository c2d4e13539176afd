"""Checks as a run goes on find the same by their compiled form as in plain Python, however its rows are cut."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scatterproof.conformance import judge as judging
from scatterproof.conformance.checks.compiled import Kernel
from scatterproof.conformance.checks.online import Broken
from scatterproof.conformance.judge import Judging, all_checks, judge, kernel
from scatterproof.conformance.network import simulator
from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.network.topologies import star
from scatterproof.conformance.protocol import load
from scatterproof.conformance.tests.runs import NETWORKS, conforming, schedule
from scatterproof.conformance.tests.test_simulator import Crashing, Restless, busy
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.impl.totalorder import make_core
from scatterproof.spec import trace_ndjson
from scatterproof.spec.clauses import protocols
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.trace import Row, Trace

TRACES = Path(__file__).parents[1] / "traces"
LONGEST = 40  # rows observed at once
DAMAGED = 3  # of each labelled trace, by exchanging values of two of its rows


def pieces(count: int, draw: Random) -> list[int]:
    cuts = [0]
    while cuts[-1] < count:
        cuts.append(min(count, cuts[-1] + draw.randrange(LONGEST)))
    return cuts


def said(
    trace: Trace, compiled: Kernel | None, cuts: Sequence[int]
) -> tuple[list[int], list[Broken], list[ClauseResult]] | str:
    """What is counted, found and told of a trace that is observed in these pieces; or why it cannot be judged."""
    try:
        one = Judging(trace.header, "here", compiled)
        for begin, end in pairwise(cuts):
            one.observe(trace.rows[begin:end])
        return one.held, one.broken, one.results(trace.rows)
    except BadInput as error:
        return str(error)


def damaged(trace: Trace, draw: Random) -> Trace:
    """Two rows have exchanged their values in some column."""
    rows = [list(row) for row in trace.rows]
    one, other = draw.choices(rows, k=2)
    at = draw.randrange(len(one))
    one[at], other[at] = other[at], one[at]
    return Trace(trace.header, [tuple(row) for row in rows])


@pytest.mark.slow
@pytest.mark.parametrize("protocol", protocols())
def test_compiled_checks_find_in_pieces_what_plain_ones_find_in_the_whole(protocol: str) -> None:
    draw, verdicts, refused = Random(1), set[Verdict](), 0
    for path in sorted(TRACES.glob(f"{protocol}/*/*.ndjson")):
        labelled = trace_ndjson.read(path)
        for trace in (labelled, *(damaged(labelled, draw) for _ in range(DAMAGED if labelled.rows else 0))):
            plain = said(trace, None, [0, len(trace.rows)])
            cuts = pieces(len(trace.rows), draw)
            found = said(trace, kernel(protocol), cuts)
            assert found == said(trace, None, cuts), path.name
            if isinstance(plain, str):
                # Of two flaws, the pieces decide which is met first.
                assert isinstance(found, str), path.name
                refused += 1
            else:
                assert found == plain, path.name
                verdicts |= {result.verdict for result in plain[-1]}
    assert verdicts >= {Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE}
    assert refused > 10


@pytest.mark.parametrize("compiled", [None, kernel("totalorder")], ids=["plain", "compiled"])
def test_a_run_is_judged_as_it_goes_on(compiled: Kernel | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator, "_SHOWN", 10)
    whole = conforming("star", "C")
    one = Judging(whole.header, compiled=compiled)
    trace = simulate(schedule(NETWORKS["star"], "C"), make_core, one.observe)
    assert trace == whole
    assert one.results(trace.rows) == judge(whole)


@pytest.mark.parametrize("make_node", [make_core, Restless, Crashing])
def test_an_observer_is_given_every_row_once_and_changes_none(make_node: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Sequence[Row]] = []
    monkeypatch.setattr(simulator, "_SHOWN", 7)
    trace = simulate(busy(star(3)), make_node, seen.append)

    assert [row for rows in seen for row in rows] == trace.rows
    assert 0 < min(map(len, seen)) <= max(map(len, seen)) < 50
    assert simulate(busy(star(3)), make_node) == trace


class Loaded(Exception):
    """The compiled checks would be loaded."""


def test_judging_takes_compiled_checks_where_they_are_there_and_loading_them_pays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCATTERPROOF_CACHE", str(tmp_path))
    plugin, trace = load("totalorder"), conforming("star", "C")
    fresh = Kernel(all_checks(plugin), plugin.columns)
    monkeypatch.setattr(judging, "kernel", lambda protocol: fresh)
    monkeypatch.setattr(judging, "LOADED_ROWS", 3 * len(trace.rows))
    judging._asked.clear()

    def load_them(*given: object) -> None:
        raise Loaded

    monkeypatch.setattr(Kernel, "run", load_them)
    results = [judge(trace) for _ in range(3)]  # they are not compiled here
    assert results[0] == results[2]
    around = plugin.surroundings(trace.header)
    needed = [part for part in fresh.parts if part.applies(around)]
    assert 0 < len(needed) < len(fresh.parts)
    for part in needed:
        part._mark.touch()
    with pytest.raises(Loaded):
        judge(trace)
    judging._asked.clear()
    assert [judge(trace) for _ in range(2)] == results[:2]
    with pytest.raises(Loaded):
        judge(trace)


def test_judging_needs_no_folder_for_what_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise CannotRun("no folder")

    plugin, trace = load("totalorder"), conforming("star", "C")
    monkeypatch.setattr("scatterproof.conformance.checks.compiled.cache_folder", none)
    monkeypatch.setattr(judging, "kernel", lambda protocol: Kernel(all_checks(plugin), plugin.columns))
    monkeypatch.setattr(judging, "LOADED_ROWS", 0)
    assert {result.verdict for result in judge(trace)} >= {Verdict.PASS}
