"""Schedules and runs of corpora, replayed alone: with a profile, with the rules that were planted, or as recorded."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from scatterproof import iuts
from scatterproof.conformance.judge import judge
from scatterproof.conformance.tests.runs import conforming
from scatterproof.conformance.verdict import Verdict
from scatterproof.fuzz.corpus import drawn_schedules
from scatterproof.fuzz.shrink import size
from scatterproof.impl.totalorder import RULES
from scatterproof.spark.corpus import Plant, _make_file, _share_out, simulate_run
from scatterproof.spark.importing.import_traces import _make_file as imported_file
from scatterproof.spark.importing.import_traces import _Share
from scatterproof.spark.importing.sources import find_sources
from scatterproof.spark.layout import MANIFEST, Manifest, RunEntry, events_path, read_manifest, runs_path
from scatterproof.spark.mapping import no_mapping
from scatterproof.spark.plants import AlteredRow
from scatterproof.spark.replay import schedule_of, trace_of
from scatterproof.spec import schedule as schedules
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import write_atomically
from scatterproof.spec.trace import Trace
from scatterproof.spec.trace_parquet import read_runs
from scatterproof.tests.test_console import Console, console

__all__ = ["console"]  # the fixture
PROTOCOL, SEED, RUNS = "totalorder", 4, 3
MUTANT = "aggregate/min-to-max"


def highest(barriers: Sequence[int]) -> int:
    return max(barriers)


def finished(folder: Path, seed: int, entries: list[RunEntry]) -> Path:
    events = sum(entry.events for entry in entries)
    manifest = Manifest(protocol=PROTOCOL, seed=seed, files=1, events=events, runs=tuple(entries))
    write_atomically(folder / MANIFEST, msgspec.json.encode(manifest))
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Run 1 has a planted rule; what one task makes, without Spark."""
    folder = tmp_path / "corpus"
    plant = {1: Plant(MUTANT, replace(RULES, aggregate=highest))}
    (share,) = _share_out(PROTOCOL, RUNS, SEED, 1, plant)
    (folder / "events").mkdir(parents=True)
    (folder / "runs").mkdir()
    return finished(folder, SEED, _make_file(folder, share))


def recorded(corpus: Path) -> list[Trace]:
    return list(read_runs(events_path(corpus, 0), runs_path(corpus, 0)))


def failing(trace: Trace) -> set[str]:
    return {result.clause for result in judge(trace) if result.verdict is Verdict.FAIL}


def test_the_rows_of_a_run_are_found_alone(corpus: Path) -> None:
    assert [trace_of(corpus, run) for run in range(RUNS)] == recorded(corpus)


@pytest.mark.slow
def test_a_replayed_run_breaks_what_the_corpus_has_broken_and_shrinks(
    console: Console, corpus: Path, tmp_path: Path
) -> None:
    whole = recorded(corpus)
    words = ("--corpus", str(corpus), "--results", str(tmp_path / "results"))
    code, found = console.json("replay", *words, "--run", "1", "--shrink")
    assert code == 1
    broken = {clause["clause"] for clause in found["clauses"] if clause["verdict"] == "fail"}
    assert broken == failing(whole[1]) != set()
    assert trace_ndjson.read(Path(found["trace"])).rows == whole[1].rows
    assert found["iut"] == f"mutant:{MUTANT}"
    small, first = schedules.read(Path(found["small"])), next(c for c in found["clauses"] if c["verdict"] == "fail")
    assert len(small.submissions) < len(schedule_of(corpus, 1).submissions)
    on_mutant, on_reference = (
        failing(iuts.find(name, PROTOCOL, tmp_path).run(small)) for name in (f"mutant:{MUTANT}", "reference")
    )
    assert first["clause"] in on_mutant
    assert not on_reference
    assert console.json("replay", *words, "--run", "0")[0] == 0


def test_a_run_with_an_altered_row_is_judged_as_it_is(console: Console, tmp_path: Path) -> None:
    folder, altered = tmp_path / "corpus", AlteredRow("row/any", 3)
    (share,) = _share_out(PROTOCOL, RUNS, SEED, 1, {1: altered})
    (folder / "events").mkdir(parents=True)
    (folder / "runs").mkdir()
    corpus = finished(folder, SEED, _make_file(folder, share))
    words = ("--corpus", str(corpus), "--run", "1", "--results", str(tmp_path / "results"))
    code, found = console.json("replay", *words)
    assert code == (1 if failing(recorded(corpus)[1]) else 0)
    assert found["iut"] == "row/any"
    assert trace_ndjson.read(Path(found["trace"])).rows == recorded(corpus)[1].rows
    assert recorded(corpus)[1].rows == simulate_run(PROTOCOL, SEED, 1, altered).rows
    assert recorded(corpus)[1].rows != simulate_run(PROTOCOL, SEED, 1).rows
    code, _, complaint = console("replay", *words, "--shrink")
    assert code == 2
    assert "was imported or altered, and no schedule leaves it" in complaint


def test_an_imported_run_is_judged_as_it_was_recorded(console: Console, tmp_path: Path) -> None:
    trace = conforming("star", "C")
    trace_ndjson.write(tmp_path / "in" / "a.ndjson", trace)
    (tmp_path / "corpus" / "events").mkdir(parents=True)
    chosen = no_mapping(PROTOCOL)
    made = imported_file(tmp_path / "corpus", chosen, _Share(0, find_sources([tmp_path / "in"], chosen).sources))
    corpus = finished(tmp_path / "corpus", 0, made.entries)
    words = ("--corpus", str(corpus), "--run", "0", "--results", str(tmp_path / "results"))
    code, found = console.json("replay", *words)
    assert code == 0
    assert found["iut"] == str(tmp_path / "in" / "a.ndjson")
    assert trace_ndjson.read(Path(found["trace"])).rows == trace.rows
    code, _, complaint = console("replay", *words, "--shrink")
    assert code == 2
    assert "was imported or altered, and no schedule leaves it" in complaint


def test_bad_requests_are_one_sentence(console: Console, corpus: Path) -> None:
    for words, sentence in (
        (("--corpus", str(corpus)), "give either a schedule file, or --corpus DIR --run N"),
        (("x.json", "--corpus", str(corpus), "--run", "1"), "give either a schedule file"),
        (("--corpus", str(corpus), "--run", "9"), "there is no run 9; the runs are 0 to 2"),
    ):
        code, _, complaint = console("replay", *words)
        assert code == 2
        assert sentence in " ".join(complaint.split())


def test_a_run_that_another_version_drew_is_not_taken_for_this_ones(corpus: Path) -> None:
    manifest = read_manifest(corpus)
    entries = [msgspec.structs.replace(entry, seed=entry.seed + 1) for entry in manifest.runs]
    finished(corpus, SEED, entries)
    with pytest.raises(BadInput, match="run 0 was drawn by another version; make the corpus again"):
        schedule_of(corpus, 0)


def failing_schedule(tmp_path: Path) -> Path:
    """One in environment D9, under which the mutant breaks TO-BAR-MIN."""
    mutant = iuts.find(f"mutant:{MUTANT}", PROTOCOL, tmp_path)
    for schedule in drawn_schedules(PROTOCOL, 1):
        if schedule.parameters["environment"] == "D9" and "TO-BAR-MIN" in failing(mutant.run(schedule)):
            break
    path = tmp_path / "found.json"
    schedules.write(path, schedule)
    return path


def profile(tmp_path: Path, text: str) -> tuple[str, str]:
    path = tmp_path / "mine.toml"
    path.write_text(f'profile = 1\nprotocol = "{PROTOCOL}"\n{text}\n')
    return "--profile", str(path)


def test_with_a_profile_what_is_not_claimed_is_no_failure_and_nothing_is_shrunk(
    console: Console, tmp_path: Path
) -> None:
    found_in, results = failing_schedule(tmp_path), tmp_path / "results"
    words = ("replay", str(found_in), "--iut", f"mutant:{MUTANT}", "--results", str(results))
    assert console.json(*words)[0] == 1
    code, found = console.json(*words, *profile(tmp_path, 'clauses = ["TO-MONO"]'), "--shrink")
    assert code == 0
    assert [one["clause"] for one in found["clauses"] if one["verdict"] != "not applicable"] == ["TO-MONO"]
    assert "small" not in found
    code, found = console.json(*words, *profile(tmp_path, 'clauses = ["TO-BAR-MIN"]'), "--shrink")
    assert code == 1
    small = schedules.read(Path(found["small"]))
    assert size(small) < size(schedules.read(found_in))
    assert "TO-BAR-MIN" in failing(iuts.find(f"mutant:{MUTANT}", PROTOCOL, tmp_path).run(small))
    assert (found["runs"] > 1, found["stopped"]) == (True, "")


def test_a_schedule_that_the_profile_cannot_take_is_not_played(console: Console, tmp_path: Path) -> None:
    found_in = failing_schedule(tmp_path)
    claimed = profile(tmp_path, '[parameters]\nenvironment = ["A"]\nbeacon_interval_ns = "any"')
    code, _, said = console("replay", str(found_in), *claimed, "--results", str(tmp_path))
    assert code == 3
    assert "found.json: is not applicable: it sets parameter" in " ".join(said.split())
    other = tmp_path / "other.toml"
    other.write_text('profile = 1\nprotocol = "broadcast"\n')
    code, _, said = console("replay", str(found_in), "--profile", str(other), "--results", str(tmp_path))
    assert code == 2
    assert "is of totalorder; other.toml is a profile of broadcast; leave it out" in " ".join(said.split())


def test_a_run_that_a_node_cuts_short_is_a_failure_and_is_shrunk(console: Console, tmp_path: Path) -> None:
    schedule = next(drawn_schedules(PROTOCOL, 1))
    schedules.write(tmp_path / "found.json", schedule)
    dying = (f"stdio:{sys.executable} -c 'raise SystemExit(3)'", "--results", str(tmp_path))
    code, found = console.json("replay", str(tmp_path / "found.json"), "--shrink", "--iut", *dying)
    assert code == 1
    assert "ended with exit code 3" in found["notes"][0]
    assert not schedules.read(Path(found["small"])).submissions
    # A schedule with an end of its own is not expected to come to the end of everything.
    schedules.write(tmp_path / "short.json", msgspec.structs.replace(schedule, end_ns=1))
    assert console.json("replay", str(tmp_path / "short.json"), "--results", str(tmp_path))[0] == 0
