"""Mining compared with a plain Spark scan, DuckDB and Polars (`ci/bench mine`): speed, growth and memory, as a
table."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from ci.mining.compare import compare, table
from scatterproof.spec.errors import ScatterproofError

LEAST, MOST = 10_000, 1_000_000_000


def event_counts(text: str) -> tuple[int, ...]:
    """The numbers in a text such as 1e6,1e7; ArgumentTypeError for any other text."""
    try:
        counts = tuple(int(float(part)) for part in text.split(","))
    except (ValueError, OverflowError):
        counts = ()
    if not counts or not all(LEAST <= count <= MOST for count in counts) or len(set(counts)) < len(counts):
        raise argparse.ArgumentTypeError(f"{text!r}: give different numbers from 1e4 to 1e9, such as 1e6,1e7")
    return counts


def compare_mining(protocol: str, sizes: tuple[int, ...]) -> None:
    """Print each figure as soon as it is measured, then the table. SystemExit, after a sentence on standard error, when
    something goes wrong."""
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; corpora are made in {tempfile.gettempdir()}")

    def say(line: str) -> None:
        print(f"{line} (load {os.getloadavg()[0]:.1f})", flush=True)

    try:
        with tempfile.TemporaryDirectory(prefix="scatterproof-bench-") as folder:
            timings = compare(protocol, sizes, Path(folder), say)
    except ScatterproofError as error:
        print(f"ci/bench: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    print()
    print("\n".join(table(protocol, timings)))
