"""Corpora: what is in them is a function of the seed, however the runs are shared out."""

from __future__ import annotations

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from scatterproof.conformance.network.run import MakeNode
from scatterproof.impl.protocol import load as implemented
from scatterproof.spark.configurations import draw_run
from scatterproof.spark.corpus import make_corpus, simulate_run
from scatterproof.spark.layout import Manifest, RunClass, classes_listed, events_path, read_manifest, runs_path
from scatterproof.spark.mine import mine
from scatterproof.spark.plants import Wish, row_wish
from scatterproof.spark.protocol import kinds_of
from scatterproof.spark.recall import recall
from scatterproof.spark.tests.material import PROTOCOLS, material
from scatterproof.spark.unfinished import unfinished_folder
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.files import IMPORTED_FROM
from scatterproof.spec.trace import Trace
from scatterproof.spec.trace_parquet import read_runs

SEED, RUNS, PLANTED_RUNS = 11, 12, 40
ANY = PROTOCOLS[0]
SHORT = PROTOCOLS[-1]  # has shorter runs, of which more are for the oracles
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


def traces_of(corpus: Path) -> list[Trace]:
    return [
        trace
        for file in range(read_manifest(corpus).files)
        for trace in read_runs(events_path(corpus, file), runs_path(corpus, file))
    ]


@pytest.mark.slow
@each_protocol
def test_same_seed_gives_the_same_rows_in_one_file_and_in_three(
    session: SparkSession, tmp_path: Path, protocol: str
) -> None:
    one = make_corpus(protocol, RUNS, SEED, tmp_path / "one", files=1)
    three = make_corpus(protocol, RUNS, SEED, tmp_path / "three", files=3)
    assert (one.files, three.files) == (1, 3)
    expected = [simulate_run(protocol, SEED, run) for run in range(RUNS)]
    assert traces_of(tmp_path / "one") == traces_of(tmp_path / "three") == expected
    assert [msgspec.structs.replace(entry, file=0) for entry in three.runs] == list(one.runs)
    assert one.events == sum(len(trace.rows) for trace in expected)


def test_every_run_is_contiguous_and_in_one_file(session: SparkSession, tmp_path: Path) -> None:
    manifest = make_corpus(ANY, RUNS, SEED, tmp_path / "corpus", files=4)
    seen: list[int] = []
    for file in range(manifest.files):
        runs = pq.read_table(events_path(tmp_path / "corpus", file), columns=["run"]).column("run").to_pylist()
        seen += [run for at, run in enumerate(runs) if at == 0 or runs[at - 1] != run]
    assert seen == list(range(RUNS))
    assert read_manifest(tmp_path / "corpus") == manifest


@each_protocol
def test_another_seed_gives_other_rows(protocol: str) -> None:
    assert simulate_run(protocol, SEED, 0).rows != simulate_run(protocol, SEED + 1, 0).rows


@each_protocol
def test_planted_rules_change_their_run_and_no_other(session: SparkSession, tmp_path: Path, protocol: str) -> None:
    plant = material(protocol).plant
    manifest = make_corpus(protocol, 3, SEED, tmp_path / "corpus", plant={1: plant}, files=2)
    right = [simulate_run(protocol, SEED, run) for run in range(3)]
    assert [trace == other for trace, other in zip(traces_of(tmp_path / "corpus"), right, strict=True)] == [
        True,
        False,
        True,
    ]
    assert [entry.planted for entry in manifest.runs] == ["", plant.name, ""]


def test_progress_counts_runs_to_the_end(session: SparkSession, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    make_corpus(ANY, 4, SEED, tmp_path / "corpus", on_progress=lambda *at: seen.append(at), files=4)
    assert seen[-1] == (4, 4)


def test_a_corpus_is_replaced_and_other_folders_are_left_alone(session: SparkSession, tmp_path: Path) -> None:
    make_corpus(ANY, 2, SEED, tmp_path / "corpus")
    assert len(make_corpus(ANY, 1, SEED, tmp_path / "corpus").runs) == 1
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thesis.txt").write_text("x")
    with pytest.raises(BadInput, match=r"own: exists, and is no folder with a manifest.json; give a new folder"):
        make_corpus(ANY, 1, SEED, tmp_path / "own")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus", "own"]


def test_bad_requests_are_one_sentence_before_spark_starts(tmp_path: Path) -> None:
    for protocol, runs, plant, sentence in (
        (ANY, 0, {}, "runs is 0; ask for at least one"),
        ("carrier_pigeon", 1, {}, "protocol 'carrier_pigeon' is unknown"),
        (ANY, 1, {1: material(ANY).plant}, "rules are planted in run 1; the runs are 0 to 0"),
    ):
        with pytest.raises(BadInput, match=sentence):
            make_corpus(protocol, runs, SEED, tmp_path / "corpus", plant=plant)
    assert not list(tmp_path.iterdir())


def test_a_manifest_of_before_there_were_kinds_is_read(tmp_path: Path) -> None:
    entry = {"run": 0, "seed": 7, "family": "star", "hosts": 2, "switches": 1, "links": 4}
    entry |= {"parameters": {"environment": "C"}, "submissions": 3, "events": 40, "file": 0, "planted": ""}
    old = {"protocol": ANY, "seed": SEED, "files": 1, "events": 40, "runs": [entry], "format": 1}
    (tmp_path / "manifest.json").write_bytes(msgspec.json.encode(old))
    (read,) = read_manifest(tmp_path).runs
    assert (read.parameters, read.kind, read.faults, read.failures) == ({"environment": "C"}, "", 0, 0)


def test_runs_that_are_alike_share_what_the_manifest_says_of_them(tmp_path: Path) -> None:
    first = {"run": 4, "seed": 7, "family": "star", "hosts": 2, "switches": 1, "links": 4, "kind": "A"}
    first |= {"parameters": {"environment": "C"}, "submissions": 3, "events": 40, "file": 0, "faults": 2}
    entries = [first, {**first, "run": 5, "seed": 8, "faults": 3}, {**first, "run": 6, "source": "x.ndjson"}]
    manifest = {"protocol": ANY, "seed": SEED, "files": 1, "events": 120, "runs": entries, "format": 1}
    (tmp_path / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    found = classes_listed(tmp_path)
    assert found[4] == RunClass("A", "star", True, False, False, b'{"environment":"C"}')
    assert found[4] is found[5]
    assert found[6] == found[4]._replace(imported=True)
    entries[1]["parameters"] = {"environment": [1]}
    (tmp_path / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    with pytest.raises(BadInput, match=r"manifest\.json: not a corpus manifest: .*array"):
        classes_listed(tmp_path)


@pytest.mark.slow
@each_protocol
def test_the_manifest_says_of_each_run_its_kind_and_what_goes_wrong(
    session: SparkSession, tmp_path: Path, protocol: str
) -> None:
    runs = len(kinds_of(protocol))
    manifest = make_corpus(protocol, runs, SEED, tmp_path / "corpus")
    drawn = [draw_run(protocol, SEED, run) for run in range(runs)]
    assert [entry.kind for entry in manifest.runs] == [one.kind for one in drawn]
    assert [(e.faults, e.failures) for e in manifest.runs] == [
        (len(one.schedule.faults), len(one.schedule.failures)) for one in drawn
    ]
    assert sum(entry.faults for entry in manifest.runs) > 0 < sum(entry.failures for entry in manifest.runs)


def files_of(corpus: Path) -> dict[str, tuple[bytes, int]]:
    """Of every file of traces its contents, and which one it is on the disk."""
    return {
        str(path.relative_to(corpus)): (path.read_bytes(), path.stat().st_ino)
        for path in sorted(corpus.rglob("*.parquet"))
    }


# The task that makes file 2 kills the driver and itself: two files are whole then, nobody can clean anything up, and
# nobody writes on while the test looks.
KILLED = """
import os, signal, sys
from pathlib import Path
from scatterproof.spark import corpus
make, driver = corpus._make_and_note, os.getpid()
def until_killed(unfinished, share):
    if share.file == 2:
        os.kill(driver, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    make(unfinished, share)
corpus._make_and_note = until_killed
corpus.make_corpus(sys.argv[1], 6, 11, Path(sys.argv[2]), "local[1]", files=6)
"""


@pytest.mark.slow
def test_a_corpus_whose_making_was_killed_is_gone_on_with(session: SparkSession, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, ANY, str(corpus)], cwd=IMPORTED_FROM, stderr=subprocess.DEVNULL
    )
    assert killed.returncode == -signal.SIGKILL
    assert not corpus.exists()
    (work,) = (path for path in (tmp_path / ".corpus.unfinished").iterdir() if path.is_dir())
    there = {path.name for path in (work / "notes").iterdir()}
    assert there == {"part-00000.json", "part-00001.json"}
    before = files_of(work / "folder")
    notes: list[str] = []
    progress: list[tuple[int, int]] = []
    manifest = make_corpus(
        ANY, 6, SEED, corpus, files=6, on_note=notes.append, on_progress=lambda *at: progress.append(at)
    )
    after, kept = files_of(corpus), [name for name in before if name.replace(".parquet", ".json")[-15:] in there]
    assert len(kept) >= 4
    assert {name: before[name] for name in kept} == {name: after[name] for name in kept}
    assert notes == ["going on with what was begun: 2 of 6 runs are there"]
    assert progress[-1] == (6, 6)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]
    # An undisturbed one, made by two cores: the same bytes.
    assert make_corpus(ANY, 6, SEED, tmp_path / "undisturbed", files=6) == manifest
    undisturbed = files_of(tmp_path / "undisturbed")
    assert {name: data for name, (data, _) in after.items()} == {name: data for name, (data, _) in undisturbed.items()}


def test_other_arguments_begin_anew(session: SparkSession, tmp_path: Path) -> None:
    corpus, notes = tmp_path / "corpus", list[str]()

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_corpus(ANY, 2, SEED, corpus, files=2, on_progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == [".corpus.unfinished"]
    make_corpus(ANY, 2, SEED + 1, corpus, files=2, on_note=notes.append)
    assert notes == ["beginning anew: what was begun here had other arguments"]
    assert traces_of(corpus) == [simulate_run(ANY, SEED + 1, run) for run in range(2)]
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    with (
        unfinished_folder(tmp_path / "corpus", "manifest.json", b"") as first,
        pytest.raises(CannotRun, match="corpus: another command is making it"),
    ):
        make_corpus(ANY, 1, SEED, tmp_path / "corpus")
    assert first.folder.name


@pytest.mark.slow
def test_what_is_planted_is_found_and_nothing_else_however_the_runs_are_shared_out(
    session: SparkSession, tmp_path: Path
) -> None:
    protocol = SHORT
    plant = material(protocol).plant
    nodes = partial(_ruled, protocol, plant.rules)
    wishes = [Wish(name=plant.name, wanted=2, nodes=nodes), row_wish("", 1)]
    made: list[Manifest] = []
    for files in (1, 5):
        made.append(make_corpus(protocol, PLANTED_RUNS, SEED, tmp_path / f"{files}", wishes=wishes, files=files))
    one, five = made
    assert [msgspec.structs.replace(entry, file=0) for entry in five.runs] == list(one.runs)
    assert one.plantings == five.plantings
    assert traces_of(tmp_path / "1") == traces_of(tmp_path / "5")
    planted = [entry for entry in one.runs if entry.planted]
    assert sorted(entry.planted for entry in planted) == sorted([plant.name, plant.name, "row/any"])
    found = mine(tmp_path / "5").table()
    compared = recall(tmp_path / "5", [found])
    assert compared is not None
    assert compared.exact, compared
    assert {entry.run for entry in planted} == set(found.column("run").to_pylist())
    missing = recall(
        tmp_path / "5", [found.filter(pa.array([run != planted[0].run for run in found["run"].to_pylist()]))]
    )
    assert missing is not None
    assert not missing.exact


def _ruled(protocol: str, rules: object) -> MakeNode:
    return partial(implemented(protocol).make_core, rules=rules)
