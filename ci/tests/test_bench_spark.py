"""The benchmark's figures."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from ci.bench_spark import _long_run, bench
from scatterproof.spark.protocol import compared
from scatterproof.spark.tests.material import PROTOCOLS, value
from scatterproof.spec.trace import Kind

# Of calls no run is made longer by repeating it.
each_protocol = pytest.mark.parametrize("protocol", [protocol for protocol in PROTOCOLS if compared(protocol)])


@pytest.mark.slow
@each_protocol
def test_every_figure_is_said_and_counts_events(session: SparkSession, protocol: str) -> None:
    said: list[str] = []
    figures = bench(protocol, 5_000, say=lambda figure: said.append(str(figure)))
    assert said == [str(figure) for figure in figures]
    assert len({figure.what for figure in figures}) == 1 + 3 + 2 * 4
    assert all(figure.events >= 1_000 and figure.events_a_second > 0 for figure in figures)
    for kind in compared(protocol):
        mined = {figure.events for figure in figures if figure.what.startswith(f"long runs ({kind.name})")}
        assert len(mined) == 1


@each_protocol
def test_the_compared_runs_differ_in_what_links_do_alone(protocol: str) -> None:
    without, under = (_long_run(protocol, kind, 20_000) for kind in compared(protocol))
    assert without.header.topology == under.header.topology
    kinds = [[value(trace, row, "kind") for row in trace.rows] for trace in (without, under)]
    assert kinds[0].count(Kind.SUBMITTED) > 100 < kinds[1].count(Kind.SUBMITTED)
    assert kinds[1].count(Kind.LOST) > kinds[0].count(Kind.LOST) == 0
