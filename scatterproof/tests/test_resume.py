"""Runs of `conform` that are broken off: what is there then, who may go on, and who else may write there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scatterproof.case_journal import FILE_NAME, alone_in
from scatterproof.conformance.case import cases, select
from scatterproof.conformance.report.run import folder_name
from scatterproof.spec import trace_ndjson
from scatterproof.spec.clauses import protocols
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.files import IMPORTED_FROM
from scatterproof.tests.test_console import Console
from scatterproof.tests.test_program_runs import PLACES

PROTOCOL = protocols()[0]
CASES = [case.id for case in select(PROTOCOL, ["TO-SCATTER"])]
REFERENCE = ("--iut", "reference", "--case", "TO-SCATTER")
# Notes that it was started. One of those of the second case takes the file `angry` away, and interrupts the harness.
INTERRUPTS = """
import os, pathlib, signal, sys
place = pathlib.Path(sys.argv[1])
with (place / "started").open("a") as file:
    file.write("x")
line = sys.stdin.readline()
if len((place / "started").read_text()) > int(sys.argv[2]):
    try:
        (place / "angry").unlink()
    except FileNotFoundError:
        pass
    else:
        os.kill(int((place / "harness").read_text()), signal.SIGINT)
print('{"type":"ready"}', flush=True)
sys.stdin.readline()
"""

# The command, which leaves its process id in a file.
HARNESS = """
import os, pathlib, sys
pathlib.Path(sys.argv.pop(1)).write_text(str(os.getpid()))
from scatterproof.cli import main
main()
"""


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(monkeypatch, capsys)


def journal(results: Path) -> list[bytes]:
    return (results / "latest" / FILE_NAME).read_bytes().splitlines()


def test_ctrl_c_says_where_it_stopped_and_resume_goes_on_there(console: Console, tmp_path: Path) -> None:
    (tmp_path / "interrupts.py").write_text(INTERRUPTS)
    (tmp_path / "angry").touch()
    nodes = len(select(PROTOCOL, CASES[:1])[0].schedule.topology.nodes)
    iut = f"stdio:{sys.executable} {tmp_path}/interrupts.py {tmp_path} {nodes}"
    words = ["conform", "--iut", iut, "--case", "TO-SCATTER", "--results", str(tmp_path / "results")]
    command = [sys.executable, "-c", HARNESS, str(tmp_path / "harness"), *words]
    stopped = subprocess.run(command, cwd=IMPORTED_FROM, capture_output=True, text=True)
    assert stopped.returncode == 130, stopped.stderr
    assert f"stopped at case 2 of {len(CASES)}: {CASES[1]}" in stopped.stderr
    assert "--resume" in stopped.stderr
    assert "what was written is whole" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert len(journal(tmp_path / "results")) == 2
    assert (tmp_path / "results" / "latest" / folder_name(CASES[0]) / "trace.ndjson").is_file()

    (tmp_path / "started").write_text("")
    code, found = console.json(*words, "--resume")
    assert code == 4
    assert [case["id"] for case in found["cases"]] == CASES
    assert {case["verdict"] for case in found["cases"]} == {"inconclusive"}
    of_others = sum(len(case.schedule.topology.nodes) for case in select(PROTOCOL, CASES[1:]))
    assert len((tmp_path / "started").read_text()) == of_others


@pytest.mark.slow
def test_a_run_that_goes_on_finds_what_one_that_was_not_broken_off_finds(console: Console, tmp_path: Path) -> None:
    mutant = ("conform", "--iut", "mutant:host/delivers-on-arrival", "--case", "TO-DELIVER", "--case", "TO-SCATTER")
    whole = console.json(*mutant, "--results", str(tmp_path / "whole"))
    parted = (*mutant, "--results", str(tmp_path / "parted"))
    console.json(*parted)
    kept = tmp_path / "parted" / "latest" / FILE_NAME
    # As `kill -9` leaves it in the middle of the third case's line.
    lines = kept.read_bytes().splitlines(keepends=True)
    kept.write_bytes(b"".join(lines[:3]) + lines[3][:40])
    code, found, told = console(*parted, "--resume", "--json")[0], *map(str, console(*parted, "--resume")[1:])
    assert "of 6 cases are known" in told
    again = console.json(*parted, "--resume")
    for one in (whole, again):
        for case in one[1]["cases"]:
            del case["seconds"]
    assert code == whole[0] == 1
    assert found
    assert again == whole
    for case in whole[1]["cases"]:
        traces = [tmp_path / name / "latest" / folder_name(case["id"]) / "trace.ndjson" for name in ("whole", "parted")]
        assert trace_ndjson.read(traces[0]).rows == trace_ndjson.read(traces[1]).rows


def test_cases_whose_files_are_gone_or_that_have_changed_are_run_again(console: Console, tmp_path: Path) -> None:
    words = ("conform", *REFERENCE, "--results", str(tmp_path))
    console(*words)
    latest = tmp_path / "latest"
    (latest / folder_name(CASES[0]) / "trace.ndjson").unlink()
    other = latest / folder_name(CASES[2]) / "schedule.json"
    (latest / folder_name(CASES[1]) / "schedule.json").write_bytes(other.read_bytes())
    code, _, told = console(*words, "--resume")
    assert code == 0
    assert f"{len(CASES) - 2} of {len(CASES)} cases are known" in told
    assert (latest / folder_name(CASES[0]) / "trace.ndjson").is_file()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--iut", "reference-stdio", "--case", "TO-SCATTER"), "iut reference, not reference-stdio"),
        (("--case", f"{protocols()[1]}/*"), f"protocol {PROTOCOL}, not {protocols()[1]}"),
        (("--case", "TO-SCATTER", "--profile", "mine.toml"), "profile none, not mine.toml"),
    ],
)
def test_another_run_s_folder_is_refused(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(f'profile = 1\nprotocol = "{PROTOCOL}"\n')
    console("conform", *REFERENCE)
    before = journal(Path("results"))
    code, said, complaint = console("conform", *options, "--resume")
    assert (code, said) == (2, "")
    assert named in complaint
    assert journal(Path("results")) == before
    assert (Path("results") / "latest" / "index.html").is_file()


def test_a_profile_that_has_changed_is_another_run_s(console: Console, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    words = ("conform", "--case", "TO-SCATTER", "--profile", str(mine), "--results", str(tmp_path))
    mine.write_text(f'profile = 1\nprotocol = "{PROTOCOL}"\n')
    assert console(*words)[0] == 0
    assert console(*words, "--resume")[0] == 0
    mine.write_text(f'profile = 1\nprotocol = "{PROTOCOL}"\nclauses = ["TO-SCATTER"]\n')
    assert console(*words, "--resume")[0] == 2


def test_where_nothing_is_there_is_nothing_to_go_on_from(console: Console, tmp_path: Path) -> None:
    code, _, complaint = console("conform", *REFERENCE, "--resume", "--results", str(tmp_path))
    assert code == 2
    assert "leave --resume out" in complaint
    (tmp_path / "latest" / FILE_NAME).write_text("nonsense\n")
    assert console("conform", *REFERENCE, "--resume", "--results", str(tmp_path))[0] == 2


def test_two_runs_do_not_write_into_one_folder(console: Console, tmp_path: Path) -> None:
    words = ("conform", *REFERENCE, "--results", str(tmp_path))
    console(*words)
    before = journal(tmp_path)
    with alone_in(tmp_path / "latest"):
        code, said, complaint = console(*words)
        assert (code, said) == (3, "")
        assert "another run writes there now" in complaint
        assert "--results" in complaint
        assert journal(tmp_path) == before
        program = ("--iut-command", f"true {PLACES}", "--level", "fifo", "--protocol", "broadcast")
        for other in (("conform", "--logs", str(tmp_path)), ("conform", *program), ("race", *program)):
            code, _, complaint = console(*other, "--results", str(tmp_path))
            assert (code, "another run writes there now" in complaint) == (3, True), complaint
        suite = [sys.executable, "-m", "pytest", "--scatterproof-iut=reference", "scatterproof::TO-MONO::one-instant"]
        held = subprocess.run(
            [*suite, f"--scatterproof-results={tmp_path}"], capture_output=True, text=True, cwd=tmp_path
        )
        assert (held.returncode, "another run writes there now" in held.stdout + held.stderr) == (3, True), held
        # It is nobody's concern in another folder.
        assert console("conform", *REFERENCE, "--results", str(tmp_path / "other"))[0] == 0
    assert console(*words)[0] == 0
    with alone_in(tmp_path):
        for more in ((), ("--mutants",)):
            code, _, complaint = console("fuzz", *more, "--results", str(tmp_path))
            assert (code, "another run writes there now" in complaint) == (3, True), complaint


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotRun, match="cannot be written"), alone_in(tmp_path / "file" / "latest"):
        pass


def test_reports_of_an_earlier_run_do_not_outlive_the_start_of_another(console: Console, tmp_path: Path) -> None:
    words = ("--results", str(tmp_path), "--case", "TO-SCATTER")
    console("conform", *words)
    dies = f"stdio:{sys.executable} -c pass"
    assert (tmp_path / "latest" / "results.json").is_file()
    console("conform", *words, "--iut", dies, "--fail-fast")
    assert dies.encode() in journal(tmp_path)[0]
    assert len(journal(tmp_path)) == 2


@pytest.mark.parametrize("option", ["--junit", "--html", "--summary"])
@pytest.mark.parametrize("file", ["new/folder/x.xml", "folder"])
def test_a_file_without_a_folder_is_refused_before_the_run(
    console: Console, tmp_path: Path, option: str, file: str
) -> None:
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.rglob("*"))
    words = ("conform", *REFERENCE, "--results", str(tmp_path / "results"), option, str(tmp_path / file))
    code, said, complaint = console(*words)
    assert (code, said) == (2, "")
    assert option in complaint
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_in_the_results_folder_needs_no_folder_yet(console: Console, tmp_path: Path) -> None:
    junit = tmp_path / "results" / "ci" / "junit.xml"
    words = ("conform", *REFERENCE, "--results", str(tmp_path / "results"), "--junit", str(junit))
    assert console(*words)[0] == 0
    assert junit.is_file()
    assert len(journal(tmp_path / "results")) == 1 + len(CASES) <= len(cases(PROTOCOL))
