"""Reading by column takes memory for what is in hand, not for the whole file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scatterproof.spark.layout import events_path, runs_path
from scatterproof.spark.read import Part, read_batches
from scatterproof.spark.tests.material import PROTOCOLS
from scatterproof.spec.trace_parquet import events_schema

GROUPS, ROWS = 40, 5_000


def test_a_file_is_not_held_as_a_whole(tmp_path: Path) -> None:
    schema = events_schema(PROTOCOLS[0])
    draw = np.random.default_rng(1)
    path = events_path(tmp_path, 0)
    path.parent.mkdir()
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for _ in range(GROUPS):
            columns = [pa.array(draw.integers(0, 1 << 60, ROWS)) for _ in schema]
            writer.write_table(pa.table(columns, schema=schema))
    part = Part(events=path, runs_file=runs_path(tmp_path, 0), protocol=PROTOCOLS[0], rows=GROUPS * ROWS, runs=1)
    before, held, rows = pa.total_allocated_bytes(), 0, 0
    for batch in read_batches(part, schema.names, 1_000):
        rows += len(batch["kind"])
        held = max(held, pa.total_allocated_bytes() - before)
    assert rows == part.rows
    assert held < path.stat().st_size / 4
