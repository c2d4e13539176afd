"""The console command as a user meets it: exit codes, one clear sentence for bad input, JSON alone on stdout."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.core import TyperGroup

from scatterproof import cli
from scatterproof.app import COMMANDS, groups, whole
from scatterproof.conformance.case import cases
from scatterproof.models.expected import Tier, models_of
from scatterproof.spec import clauses
from scatterproof.spec import schedule as schedules
from scatterproof.spec.clauses import protocols

PROTOCOL = protocols()[0]
SMALLEST = min(protocols(), key=lambda name: len(cases(name)))


class Console:
    """Runs the command in this process, as `main` does it for a user."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "argv", ["scatterproof", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = self._capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0), said.out, said.err

    def json(self, *words: str) -> tuple[int, Any]:
        code, said, _ = self(*words, "--json")
        return code, json.loads(said)


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(monkeypatch, capsys)


def test_every_command_has_help_that_names_its_options(console: Console) -> None:
    code, said, _ = console("--help")
    assert code == 0
    for command in ("verify", "doctor", "clauses", "check", "conform", "fuzz", "replay", "corpus", "import", "mine"):
        assert command in said
        code, own, _ = console(command, "--help")
        assert code == 0
        assert "--json" in own
        assert "--protocol" in own


@pytest.mark.parametrize("name", groups())
def test_the_list_says_of_a_group_of_commands_what_its_help_begins_with(console: Console, name: str) -> None:
    group = whole(name)
    assert isinstance(group, TyperGroup)
    assert name not in COMMANDS
    assert (group.help or "").split("\n\n")[0] == groups()[name][1]
    code, said, _ = console(name, "--help")
    assert code == 0
    assert len(group.commands) > 1
    assert all(f" {command} " in said for command in group.commands)


def test_clauses_as_json_hold_a_sentence_and_a_layer_or_a_reason_each(console: Console) -> None:
    code, found = console.json("clauses")
    assert code == 0
    assert len(found["clauses"]) > 50
    for clause in found["clauses"]:
        assert clause["must"].endswith(".")
        assert set(clause["layers"]) | set(clause["not_yet"]) == {"tlc", "z3", "oracle", "check", "case"}


def test_a_clause_is_found_in_whichever_protocol_has_it(console: Console) -> None:
    for protocol in protocols():
        clause = clauses.load(protocol).clauses[-1].id
        assert console.json("clauses", clause)[1]["protocol"] == protocol


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("clauses", "TO-NONSENSE"), "TO-NONSENSE"),
        (("clauses", "--protocol", "carrier-pigeons"), "carrier-pigeons"),
        (("conform", "--iut", "nobody"), "nobody"),
        (("conform", "--case", "TO-NONSENSE"), "TO-NONSENSE"),
        (("conform", "--iut", "stdio:"), "names no command"),
        (("conform", "--iut", "mutant:nonsense"), "mutant:nonsense"),
        (("conform", "--baseline", "no-such-file"), "no-such-file"),
        (("replay", "no-such-schedule.json"), "no-such-schedule.json"),
        (("mine", "no-such-corpus"), "no-such-corpus"),
        (("check", "nonsense"), "no model and no claim of totalorder is named 'nonsense'; near it are"),
        (("check", "two_switches", "--deep"), "leave them out where some are named"),
        (("verify", "--require", "crystal-ball"), "crystal-ball"),
        (("verify", "--only", "crystal-ball"), "crystal-ball"),
    ],
)
def test_bad_input_ends_with_one_sentence_and_exit_code_2(console: Console, words: tuple[str, ...], named: str) -> None:
    code, said, complaint = console(*words)
    assert code == 2
    assert named in complaint
    assert "Traceback" not in complaint
    assert said == ""


def test_an_unknown_option_is_wrong_usage(console: Console) -> None:
    assert console("conform", "--no-such-option")[0] == 2


def test_a_malformed_schedule_is_refused_by_file_and_place(console: Console, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"protocol": "' + PROTOCOL + '", "topology": 3}')
    code, _, complaint = console("replay", str(broken))
    assert code == 2
    assert "broken.json" in complaint.replace("\n", "")
    assert "topology" in complaint


@pytest.mark.parametrize("field", ["protocol", "parameters", "format", "delays"])
def test_a_schedule_with_a_spoiled_field_is_refused_by_its_file(console: Console, tmp_path: Path, field: str) -> None:
    good = cases(PROTOCOL)[0].schedule
    spoiled = {"protocol": "pigeons", "parameters": {"environment": "Z"}, "format": 99, "delays": ()}
    file = tmp_path / "spoiled.json"
    schedules.write(file, msgspec.structs.replace(good, **{field: spoiled[field]}))
    code, said, complaint = console("replay", str(file), "--results", str(tmp_path))
    assert (code, said) == (2, "")
    assert "spoiled.json" in complaint.replace("\n", "")


def test_conform_lists_the_cases_and_runs_none(console: Console, tmp_path: Path) -> None:
    code, found = console.json("conform", "--list", "--results", str(tmp_path / "results"))
    assert code == 0
    assert [case["id"] for case in found] == [case.id for case in cases(PROTOCOL)]
    assert not (tmp_path / "results").exists()


def test_conform_of_the_reference_passes_and_leaves_junit_page_and_traces(console: Console, tmp_path: Path) -> None:
    wanted = cases(PROTOCOL)[0].id
    results, junit, page = tmp_path / "results", tmp_path / "junit.xml", tmp_path / "page.html"
    code, found = console.json(
        "conform", "--case", wanted, "--results", str(results), "--junit", str(junit), "--html", str(page)
    )
    assert code == 0
    assert [(case["id"], case["verdict"]) for case in found["cases"]] == [(wanted, "pass")]
    assert "<testsuite" in junit.read_text()
    assert wanted in page.read_text()
    assert list(results.glob("latest/*/trace.ndjson"))


def test_a_program_that_does_nothing_does_not_pass(console: Console, tmp_path: Path) -> None:
    wanted = cases(PROTOCOL)[0].id
    silent = f"stdio:{sys.executable} -c pass"
    code, found = console.json("conform", "--case", wanted, "--iut", silent, "--results", str(tmp_path))
    assert code == 4
    assert found["cases"][0]["verdict"] == "inconclusive"
    assert found["cases"][0]["reason"]


def test_a_baseline_that_expects_a_failure_fails_when_the_case_passes(console: Console, tmp_path: Path) -> None:
    wanted = cases(PROTOCOL)[0].id
    baseline = tmp_path / "known.txt"
    baseline.write_text(f"# known failures\n{wanted}\n")
    words = ("conform", "--case", wanted, "--results", str(tmp_path), "--baseline", str(baseline))
    code, found = console.json(*words)
    assert code == 1
    assert "take it out" in found["unexpected"][0]


def test_replay_judges_a_saved_schedule_again(console: Console, tmp_path: Path) -> None:
    case = cases(PROTOCOL)[0]
    file = tmp_path / "case.json"
    schedules.write(file, case.schedule)
    code, found = console.json("replay", str(file), "--results", str(tmp_path / "results"))
    assert code == 0
    assert {clause["verdict"] for clause in found["clauses"] if clause["clause"] in case.at_stake} == {"pass"}
    assert Path(found["trace"]).is_file()


@pytest.mark.slow
def test_what_fuzzing_finds_fails_again_on_replay_and_passes_on_the_reference(console: Console, tmp_path: Path) -> None:
    mutant = ("--iut", "mutant:aggregate/min-to-max", "--results", str(tmp_path))
    code, found = console.json("fuzz", "--examples", "20", *mutant)
    assert code == 1
    for failure in found["failures"]:
        code, replayed = console.json("replay", failure["file"], *mutant)
        assert code == 1
        assert failure["clause"] in {c["clause"] for c in replayed["clauses"] if c["verdict"] == "fail"}
        assert console.json("replay", failure["file"], "--results", str(tmp_path))[0] == 0


@pytest.mark.slow
def test_check_takes_models_and_claims_by_name(console: Console) -> None:
    code, found = console.json("check", "switch_ack_barrier_is_minimum", "ack_barrier_at_*", "-p", PROTOCOL)
    assert code == 0
    wanted = [model for model in models_of(PROTOCOL) if model.name.startswith("ack_barrier_at_")]
    assert any(model.tier is not Tier.QUICK for model in wanted)  # of any tier, as they are named
    assert [one["name"] for one in found["models"]] == [model.name for model in wanted]
    assert [one["name"] for one in found["claims"]] == ["switch_ack_barrier_is_minimum"]
    assert (found["findings"], found["not_run"]) == ([], {})
    code, said, told = console("check", "switch_ack_barrier_is_minimum")
    assert (code, "TLC" in said + told, "Findings" in said) == (0, False, False)


@pytest.mark.slow
def test_verify_of_one_layer_shows_its_clauses_of_every_protocol_when_none_is_named(
    console: Console, tmp_path: Path
) -> None:
    page = tmp_path / "report"
    code, found = console.json("verify", "--only", "conform", "--results", str(tmp_path), "--report", str(page))
    assert code == 0
    assert [one["protocol"] for one in found] == list(protocols())
    for one in found:
        assert [layer["layer"] for layer in one["layers"]] == ["conform"]
        text = (page / one["protocol"] / "index.html").read_text()
        assert all(row["clause"] in text for row in one["clauses"])
        assert "://" not in text


@pytest.mark.slow
def test_verify_fails_with_3_when_a_required_layer_cannot_run(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCATTERPROOF_TLA2TOOLS", str(tmp_path / "nowhere.jar"))
    folders = ("--results", str(tmp_path), "--report", str(tmp_path))
    words = ("verify", "--protocol", SMALLEST, "--only", "tlc", "--only", "conform", *folders)
    code, found = console.json(*words)
    assert (code, found["protocol"]) == (0, SMALLEST)
    assert (tmp_path / "index.html").is_file()
    assert {layer["layer"]: layer["status"] for layer in found["layers"]} == {"tlc": "not run", "conform": "pass"}
    assert console.json(*words, "--require", "tlc")[0] == 3
