"""Corpora: what is in them is a function of the seed, however the runs are shared out."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from spark.configurations import draw_run
from spark.corpus import make_corpus, simulate_run
from spark.kinds import kinds_of
from spark.layout import events_path, read_manifest, runs_path
from spark.tests.material import PROTOCOLS, material
from spec.errors import BadInput
from spec.trace import Trace
from spec.trace_parquet import read_runs

SEED, RUNS = 11, 12
ANY = PROTOCOLS[0]
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


def traces_of(corpus: Path) -> list[Trace]:
    return [
        trace
        for file in range(read_manifest(corpus).files)
        for trace in read_runs(events_path(corpus, file), runs_path(corpus, file))
    ]


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
