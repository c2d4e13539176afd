"""Corpora for Spark against fuzzing: neither draws what the other has never heard of; they know the same mutants."""

from __future__ import annotations

import pickle
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from scatterproof import iuts
from scatterproof.conformance.protocol import load
from scatterproof.fuzz import protocol as plugins
from scatterproof.fuzz.corpus import drawn_schedules
from scatterproof.fuzz.kill_matrix import subjects_of
from scatterproof.plants import wishes_of
from scatterproof.spark.configurations import draw_run
from scatterproof.spark.corpus import simulate_run
from scatterproof.spark.protocol import kinds_of
from scatterproof.spark.session import session_on
from scatterproof.spec import clauses
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Schedule
from scatterproof.tests.test_console import Console, console

__all__ = ["console"]  # the fixture
ENOUGH = 400
WITH_CORPORA = [protocol for protocol in clauses.protocols() if find_spec(f"scatterproof.spark.{protocol}") is not None]


def settings_of(protocol: str, schedules: list[Schedule]) -> set[tuple[str, str]]:
    """Each environment of the catalogue with each parameter, fault and failure that was drawn there."""
    known = tuple(clauses.load(protocol).environments)
    found: set[tuple[str, str]] = set()
    for schedule in schedules:
        faults, failures = ({str(one.kind) for one in several} for several in (schedule.faults, schedule.failures))
        # An environment of the catalogue may have several structures: D5, D6.
        here = [text for text in map(str, schedule.parameters.values()) if text.startswith(known)]
        found |= {(text, what) for text in here for what in faults | failures | set(schedule.parameters)}
    return found


@pytest.mark.parametrize("protocol", WITH_CORPORA)
def test_corpora_have_what_fuzzing_draws(protocol: str) -> None:
    fuzzed = settings_of(protocol, list(islice(drawn_schedules(protocol, 1), ENOUGH)))
    mined = settings_of(protocol, [draw_run(protocol, 1, run).schedule for run in range(24 * len(kinds_of(protocol)))])
    assert len(fuzzed) > 1 or not clauses.load(protocol).environments
    assert fuzzed <= mined


@pytest.mark.parametrize("protocol", WITH_CORPORA)
def test_a_planted_mutant_is_the_one_that_is_replayed(protocol: str, tmp_path: Path) -> None:
    known = [subject.name for subject in subjects_of(plugins.load(protocol))]
    schedule = draw_run(protocol, 1, 0).schedule
    for name in (known[0], known[-1]):
        (wish,) = wishes_of([f"{name}:1"], protocol)
        # Tasks get it pickled, though a mutant itself is compiled where it is needed.
        planted = simulate_run(protocol, 1, 0, pickle.loads(pickle.dumps(wish)).plant())
        assert planted.rows == iuts.find(f"mutant:{name}", protocol, tmp_path).run(schedule).rows


def test_what_is_planted_is_a_name_and_a_rate() -> None:
    protocol = WITH_CORPORA[0]
    clause = load(protocol).checks[0].clause
    name = subjects_of(plugins.load(protocol))[0].name
    given = [name, f"{name}:3", f"{name}:0.25", "row/any:1", f"row/{clause}"]
    wishes = wishes_of(given, protocol)
    assert [(wish.name, wish.wanted, wish.clause) for wish in wishes] == [
        (name, 0.01, ""),
        (name, 3, ""),
        (name, 0.25, ""),
        ("row/any", 1, ""),
        (f"row/{clause}", 0.01, clause),
    ]
    assert [wish.nodes is None for wish in wishes] == [False, False, False, True, True]
    near = f"--plant '{name}s' is unknown; near it are {name}, "
    for text, sentence in (
        (f"{name}s:1", near),
        (f"row/{clause}X", f"near it are row/{clause}, "),
        (f"{name}:", "'' is no rate; give a share of the runs such as 0.001, or how many as 1"),
        (f"{name}:-1", "'-1' is no rate"),
        (f"{name}:1e3", "'1e3' is no rate"),
        (f"{name}:٣", "is no rate"),
    ):
        with pytest.raises(BadInput) as raised:
            wishes_of([text], protocol)
        assert sentence in str(raised.value)


@pytest.mark.parametrize(
    ("words", "address", "exit_code", "why"),
    [
        ("corpus --runs 1 --out A", "gs://bucket/corpus", 2, "is an address of a kind that is not read or written"),
        ("mine A", "gs://bucket/corpus", 2, "is an address of a kind that is not read or written"),
        ("mine --follow A", "s3://bucket/corpus", 2, "--follow takes no address"),
        ("import A --out o", "s3://bucket/traces", 2, "what is imported takes no address"),
        ("mine A", "s3://bucket/corpus", 3, "the storage says: "),
    ],
)
def test_an_address_of_no_use_is_told_by_its_own_name_before_spark_starts(
    console: Console,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    address: str,
    exit_code: int,
    why: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(SparkSession, "Builder", None)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")  # nobody answers there
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "anybody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "anything")
    code, said, complaint = console(*words.replace("A", address).split())
    assert (code, said) == (exit_code, "")
    assert f"{address}: {why}" in " ".join(complaint.split())
    assert not list(tmp_path.iterdir())


def test_bad_plants_are_one_sentence_before_spark_starts(console: Console, tmp_path: Path) -> None:
    name = subjects_of(plugins.load(WITH_CORPORA[0]))[0].name
    for plant, sentence in (
        ("nobody/knows", "--plant 'nobody/knows' is unknown; near it are"),
        (f"{name}:9", "9 runs"),
    ):
        words = ("--protocol", WITH_CORPORA[0], "--runs", "3", "--out", str(tmp_path / "corpus"))
        code, said, complaint = console("corpus", *words, "--plant", plant)
        assert (code, said) == (2, "")
        assert sentence in " ".join(complaint.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_corpus_that_leaves_clauses_undecided_is_mined_to_the_end_with_4(console: Console, tmp_path: Path) -> None:
    corpus = str(tmp_path / "corpus")
    with session_on("local[1]"):
        # One run does not put every clause at stake.
        assert console("corpus", "--protocol", WITH_CORPORA[0], "--runs", "1", "--out", corpus)[0] == 0
        code, found = console.json("mine", corpus)
    verdicts = {clause["verdict"] for clause in found["clauses"]}
    assert {"pass", "inconclusive"} <= verdicts
    assert "fail" not in verdicts
    assert code == 4


def test_an_absurd_number_of_runs_is_refused(console: Console, tmp_path: Path) -> None:
    code, _, complaint = console("corpus", "--runs", str(10**15), "--out", str(tmp_path / "corpus"))
    assert code == 2
    assert "--runs" in complaint
    assert not (tmp_path / "corpus").exists()
