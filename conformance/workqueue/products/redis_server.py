"""A Redis server on loopback, for products with queues in Redis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.serving import LOOPBACK, Served, free_ports, program

NEEDS = Needs(debian=("redis-server",))


@contextmanager
def redis_server(folder: Path, words: Sequence[str] = ("--save", "")) -> Iterator[Served]:
    """A server that runs until the context ends. It keeps nothing over a restart, unless options in `words` do."""
    (port,) = free_ports(1)
    folder.mkdir(parents=True, exist_ok=True)
    given = ["--port", str(port), "--bind", LOOPBACK, "--dir", str(folder.resolve()), *words]
    served = Served("redis", [program("redis-server") or "", *given], port, folder)
    try:
        yield served
    finally:
        served.end()
