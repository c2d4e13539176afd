"""The Spark session of spark/tests, for the benchmarks of corpora and mining."""

from __future__ import annotations

from scatterproof.spark.tests.conftest import session

__all__ = ["session"]
