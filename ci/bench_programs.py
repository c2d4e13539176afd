"""Benchmarks of reference programs over real sockets: each protocol whose folder `impl/<protocol>` has a `bench.py`
with `figures() -> list[tuple[str, str]]` gives its own."""

from __future__ import annotations

import importlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def programs() -> list[tuple[str, str]]:
    """What is measured, and the figure, protocol by protocol."""
    found: list[tuple[str, str]] = []
    for module in sorted((ROOT / "impl").glob("*/bench.py")):
        protocol = module.parent.name
        measured = importlib.import_module(f"impl.{protocol}.bench").figures()
        found += [(f"{protocol} program, {what}", figure) for what, figure in measured]
    return found
