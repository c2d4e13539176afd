"""One Spark session for all tests of this folder: it takes seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from scatterproof.spark.session import session_on


@pytest.fixture(scope="session")
def session() -> Iterator[SparkSession]:
    with session_on("local[2]") as session:
        yield session
