"""`conform --profile` and `conform --logs` as a user meets them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from scatterproof.conformance.case import cases
from scatterproof.conformance.report.run import folder_name
from scatterproof.iuts import NODES
from scatterproof.spec import schedule as schedules
from scatterproof.spec.clauses import protocols
from scatterproof.tests.test_console import Console

PROTOCOL = protocols()[0]
HEAD = f'profile = 1\nprotocol = "{PROTOCOL}"\n'
CASE = cases(PROTOCOL)[0]


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(monkeypatch, capsys)


def profile(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(HEAD + text)
    return str(path)


def test_what_is_not_claimed_is_not_applicable_and_says_why(console: Console, tmp_path: Path) -> None:
    mine = profile(tmp_path, f'[unclaimed]\n{CASE.clause} = "not yet"\n')
    other = next(case for case in cases(PROTOCOL) if case.clause != CASE.clause)
    words = (
        "conform",
        "--profile",
        mine,
        "--case",
        CASE.id,
        "--case",
        other.id,
        "--results",
        str(tmp_path / "results"),
    )
    code, found = console.json(*words)

    assert code == 0
    assert (found["profile"], found["counts"]) == ("mine.toml", {"pass": 1, "not applicable": 1})
    assert found["cases"][0]["reason"] == f"{CASE.clause}: the profile does not claim it: not yet"
    assert "not applicable, 1 case: " in console(*words)[1]


def test_a_run_in_which_nothing_was_applicable_is_no_pass(console: Console, tmp_path: Path) -> None:
    mine = profile(tmp_path, f'[unclaimed]\n{CASE.clause} = "not yet"\n')
    code, found = console.json("conform", "--profile", mine, "--case", CASE.id, "--results", str(tmp_path))
    assert (code, found["verdict"]) == (3, "not applicable")


def test_the_list_says_what_is_not_given_to_the_implementation(console: Console, tmp_path: Path) -> None:
    mine = profile(tmp_path, f'clauses = ["{CASE.clause}"]\n')
    _, found = console.json("conform", "--profile", mine, "--list")

    assert {case["clause"] for case in found if case["not_applicable"] is None} == {CASE.clause}
    assert len(found) == len(cases(PROTOCOL))


def test_a_program_plays_the_nodes_of_its_roles_alone(console: Console, tmp_path: Path) -> None:
    mine = profile(tmp_path, 'roles = ["switch"]\n')
    iut = f"stdio:{sys.executable} -m scatterproof.impl.drivers.stdio"
    code, found = console.json(
        "conform", "--profile", mine, "--iut", iut, "--case", CASE.id, "--results", str(tmp_path)
    )

    started = {path.stem for path in (tmp_path / "latest" / folder_name(CASE.id) / NODES).glob("*.stdout")}
    switches = CASE.schedule.topology.switches()
    assert code in (0, 3)
    assert found["cases"][0]["verdict"] in ("pass", "not applicable")
    assert started == {f"{node}-{CASE.schedule.topology.nodes[node].name}" for node in switches}


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--profile", "no-such.toml"), "no-such.toml"),
        (("--logs", "no-such-folder"), "no-such-folder"),
        (("--logs", ".", "--case", "X"), "--case goes with a case; leave out --logs, or leave --case out"),
        (("--logs", ".", "--iut", "stdio:x"), "--iut goes with a case; leave out --logs"),
        (("--logs", ".", "--iut-command", "x"), "--logs goes with a case; leave out --iut-command"),
    ],
)
def test_what_does_not_fit_ends_with_one_sentence(console: Console, words: tuple[str, ...], named: str) -> None:
    code, said, complaint = console("conform", *words)
    assert (code, said) == (2, "")
    assert named in " ".join(complaint.split())


def test_a_wrong_profile_and_a_wrong_protocol_are_refused(console: Console, tmp_path: Path) -> None:
    code, _, complaint = console("conform", "--profile", profile(tmp_path, 'roles = ["router"]\n'))
    assert code == 2
    assert "unknown role 'router'; take one of host, switch" in " ".join(complaint.split())
    for other in protocols()[1:]:
        code, _, complaint = console("conform", "--profile", profile(tmp_path, ""), "--protocol", other)
        assert code == 2
        assert f"is a profile of {PROTOCOL}, not of {other}" in " ".join(complaint.split())


def test_logs_that_a_run_has_left_are_judged_again(console: Console, tmp_path: Path) -> None:
    results = ("--results", str(tmp_path))
    assert console.json("conform", "--iut", "reference-udp", "--case", CASE.id, *results)[0] == 0
    logs = tmp_path / "latest" / folder_name(CASE.id) / NODES
    code, found = console.json("conform", "--logs", str(logs), *results)

    assert code == 4  # of the clauses that one case does not put at stake nothing can be said
    verdicts = {clause["clause"]: clause["verdict"] for clause in found["clauses"]}
    assert verdicts[CASE.clause] == "pass"
    assert "fail" not in verdicts.values()
    assert Path(found["trace"]).is_file()
    code, said, _ = console("conform", "--logs", str(logs), *results)
    assert "merged trace of" in said

    mine = profile(tmp_path, f'[unclaimed]\n{CASE.clause} = "not yet"\n')
    _, found = console.json("conform", "--logs", str(logs), "--profile", mine, *results)
    assert {c["verdict"] for c in found["clauses"] if c["clause"] == CASE.clause} == {"not applicable"}
    alone = profile(tmp_path, f'clauses = ["{CASE.clause}"]\n')
    assert console.json("conform", "--logs", str(logs), "--profile", alone, *results)[0] == 0
    # One delivery told twice, the second time in the end.
    receiver = next(path for path in sorted(logs.glob("*.log.ndjson")) if '"kind":"delivered"' in path.read_text())
    lines = receiver.read_text().splitlines()
    delivered = next(row for row in map(json.loads, lines) if row["kind"] == "delivered")
    again = delivered | {name: json.loads(lines[-1])[name] for name in ("time_ns", "clock_ns")}
    receiver.write_text("\n".join([*lines, json.dumps(again)]) + "\n")
    assert console.json("conform", "--logs", str(logs), *results)[0] == 1


def test_a_schedule_beside_it_is_no_run_file(console: Console, tmp_path: Path) -> None:
    schedules.write(tmp_path / "run.json", CASE.schedule)
    code, _, complaint = console("conform", "--logs", str(tmp_path))
    assert code == 2
    assert "run.json: does not describe a run" in " ".join(complaint.split())
