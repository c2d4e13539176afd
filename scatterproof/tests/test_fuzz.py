"""`fuzz` as users meet it: what a profile leaves out, what is left when it is stopped, and what Spark tasks find."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scatterproof import iuts
from scatterproof.conformance.examples.tests.languages import EXAMPLES
from scatterproof.fuzz.fuzzer import violations_of
from scatterproof.fuzz.shrink import size
from scatterproof.fuzz.spread import fuzz_spread
from scatterproof.spec import schedule as schedules
from scatterproof.spec.schedule import FaultKind
from scatterproof.tests.test_console import Console
from scatterproof.tests.test_console import console as console  # a fixture

IUT = "mutant:precedence/drop-sender"


def in_turn(items: Sequence[Any], work: Callable[[Any], Any], **_: Any) -> Sequence[Any]:
    return [work(item) for item in items]


@pytest.mark.slow
def test_spark_tasks_find_what_is_found_in_turn(console: Console, tmp_path: Path) -> None:
    alone = fuzz_spread(
        "totalorder",
        partial(iuts.find, IUT, "totalorder", tmp_path),
        in_turn,
        examples=12,
        seed=1,
        folder=tmp_path / "alone",
        per_clause=1,
    )
    assert alone.failures
    results = ("--results", str(tmp_path / "results"))
    words = ("--protocol", "totalorder", "--iut", IUT, "--examples", "12", "--per-clause", "1", *results)
    code, told = console.json("fuzz", *words, "--master", "local[1]")
    assert code == 1
    assert (told["rows"], told["at_stake"], told["failing"]) == (alone.rows, alone.at_stake, alone.failing)
    assert [Path(one["file"]).name for one in told["failures"]] == [Path(one.file).name for one in alone.failures]
    assert [schedules.read(Path(one["file"])) for one in told["failures"]] == [one.schedule for one in alone.failures]
    assert console("replay", told["failures"][0]["file"], "--iut", IUT, *results)[0] == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--mutants", "--master", "local"), "--mutants is tried on this machine alone; leave --master out"),
        (("--master", "there"), "--master is 'there'; give local[*] or local[N]"),
        (("--master", "local", "--iut", "mutant:none"), "--iut mutant:none is unknown"),
    ],
)
def test_what_cannot_be_is_one_sentence_before_spark_starts(
    console: Console, words: tuple[str, ...], sentence: str
) -> None:
    code, _, said = console("fuzz", *words)
    assert code == 2
    assert f"scatterproof: {sentence}" in said


def test_help_names_what_it_leaves_behind_and_its_exit_codes(console: Console) -> None:
    code, said, _ = console("fuzz", "--help")
    assert code == 0
    for word in ("--profile", "--seconds", "as-found.json", "130", "143", "SIGTERM"):
        assert word in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--examples", "0"), "--examples is 0; give 1 to 10000000, or a time with --seconds"),
        (("--examples", str(10**30)), "give 1 to 10000000, or a time with --seconds"),
        (("--seconds", "0"), "--seconds is 0; give a number above 0, and at most 10000000"),
        (("--seconds", "nan"), "--seconds is nan; give a number above 0"),
        (("--seconds", "inf"), "--seconds is inf; give a number above 0"),
        (("--seconds", "1", "--master", "local"), "leave --seconds out"),
        (("--seconds", "1", "--mutants"), "leave --seconds out"),
        (("--profile", "p.toml", "--mutants"), "leave --profile out"),
        (("--profile", "no-such.toml"), "no-such.toml"),
    ],
)
def test_absurd_requests_are_one_sentence(console: Console, words: tuple[str, ...], sentence: str) -> None:
    code, _, said = console("fuzz", *words)
    assert code == 2
    assert sentence in " ".join(said.split())
    assert "Traceback" not in said


def test_a_program_that_is_not_there_is_told_at_once(console: Console, tmp_path: Path) -> None:
    for kind in ("stdio", "datagram"):
        code, _, said = console("fuzz", "--iut", f"{kind}:/no/such/node", "--results", str(tmp_path))
        assert code == 3
        assert "/no/such/node: is no program that can be started" in said


def test_what_was_never_at_stake_has_an_exit_code_of_its_own(console: Console, tmp_path: Path) -> None:
    code, found = console.json("fuzz", "--examples", "2", "--results", str(tmp_path))
    assert code == 4
    assert {standing["verdict"] for standing in found["clauses"].values()} >= {"pass", "inconclusive"}
    assert (found["failures"], found["stopped"]) == ([], "")


PROFILE = EXAMPLES / "profile.toml"


@pytest.mark.slow
def test_a_profile_leaves_out_what_is_not_claimed(console: Console, tmp_path: Path) -> None:
    words = ("--iut", IUT, "--examples", "40", "--results", str(tmp_path / "results"))
    code, found = console.json("fuzz", "--profile", str(PROFILE), *words)
    assert code == 1
    assert {failure["clause"] for failure in found["failures"]} == {"TO-ORDER"}
    for failure in found["failures"]:
        schedule = schedules.read(Path(failure["file"]))
        assert schedule.parameters["environment"] in ("A", "B", "C")
        assert all(fault.kind is not FaultKind.LOSE for fault in schedule.faults), "in networks that lose nothing"
    own = tmp_path / "own.toml"
    own.write_text(PROFILE.read_text().replace("roles =", 'clauses = ["TO-BAR-*"]\nroles ='))
    code, found = console.json("fuzz", "--profile", str(own), *words)
    assert code == 0
    assert found["clauses"]["TO-ORDER"] == {
        "verdict": "not applicable",
        "at_stake": 0,
        "reason": "the profile does not claim it",
    }
    assert {clause for clause, one in found["clauses"].items() if one["verdict"] == "pass"} == {
        "TO-BAR-HOST",
        "TO-BAR-LINK",
        "TO-BAR-MIN",
        "TO-BAR-PART",
        "TO-BAR-RISE",
    }


def test_over_sockets_only_what_can_be_played_there_is_drawn(console: Console, tmp_path: Path) -> None:
    words = ("--iut", "reference-udp", "--protocol", "broadcast", "--results", str(tmp_path))
    code, _, said = console("fuzz", *words)
    assert code == 2
    assert "its packets have no number on their link" in " ".join(said.split())


# The node process of this number, from 1, sends the harness that signal.
_KILLING = """
import fcntl, os, sys
with open(sys.argv[1], "ab") as starts:
    fcntl.flock(starts, fcntl.LOCK_EX)
    starts.write(b".")
    number = starts.tell()
if number == int(sys.argv[2]):
    os.kill(int(os.environ["HARNESS"]), int(sys.argv[3]))
"""


def fuzzed_with_a_killing_node(
    tmp_path: Path, rule: tuple[str, str], start: int, number: signal.Signals
) -> tuple[int, dict[str, Any], str]:
    """Exit code, JSON and stderr of fuzzing the example in Python, altered by the rule, while one of its processes
    sends the signal."""
    before, after = rule
    node = (EXAMPLES / "python" / "node.py").read_text()
    assert before in node
    head, future, rest = node.replace(before, after).partition("from __future__ import annotations\n")
    (tmp_path / "node.py").write_text(head + future + _KILLING + rest)
    iut = f"stdio:{sys.executable} {tmp_path}/node.py {tmp_path}/starts {start} {int(number)}"
    words = ("fuzz", "--iut", iut, "--profile", str(PROFILE), "--examples", "2", "--json")
    scatterproof = (sys.executable, "-m", "scatterproof.cli", *words, "--results", str(tmp_path / "results"))
    ended = subprocess.run(
        ["sh", "-c", 'HARNESS=$$ exec "$@"', "sh", *scatterproof],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in ended.stderr
    return ended.returncode, json.loads(ended.stdout), ended.stderr


HASTY = ("self.buffer[0][0] < barrier", "self.buffer[0][0] <= barrier")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_what_was_found_in_whole_files(tmp_path: Path, number: signal.Signals) -> None:
    # The first schedule fails; by then its shrinking has taken some steps, and not all.
    code, found, _ = fuzzed_with_a_killing_node(tmp_path, HASTY, 22, number)
    assert code == 1
    assert (found["stopped"], found["stopped_at"]) == (number.name, "the shrinking of TO-DELIVER")
    (failure,) = found["failures"]
    assert not failure["minimal"]
    kept = sorted((tmp_path / "results" / "failures").iterdir())
    assert {str(path) for path in kept} == {failure["file"], failure["as_found"]}
    small, as_found = schedules.read(Path(failure["file"])), schedules.read(Path(failure["as_found"]))
    assert size(small) < size(as_found)
    hasty = iuts.find("mutant:deliverable/lt-to-le", "totalorder", tmp_path)
    assert "TO-DELIVER" in violations_of(hasty.run(small))


@pytest.mark.slow
def test_a_signal_before_anything_is_found_is_the_exit_code(tmp_path: Path) -> None:
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        folder = tmp_path / number.name
        folder.mkdir()
        ended, found, _ = fuzzed_with_a_killing_node(folder, (HASTY[0], HASTY[0]), 1, number)
        assert ended == code
        assert (found["stopped"], found["stopped_at"], found["examples"]) == (number.name, "schedule 0", 0)
        assert not (folder / "results" / "failures").exists()
