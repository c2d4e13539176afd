"""One tool over one corpus, in a process of its own: python -m ci.mining.tools TOOL CORPUS WARM TRIES

Prints one line of JSON: the seconds and CPU seconds of the try that took least CPU time, the seconds until the tool was
ready (imports, session, compilation: a pass over the small corpus WARM), and the violations counted, by clause.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ci.mining.material import networks
from ci.processes import cpu_seconds
from scatterproof.spark.java_home import java_home_for_spark
from scatterproof.spark.jobs import run_tasks
from scatterproof.spark.judge_part import count_part, warm
from scatterproof.spark.layout import MINED
from scatterproof.spark.mine import mine
from scatterproof.spark.protocol import benchmark_of
from scatterproof.spark.read import parts_of
from scatterproof.spark.session import MASTER, session_on
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import schema

# Rows at a time for tools that keep whole tables in memory. They find the same in pieces, as no run is split over
# files, and larger pieces made them no faster.
ROWS_AT_ONCE = 4_000_000

Counts = dict[str, int]
Pass = Callable[[Path], Counts]


class FastestTry(msgspec.Struct, frozen=True):
    """The try that took least CPU time.

    cpu_seconds: of this process and all that it started.
    ready_seconds: until the first try could begin.
    counts: violations by clause; None for a tool that judges nothing.
    """

    seconds: float
    cpu_seconds: float
    ready_seconds: float
    counts: Counts | None


@contextmanager
def _mining() -> Iterator[Pass]:
    """As users run it: every clause, all measures, and the report."""
    compiled: list[Path] = []

    def mined(corpus: Path) -> Counts:
        shutil.rmtree(corpus / MINED, ignore_errors=True)  # what is known is not judged again
        if not compiled:
            warm(parts_of(corpus))  # otherwise so few rows would be interpreted
            compiled.append(corpus)
        return {clause.clause: clause.broken for clause in mine(corpus, MASTER).clauses}

    with session_on(MASTER):
        yield mined


@contextmanager
def _mining_these() -> Iterator[Pass]:
    """The same checks in the same tasks, but only the clauses that the other tools have, and only counted."""
    with session_on(MASTER) as session:

        def counted(corpus: Path) -> Counts:
            parts = parts_of(corpus)
            clauses = frozenset(benchmark_of(parts[0].protocol).clauses)
            found = run_tasks(
                session, parts, partial(count_part, clauses=clauses), weights=[part.rows for part in parts]
            )
            return dict(sum(found, Counter()))

        yield counted


@contextmanager
def _scanning() -> Iterator[Pass]:
    """Spark without this project and with its usual settings: the greatest value of each column that mining reads."""
    os.environ["JAVA_HOME"] = str(java_home_for_spark())
    from pyspark.sql import SparkSession

    builder = SparkSession.Builder().master(MASTER).appName("scan").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.driver.bindAddress", "127.0.0.1")
    session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")

    def scanned(corpus: Path) -> Counts:
        columns = ("run", *schema(parts_of(corpus)[0].protocol).columns)
        table = session.read.parquet(str(corpus / "events"))
        table.selectExpr(*(f"max({name})" for name in columns)).collect()
        return {}

    try:
        yield scanned
    finally:
        session.stop()


@contextmanager
def _duckdb() -> Iterator[Pass]:
    duckdb: Any = importlib.import_module("duckdb")
    connection = duckdb.connect()
    try:
        yield partial(_in_pieces, lambda judge, *files: judge.by_duckdb(connection, *files))
    finally:
        connection.close()


@contextmanager
def _polars() -> Iterator[Pass]:
    yield partial(_in_pieces, lambda judge, *files: judge.by_polars(*files))


def _in_pieces(count: Callable[..., Counter[str]], corpus: Path) -> Counts:
    parts = parts_of(corpus)
    judge = benchmark_of(parts[0].protocol)
    pieces: list[list[Path]] = [[]]
    rows = 0
    for part in parts:
        if rows and rows + part.rows > ROWS_AT_ONCE:
            pieces.append([])
            rows = 0
        pieces[-1].append(part.events)
        rows += part.rows
    return dict(sum((count(judge, piece, *networks(corpus)) for piece in pieces), Counter()))


TOOLS: dict[str, Callable[[], Any]] = {
    "mine": _mining,
    "mine-these": _mining_these,
    "scan": _scanning,
    "duckdb": _duckdb,
    "polars": _polars,
}
JUDGES_NOTHING = frozenset({"scan"})


def measure(tool: str, corpus: Path, warm: Path, tries: int) -> FastestTry:
    if tool not in TOOLS:
        raise BadInput(f"no tool {tool!r}; choose one of {', '.join(TOOLS)}")
    begun = time.perf_counter()
    with TOOLS[tool]() as judged:
        judged(warm)
        ready = time.perf_counter() - begun
        taken: list[FastestTry] = []
        for _ in range(tries):
            begun, used = time.perf_counter(), cpu_seconds(os.getpid())
            counts: Counts = judged(corpus)
            seconds, used = time.perf_counter() - begun, cpu_seconds(os.getpid()) - used
            taken.append(FastestTry(seconds, used, ready, None if tool in JUDGES_NOTHING else counts))
    return min(taken, key=lambda measured: measured.cpu_seconds)


def main(arguments: Sequence[str]) -> None:
    tool, corpus, warm, tries = arguments
    print(msgspec.json.encode(measure(tool, Path(corpus), Path(warm), int(tries))).decode())


if __name__ == "__main__":
    main(sys.argv[1:])
