"""The Spark session of the tests of mining, lent."""

from __future__ import annotations

from scatterproof.spark.tests.conftest import session

__all__ = ["session"]
