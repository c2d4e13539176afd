"""Captures and logs in somebody else's layout, judged by `conform --logs`."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from scatterproof.impl.totalorder import RULES, make_core
from scatterproof.spark.importing.tests.test_captures import PROTOCOLS, frames, mapping, simulated, written
from scatterproof.spec.trace import Kind
from scatterproof.tests.test_console import Console

EXAMPLE = Path(__file__).parents[2] / "spark" / PROTOCOLS[0] / "example"


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(monkeypatch, capsys)


def captured(folder: Path, protocol: str) -> str:
    """A folder with a capture beside the network, and its mapping."""
    folder.mkdir()
    (folder / "mapping.toml").write_text(mapping(folder, protocol))
    written(folder / "a.pcap", list(frames(protocol, {Kind.SENT: None})))
    return str(folder)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_capture_is_judged_by_what_packets_show(console: Console, tmp_path: Path, protocol: str) -> None:
    folder, results = captured(tmp_path / "in", protocol), str(tmp_path / "results")
    code, found = console.json("conform", "--protocol", protocol, "--logs", folder, "--results", results)
    trace, _ = simulated(protocol)
    assert found["rows"] == trace.column("kind").count(Kind.SENT)
    verdicts = {clause["verdict"] for clause in found["clauses"]}
    assert verdicts >= {"inconclusive", "not applicable"}
    assert code == 4
    assert ("pass" in verdicts) == (protocol == PROTOCOLS[0])  # the other's clauses all speak of arrivals, too
    assert "fail" not in verdicts
    assert "a capture does not show what is delivered" in found["notes"]


def test_a_capture_of_a_run_that_breaks_a_clause_fails(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = replace(RULES, stamp=lambda clock, last, promised: max(clock - 3_000, last + 1))
    monkeypatch.setattr("scatterproof.impl.totalorder.make_core", partial(make_core, rules=behind))
    folder = captured(tmp_path / "in", "totalorder")
    words = ("--protocol", "totalorder", "--results", str(tmp_path / "results"))
    code, found = console.json("conform", "--logs", folder, *words)
    assert code == 1
    assert "TO-BAR-LINK" in {clause["clause"] for clause in found["clauses"] if clause["verdict"] == "fail"}


def test_lines_that_cannot_be_read_are_told_and_kept(console: Console, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLE / "logs" / "monday", tmp_path / "in")
    shutil.copy(EXAMPLE / "mapping.toml", folder)
    _, found = console.json("conform", "--logs", str(folder), "--results", str(tmp_path / "results"))
    assert any(note.startswith("1 rows in logs.quarantine.parquet: ") for note in found["notes"])
    assert (tmp_path / "results" / "latest" / "logs.quarantine.parquet").is_file()


def test_a_folder_of_two_runs_is_refused(console: Console, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLE / "logs", tmp_path / "in")
    shutil.copy(EXAMPLE / "mapping.toml", folder)
    code, _, said = console("conform", "--logs", str(folder), "--results", str(tmp_path / "results"))
    assert code == 2
    assert "holds 2 runs; keep one in a folder" in said
