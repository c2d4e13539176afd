"""Following a corpus ends with what mining all of it at once gives, whatever came when, and whatever was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from scatterproof.spark.follow import Batch, follow
from scatterproof.spark.layout import MANIFEST, MINED, events_path, runs_path
from scatterproof.spark.mine import mine
from scatterproof.spark.tests.test_incremental import kept_path, write
from scatterproof.spec.files import IMPORTED_FROM


def followed(corpus: Path) -> tuple[list[Batch], list[str]]:
    """Until nothing more is there."""
    batches: list[Batch] = []
    said: list[str] = []
    follow(corpus, on_batch=batches.append, say=said.append, until_idle_s=0)
    return batches, said


@pytest.mark.slow
def test_a_file_that_is_not_sound_is_left_out_until_it_is(session: SparkSession, tmp_path: Path) -> None:
    for file in range(3):
        write(tmp_path, file, twice=file == 2)
    sound = events_path(tmp_path, 1).read_bytes()
    events_path(tmp_path, 1).write_bytes(sound[:-100])
    write(tmp_path, 3, run=0)
    write(tmp_path, 4)
    runs_path(tmp_path, 4).unlink()
    ((first,), said) = followed(tmp_path)
    broken, twice, half = said
    assert broken.startswith(f"left out: {events_path(tmp_path, 1)}: cannot be read as Parquet")
    assert twice.startswith(f"left out: {runs_path(tmp_path, 3)}: run 0 is in {runs_path(tmp_path, 0)}, too")
    assert half == "events/part-00004.parquet has no runs/part-00004.parquet yet, and does not count"
    assert first.result is not None
    assert (first.files, first.known, first.result.files, len(first.result.left_out)) == (2, 0, 2, 2)
    assert set(first.new.column("run").to_pylist()) == {2}
    assert (tmp_path / MINED / "report.html").read_text().count("cannot be read as Parquet") == 1
    events_path(tmp_path, 1).write_bytes(sound)
    for file in (3, 4):
        events_path(tmp_path, file).unlink()
    runs_path(tmp_path, 3).unlink()
    ((second,), said) = followed(tmp_path)
    assert said == []
    assert second.result is not None
    assert (second.files, second.known, second.new.num_rows, second.result.left_out) == (1, 2, first.new.num_rows, ())
    assert mine(tmp_path, again=True) == second.result


@contextmanager
def follower(corpus: Path) -> Iterator[subprocess.Popen[str]]:
    """The console command at work, in a process of its own."""
    command = [sys.executable, "-m", "scatterproof.cli", "mine", str(corpus), "--follow", "--master", "local[1]"]
    environment = {**os.environ, "PYTHONPATH": str(IMPORTED_FROM)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True, cwd=corpus) as process:
        try:
            yield process
        finally:
            process.kill()


def said_until(process: subprocess.Popen[str], files: int) -> list[str]:
    """The lines up to the one that says that this many files are judged."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.rstrip())
        if lines[-1].endswith(f" so far in {files} files"):
            return lines
    raise AssertionError(f"it has ended: {lines}")


@pytest.mark.slow
def test_killed_and_started_again_it_neither_misses_nor_repeats_a_violation(
    session: SparkSession, tmp_path: Path
) -> None:
    for file in range(2):
        write(tmp_path, file)
    with follower(tmp_path) as process:
        said_until(process, 2)
        os.mkfifo(tmp_path / MANIFEST)
        write(tmp_path, 2, twice=True)
        # It reads the manifest when it has judged the new files, and before it sums up and says so; and waits there.
        with (tmp_path / MANIFEST).open("wb"):
            process.send_signal(signal.SIGKILL)
            process.wait()
    (tmp_path / MANIFEST).unlink()
    assert kept_path(tmp_path, 2).is_file()
    assert b'"files": 2,' in (tmp_path / MINED / "summary.json").read_bytes()
    write(tmp_path, 3)
    with follower(tmp_path) as process:
        lines = said_until(process, 4)
        assert "1 files judged (3 known)" in lines[0]
        write(tmp_path, 5, twice=True)
        write(tmp_path, 4)
        lines += said_until(process, 6)
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None
        lines += process.stdout.read().splitlines()
        assert process.wait() == 1
    result = mine(tmp_path)
    found = result.table()
    said = [line.strip() for line in lines if line.startswith("  run ")]
    assert sorted(said) == sorted(f"run {row['run']}: {row['sentence']}" for row in found.to_pylist())
    assert set(found.column("run").to_pylist()) == {2, 5}
    (tmp_path / MINED / "report.html").unlink()
    assert mine(tmp_path, again=True) == result
    assert result.table().equals(found)
