"""The console before it runs anything: what it imports, what Ctrl-C does meanwhile, and what it says of itself."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path

import pytest

from scatterproof.app import COMMANDS
from scatterproof.spec.files import IMPORTED_FROM
from scatterproof.tests.test_console import Console

# Each takes longer to import than all that a list needs.
HEAVY = (
    *("hypothesis", "matplotlib", "networkx", "numba", "pandas", "pyarrow", "pyspark", "scapy", "z3"),
    *(f"scatterproof.{name}" for name in ("fuzz", "spark", "models.z3_claims")),
)
RUN = """
import sys
from scatterproof.cli import main
try:
    main()
finally:
    print("imported", *sorted(sys.modules), file=sys.stderr)
"""
# Sends itself SIGINT where the module that is named first begins to be imported.
INTERRUPTED = """
import signal, sys
at = sys.argv.pop(1)
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == at:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from scatterproof.cli import main
main()
"""


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(monkeypatch, capsys)


def python(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program, *words], cwd=IMPORTED_FROM, capture_output=True, text=True)


@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "--version",
        "clauses",
        "clauses TO-ORDER",
        "conform --help",
        "conform --list",
        "conform --list --json --case broadcast/*",
        "conform --dry-run --iut stdio:true",
    ],
)
def test_a_list_imports_nothing_that_is_heavy(words: str) -> None:
    done = python(RUN, *words.split())
    assert done.returncode == 0, done.stderr
    said, _, imported = done.stderr.rpartition("imported ")
    loaded = set(imported.split())
    assert said == ""
    assert sorted(loaded.intersection(HEAVY)) == []
    assert {"typer", "scatterproof.app"} <= loaded


def test_what_is_heavy_is_imported_by_a_run(tmp_path: Path) -> None:
    # Or the names above would be of nothing.
    done = python(RUN, "conform", "--case", "TO-DELIVER/itself-only", "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert {"numba", "scatterproof.conformance.judge"} <= set(done.stderr.rpartition("imported ")[2].split())


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("typer", "--help"),
        ("rich.console", "--help"),
        ("scatterproof.commands.conform", "conform"),
        ("numba", "conform --case TO-DELIVER/itself-only"),
        ("pyspark", "mine nowhere"),
    ],
)
def test_ctrl_c_while_it_loads_ends_it_without_a_traceback(tmp_path: Path, module: str, words: str) -> None:
    more = ["--results", str(tmp_path)] if "--case" in words else []
    done = python(INTERRUPTED, module, *words.split(), *more)
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert "scatterproof: interrupted" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_of_a_command_what_its_help_begins_with(console: Console, name: str) -> None:
    module = import_module(f"scatterproof.commands.{'import_' if name == 'import' else name.replace('-', '_')}")
    assert " ".join((inspect.getdoc(module.command) or "").split("\n\n")[0].split()) == COMMANDS[name]
    code, said, _ = console(name, "-h")
    assert code == 0
    assert "-h" in said
    assert said == console(name, "--help")[1]


def test_the_version_is_that_of_the_package(console: Console) -> None:
    assert console("--version") == (0, f"scatterproof {metadata.version('scatterproof')}\n", "")


def test_the_help_lists_every_exit_code(console: Console) -> None:
    code, said, _ = console("-h")
    assert code == 0
    told = " ".join(said.split())
    for number in (0, 1, 2, 3, 4, 130):
        assert f" {number} " in told.partition("Exit codes:")[2].partition("Options")[0]


def test_a_reader_that_leaves_is_no_violation() -> None:
    # `scatterproof ... | head` must not end with 1, which says that a clause is broken.
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "scatterproof.cli", "clauses"]
    done = subprocess.run(command, cwd=IMPORTED_FROM, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")
