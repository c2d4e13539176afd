"""Clauses of total order as one would check them without this project: in SQL for DuckDB, and in Polars. Only `ci/bench
mine` uses them, to compare mining with.

They count the rows that break a clause, as the checks do. Clauses are left out that are no window over the rows of a
link, a host or a message: those on minima over a switch's ingress links, on acknowledgements and on loss records. They
rely on properties of simulated traces: clocks are recorded and do not step back, and timestamps are below 2^46.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CLAUSES = (
    *("TO-SCATTER", "TO-MONO", "TO-BAR-HOST", "TO-BAR-LINK", "TO-BAR-RISE", "TO-ORDER", "TO-ONCE", "TO-CAUSAL"),
    *("TO-ENV-A", "TO-ENV-B", "TO-ENV-C", "TO-BEACON-MIN"),
)
# Columns that are changed in rows of some runs, so that there is something to find.
DAMAGED = ("timestamp", "barrier", "digest", "flags")
_SQL = Path(__file__).with_name("checks.sql")


def by_duckdb(connection: Any, events: Sequence[Path], runs: Path, nodes: Path) -> Counter[str]:
    """Violations by clause. runs, nodes: what the headers of the runs say, as Parquet (`ci.mining`)."""
    parameters = {"events": [str(path) for path in events], "runs": str(runs), "nodes": str(nodes)}
    return Counter(dict(connection.execute(_SQL.read_text(), parameters).fetchall()))
