"""What the test of clusters runs as a process of its own, since its Spark session is not that of the other tests:

    python spark/tests/on_cluster.py PROTOCOL MASTER FOLDER PORT

makes a corpus and mines it. Every task tells the test at this port when it has done its work, and waits for an answer
before it says so to Spark.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import SparkSession

from scatterproof.spark.corpus import make_corpus
from scatterproof.spark.jobs import run_tasks as run
from scatterproof.spark.mine import mine
from scatterproof.spark.session import session_on
from scatterproof.spark.tests.material import material
from scatterproof.spec.storage import place_of

SEED, RUNS, FILES = 11, 4, 4


def tell(port: int, **news: Any) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(json.dumps(news).encode() + b"\n")
        connection.recv(1)


def hold_all_work(port: int) -> None:
    """Wherever `run_tasks` is used, its work is held when it is done."""
    for name, module in list(sys.modules.items()):
        if name.startswith("scatterproof.spark.") and hasattr(module, "run_tasks"):
            setattr(module, "run_tasks", partial(run_and_hold, port))  # noqa: B010  # mypy does not know what it has


def run_and_hold(
    port: int, session: SparkSession, items: Sequence[Any], work: Callable[[Any], Any], **more: Any
) -> list[Any]:
    def held(numbered: tuple[int, Any]) -> Any:
        number, item = numbered
        result = work(item)
        from scatterproof import spec

        tell(port, item=number, folder=os.getcwd(), code=str(spec.__file__))
        return result

    return run(session, list(enumerate(items)), held, **more)


def main(protocol: str, master: str, folder: Path, port: int) -> None:
    # The tests are not shipped; what they plant is.
    by_value: Callable[[ModuleType], None] = cloudpickle.register_pickle_by_value
    by_value(importlib.import_module(f"scatterproof.spark.tests.{protocol}.material"))
    hold_all_work(port)
    seen: list[tuple[int, int]] = []
    with session_on(master, folder):
        corpus, plant = folder / "corpus", {1: material(protocol).plant}
        make_corpus(protocol, RUNS, SEED, corpus, master, lambda *at: seen.append(at), plant=plant, files=FILES)
        tell(port, progress=seen)
        seen.clear()
        mine(corpus, master, lambda *at: seen.append(at))
        tell(port, progress=seen)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], place_of(sys.argv[3]), int(sys.argv[4]))
