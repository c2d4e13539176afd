"""The benchmark's figures."""

from __future__ import annotations

from pyspark.sql import SparkSession

from spark.bench import bench


def test_every_figure_is_said_and_counts_events(session: SparkSession) -> None:
    said: list[str] = []
    figures = bench("totalorder", 5_000, say=lambda figure: said.append(str(figure)))
    assert said == [str(figure) for figure in figures]
    assert len({figure.what for figure in figures}) == 8
    assert all(figure.events >= 1_000 and figure.events_a_second > 0 for figure in figures)
    mined = {figure.events for figure in figures if figure.what.startswith("long runs")}
    assert len(mined) == 1
