"""A standalone cluster gives what this machine gives, from code that was shipped, even as its processes are killed.

In each job the first task to have done its work is held while its executor is killed; then all others go on. So the
work of that task is lost after its files were written, and done again.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from scatterproof.spark.corpus import make_corpus
from scatterproof.spark.incremental import SUMMARY
from scatterproof.spark.layout import MINED, read_manifest
from scatterproof.spark.mine import mine
from scatterproof.spark.mined import MineResult
from scatterproof.spark.tests import on_cluster
from scatterproof.spark.tests.cluster import WITHIN_S, Cluster, Daemon, cluster
from scatterproof.spark.tests.material import PROTOCOLS, material
from scatterproof.spark.tests.on_cluster import FILES, RUNS, SEED
from scatterproof.spark.tests.s3 import STORAGES, storage
from scatterproof.spec.files import IMPORTED_FROM
from scatterproof.spec.storage import opened

ANY = PROTOCOLS[0]
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


class Gate:
    """Where tasks report their work, and wait."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._listener.settimeout(WITHIN_S)
        self.port: int = self._listener.getsockname()[1]

    def arrivals(self) -> Iterator[dict[str, Any]]:
        """Each goes on when the next one is asked for; the last tells that the job is done. OSError when nobody can
        come any more."""
        done = False
        while not done:
            connection, _ = self._listener.accept()
            with connection, connection.makefile("rb") as lines:
                news = json.loads(lines.readline())
                done = "item" not in news
                yield news

    def close_after(self, process: subprocess.Popen[str]) -> None:
        process.wait()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture(scope="module")
def expected(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> MineResult:
    """What this machine gives; it compiles the checks, too, which the executors then find in the user's cache."""
    corpus = tmp_path_factory.mktemp("local") / "corpus"
    make_corpus(ANY, RUNS, SEED, corpus, plant={1: material(ANY).plant}, files=FILES)
    result = mine(corpus)
    assert result.violations > 0
    return result


@pytest.mark.slow
@pytest.mark.parametrize("kind", STORAGES)
def test_a_job_whose_executors_are_killed_gives_what_this_machine_gives(
    expected: MineResult, tmp_path: Path, kind: str
) -> None:
    there = tmp_path / "there"
    there.mkdir()
    gate = Gate()
    with storage(kind, there) as (place, known):
        with cluster(tmp_path) as workers, _driver(workers.master, there, place, known, gate):
            # Its worker starts another executor; in the second job the worker is gone as well.
            _hold_and_kill(gate, workers, Daemon.kill_children)
            assert LOOPBACK >= workers.listening() > set()
            _hold_and_kill(gate, workers, Daemon.kill)
        _same_corpora(place / "corpus", Path(expected.path))
        found = msgspec.json.decode((place / "corpus" / MINED / SUMMARY).read_bytes(), type=MineResult)
        assert msgspec.structs.replace(found, path=expected.path) == expected
        assert _without_commands(found) == _without_commands(expected)
    # Nothing was left in a folder that executors might share.
    assert kind == "folder" or not list(tmp_path.rglob("*.parquet"))


def _without_commands(result: MineResult) -> list[dict[str, Any]]:
    """The violations; the commands that replay them name the corpus."""
    rows: list[dict[str, Any]] = result.table().drop_columns("replay").to_pylist()
    return rows


def _hold_and_kill(gate: Gate, workers: Cluster, kill: Callable[[Daemon], None]) -> None:
    """Follow one job to its end."""
    arrivals = gate.arrivals()
    first = next(arrivals)
    kill(workers.worker_of(Path(first["folder"])))
    *again, end = arrivals
    folders = {first["folder"], *(news["folder"] for news in again)}
    for news in (first, *again):
        assert news["code"].startswith(f"{news['folder']}/"), "a task ran other code than was shipped"
    # The work that was held was lost with its executor, and done by another one.
    assert [news["folder"] != first["folder"] for news in again if news["item"] == first["item"]] == [True]
    assert sorted(news["item"] for news in again) == list(range(FILES))
    assert len(folders) > 1
    assert end["progress"][-1] == [end["progress"][-1][1]] * 2
    assert all(before[0] <= after[0] <= after[1] for before, after in pairwise(end["progress"]))


@contextmanager
def _driver(master: str, folder: Path, place: Path, known: Mapping[str, str], gate: Gate) -> Iterator[None]:
    """The process whose session is on the cluster; nothing was wrong with it at the end.

    folder: for what it writes of itself.
    place: for the corpus.
    known: what executors must have in their environment to find that.
    """
    settings = folder / "settings"
    settings.mkdir()
    lines = [f"spark.executorEnv.{name} {value}" for name, value in known.items()]
    lines += ["spark.executor.memory 512m", "spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"]
    (settings / "spark-defaults.conf").write_text("\n".join(lines))
    output = folder / "output"
    with (
        output.open("w") as written,
        subprocess.Popen(
            [sys.executable, on_cluster.__file__, ANY, master, str(place), str(gate.port)],
            cwd=IMPORTED_FROM,
            env={**os.environ, "PYTHONPATH": str(IMPORTED_FROM), "SPARK_CONF_DIR": str(settings)},
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        watch = threading.Thread(target=gate.close_after, args=[process])
        watch.start()
        try:
            yield
            process.wait(WITHIN_S)
        except OSError as error:
            error.add_note(output.read_text())
            raise
        finally:
            process.kill()
            watch.join()
    assert process.returncode == 0, output.read_text()


def _same_corpora(one: Path, other: Path) -> None:
    assert read_manifest(one) == read_manifest(other)
    for kind in ("events", "runs"):
        files = sorted(path.name for path in (one / kind).iterdir())
        assert files == sorted(path.name for path in (other / kind).iterdir())
        for name in files:
            assert pq.read_table(opened(one / kind / name)) == pq.read_table(other / kind / name)
