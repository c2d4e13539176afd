"""`conform` as a suite: addresses, plans, what counts, and several cases at once."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from scatterproof import clause_text
from scatterproof.baseline import Baseline, advised
from scatterproof.conformance.case import CaseResult, cases
from scatterproof.conformance.report import markdown
from scatterproof.conformance.report.run import ConformanceRun, folder_name
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.clauses import protocols
from scatterproof.suite import exit_code
from scatterproof.tests.test_console import Console

PROTOCOL, *OTHERS = protocols()
CASE = cases(PROTOCOL)[0]
# Whose rounds of adjustment come too seldom, which SHOULD not be; it breaks nothing else.
SELDOM = ("--iut", "mutant:host/asks-seldom", "--case", "TO-ADJ-ROUNDS")
# Gets ready, and ends at the first event.
DIES = """
import os, sys
sys.stdin.readline()
print('{"type":"ready"}', flush=True)
sys.stdin.readline()
os._exit(3)
"""


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(monkeypatch, capsys)


# ---------------------------------------------------------------- addresses, lists and plans


@pytest.mark.parametrize("other", OTHERS)
def test_an_address_names_protocol_clause_and_case(console: Console, other: str) -> None:
    wanted = cases(other)[-1]
    for pattern in (wanted.address, f"{other}/{wanted.clause}", f"{other}/*"):
        code, found = console.json("conform", "--list", "--case", pattern)
        assert code == 0
        assert wanted.address in [case["address"] for case in found]
        assert {case["address"].split("/")[0] for case in found} == {other}
    code, found = console.json("conform", "--list", "--case", wanted.address)
    assert [case["id"] for case in found] == [wanted.id]


@pytest.mark.parametrize("other", OTHERS)
def test_addresses_and_options_have_to_agree(console: Console, other: str) -> None:
    mine, foreign = CASE.address, cases(other)[0].address
    for words in (("--case", mine, "--case", foreign), ("--case", mine, "--protocol", other)):
        code, said, complaint = console("conform", "--list", *words)
        assert (code, said) == (2, "")
        assert PROTOCOL in complaint
        assert other in complaint


def test_a_case_that_is_none_is_answered_with_those_near_it(console: Console) -> None:
    code, _, complaint = console("conform", "--case", f"{CASE.address}x")
    assert code == 2
    assert CASE.id in " ".join(complaint.split())


def test_the_list_is_by_clause_and_says_level_and_needs(console: Console) -> None:
    code, said, _ = console("conform", "--list")
    assert code == 0
    lines = said.splitlines()
    heads = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert heads == list(dict.fromkeys(case.clause for case in cases(PROTOCOL)))
    assert "TO-ADJ-ROUNDS AdjustmentIsRepeated (SHOULD)" in lines
    _, found = console.json("conform", "--list")
    restarting = next(case for case in found if case["needs"]["failures"])
    assert restarting["needs"]["parameters"]
    assert found[0]["needs"]["nodes"] == {"host": 3, "switch": 1}
    assert all(case["seed"] == 1 for case in found)


def planned(found: dict[str, Any]) -> dict[str, str]:
    return {case["id"]: case["plan"] for case in found["cases"]}


def test_a_dry_run_says_what_would_run_and_starts_nothing(console: Console, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(f'profile = 1\nprotocol = "{PROTOCOL}"\nclauses = ["{CASE.clause}", "TO-RESTART"]\n')
    started = tmp_path / "started"
    for mode in ("stdio", "datagram"):
        iut = f"{mode}:{sys.executable} -c 'open({str(started)!r}, mode=\"w\")'"
        words = ("conform", "--dry-run", "--iut", iut, "--profile", str(mine), "--results", str(tmp_path / "results"))
        code, found = console.json(*words)
        plan = planned(found)
        assert code == 0
        assert plan[CASE.id] == "run"
        assert plan["TO-DELIVER/at-the-barrier"] == "not applicable"
        assert all(case["why"] for case in found["cases"] if case["plan"] != "run")
    assert not started.exists()
    assert not (tmp_path / "results").exists()


def test_a_dry_run_of_what_cannot_be_started_says_so_and_ends_with_3(console: Console) -> None:
    code, found = console.json("conform", "--dry-run", "--iut", "stdio:./no-such-node", "--case", CASE.id)
    assert (code, planned(found)) == (3, {CASE.id: "not run"})
    assert "./no-such-node" in found["cases"][0]["why"]


def test_a_dry_run_knows_what_real_sockets_cannot_play(console: Console) -> None:
    code, found = console.json("conform", "--dry-run", "--iut", "reference-udp", "--case", "broadcast/BC-PL-ONCE")
    assert (code, set(planned(found).values())) == (3, {"not run"})
    assert "run it in stdio mode" in found["cases"][0]["why"]
    _, found = console.json("conform", "--dry-run", "--iut", "reference-stdio", "--case", "broadcast/BC-PL-ONCE")
    assert set(planned(found).values()) == {"run"}


def test_a_dry_run_tells_of_clauses_that_bind_the_reference_s_nodes_alone(console: Console, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(f'profile = 1\nprotocol = "{PROTOCOL}"\nroles = ["host"]\n')
    _, found = console.json("conform", "--dry-run", "--profile", str(mine), "--case", "TO-BAR-MIN")
    assert all(case["plan"] == "run" and "binds each switch" in case["why"] for case in found["cases"])


# ---------------------------------------------------------------- what counts


def test_what_only_should_be_kept_counts_when_strict(console: Console, tmp_path: Path) -> None:
    results = ("--results", str(tmp_path))
    code, found = console.json("conform", *SELDOM, *results)
    assert (code, found["verdict"], found["unexpected"]) == (0, "fail", [])
    assert found["advice"] == ["TO-ADJ-ROUNDS/drifting-clocks"]
    assert "TO-ADJ-ROUNDS only SHOULD be kept" in console("conform", *SELDOM, *results)[1]
    assert console.json("conform", *SELDOM, *results, "--strict")[0] == 1


def test_what_must_be_kept_counts_though_should_is_broken_beside_it(console: Console, tmp_path: Path) -> None:
    words = ("--iut", "mutant:host/delivers-on-arrival", "--case", "TO-ADJ-ROUNDS", "--results", str(tmp_path))
    assert console.json("conform", *words)[0] == 1


@pytest.mark.parametrize(
    ("verdict", "blamed", "counts"),
    [
        (Verdict.FAIL, ("TO-ADJ-ROUNDS",), False),
        (Verdict.INCONCLUSIVE, ("TO-ADJ-ROUNDS",), False),
        (Verdict.FAIL, ("TO-ADJ-ROUNDS", "TO-ORDER"), True),
        (Verdict.INCONCLUSIVE, ("TO-ADJ-ROUNDS", "TO-COMPLETE"), True),
        # Nobody's clause: it crashed, say.
        (Verdict.INCONCLUSIVE, (), True),
        (Verdict.NOT_RUN, (), False),
        (Verdict.PASS, (), False),
    ],
)
def test_a_failure_counts_unless_it_is_advice_s_alone(verdict: Verdict, blamed: tuple[str, ...], counts: bool) -> None:
    result = CaseResult(case=CASE, verdict=verdict, reason="", results=(), trace=None, blamed=blamed)
    baseline = Baseline((), advised(PROTOCOL))
    assert baseline.counts(result) is counts
    assert bool(baseline.unexpected([result])) is counts
    # What shows nothing is no violation, and no pass.
    expected = {Verdict.NOT_RUN: 3}.get(verdict, 0)
    assert exit_code([result], baseline) == ((1 if verdict is Verdict.FAIL else 4) if counts else expected)
    # A known failure of which that is all there is has not been mended.
    assert Baseline((CASE.id,), advised(PROTOCOL)).unexpected([result]) == (
        [f"{CASE.id}: passes, though the baseline says that it fails; take it out"] if verdict is Verdict.PASS else []
    )


@pytest.mark.parametrize(
    ("verdicts", "known", "code"),
    [
        ("pass", (), 0),
        ("pass inconclusive", (), 4),
        ("fail inconclusive", (), 1),
        ("inconclusive not-run", (), 4),
        ("not-run pass", (), 3),
        ("not-applicable", (), 3),
        ("not-applicable pass", (), 0),
        # What is known does not count; but a known failure that is none does, whatever is beside it.
        ("inconclusive pass", (0,), 0),
        ("fail inconclusive", (0,), 4),
        ("inconclusive fail", (0,), 1),
        ("inconclusive pass", (1,), 1),
    ],
)
def test_the_gravest_of_the_cases_is_the_exit_code(verdicts: str, known: tuple[int, ...], code: int) -> None:
    results = [
        CaseResult(case=case, verdict=Verdict(word.replace("-", " ")), reason="", results=(), trace=None)
        for case, word in zip(cases(PROTOCOL), verdicts.split(), strict=False)
    ]
    baseline = Baseline(tuple(results[number].case.id for number in known))
    assert exit_code(results, baseline) == code


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_fail_fast_stops_at_the_first_that_fails_and_says_what_was_not_given(
    console: Console, tmp_path: Path, jobs: str
) -> None:
    mutant = ("--iut", "mutant:host/delivers-on-arrival", "--results", str(tmp_path), "--jobs", jobs)
    words = ("--case", "TO-SCATTER/two-links", "--case", "TO-DELIVER", "--case", "TO-MONO/one-instant")
    _, everything = console.json("conform", *mutant, *words)
    code, found = console.json("conform", *mutant, *words, "--fail-fast")
    verdicts = [case["verdict"] for case in everything["cases"]]
    first = verdicts.index("fail")
    assert code == 1
    assert [case["id"] for case in found["cases"]] == [case["id"] for case in everything["cases"][: first + 1]]
    assert found["not_given"] == [case["id"] for case in everything["cases"][first + 1 :]]
    assert found["not_given"]


def test_the_first_failure_is_told_with_the_command_that_has_it_again(console: Console, tmp_path: Path) -> None:
    iut = f"stdio:{sys.executable} -c pass"
    _, _, told = console("conform", "--iut", iut, "--case", CASE.id, "--results", str(tmp_path))
    assert f"scatterproof conform --iut '{iut}' --case {CASE.address}" in told
    assert "seed 1 in every case's schedule" in told


def test_durations_show_the_slowest_and_junit_has_them_all(console: Console, tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    words = ("--case", "TO-SCATTER", "--results", str(tmp_path), "--junit", str(junit), "--durations", "2")
    _, said, _ = console("conform", *words)
    assert said.split("The slowest cases")[1].count("TO-SCATTER/") == 2
    assert all(float(case.get("time", "0")) > 0 for case in ET.parse(junit).iter("testcase"))


# ---------------------------------------------------------------- several at once


def left(folder: Path) -> dict[str, bytes]:
    """What a run leaves, without times."""
    files = sorted((folder / "latest").rglob("*/*"))  # of cases: the journal beside them has their times
    kept = (path for path in files if path.suffix in (".ndjson", ".stdout", ".stderr"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}


@pytest.mark.parametrize(
    ("iut", "chosen"),
    [
        ("mutant:host/delivers-on-arrival", ("TO-DELIVER", "TO-SCATTER", "TO-ORDER")),
        pytest.param(
            "reference-stdio",
            ("TO-SCATTER/two-links", "TO-MONO/one-instant", "TO-DELIVER/itself-only"),
            marks=pytest.mark.slow,
        ),
        ("dies", ("TO-DELIVER",)),
    ],
)
def test_results_are_the_same_to_the_byte_however_many_are_under_way(
    console: Console, tmp_path: Path, iut: str, chosen: tuple[str, ...]
) -> None:
    found = []
    if iut == "dies":
        program = tmp_path / "dies.py"
        program.write_text(DIES)
        iut = f"stdio:{sys.executable} {program}"
    words = ("conform", "--iut", iut, *(word for name in chosen for word in ("--case", name)))
    for jobs in ("1", "3"):
        code, said = console.json(*words, "--jobs", jobs, "--results", str(tmp_path / jobs))
        for case in said["cases"]:
            del case["seconds"]
        found.append((code, said, left(tmp_path / jobs)))
    assert found[0] == found[1]
    assert len(found[0][2]) >= len(found[0][1]["cases"])
    if "stdio" in iut:
        # What nodes wrote is told apart by case, or cases that are under way at once would write over each other.
        wrote = {Path(name).parts[1] for name in found[1][2] if name.endswith(".stdout")}
        assert wrote == {folder_name(case["id"]) for case in found[1][1]["cases"]}
    if iut.startswith("stdio:"):
        assert {case["verdict"] for case in found[0][1]["cases"]} == {"inconclusive"}
        assert "ended with exit code 3" in found[0][1]["cases"][0]["reason"]


# ---------------------------------------------------------------- explanations, and what others read


def test_a_clause_is_explained_by_its_operator_and_two_runs(console: Console) -> None:
    code, found = console.json("conform", "--explain", f"{PROTOCOL}/TO-DELIVER")
    assert code == 0
    assert "MUST deliver a message only when" in found["clause"]["must"]
    assert "DeliverBelowBarrier ==" in found["operator"]["text"]
    assert found["kept"]["iut"] == "the reference"
    assert found["broken"]["iut"].startswith("mutant:")
    assert found["broken"]["sentence"].startswith("TO-DELIVER, row ")
    for example in (found["kept"], found["broken"]):
        assert example["drawing"].splitlines()[-1].endswith("<== here")
    code, said, _ = console("clauses", "TO-DELIVER", "--explain")
    assert code == 0
    assert found["broken"]["drawing"] in said


def test_an_operator_is_shown_where_it_has_words_of_its_own() -> None:
    # Other modules define it, too, as the one of this module.
    operator = clause_text.operator_of(PROTOCOL, "DeliveredInTotalOrder")
    assert operator is not None
    assert operator.file.endswith("TotalOrder.tla")
    assert operator.text.splitlines()[0].startswith("(* TO-ORDER")
    assert "Precedes(" in operator.text
    assert clause_text.operator_of(PROTOCOL, "NoSuchOperator") is None


def test_a_clause_that_no_run_can_show_says_why(console: Console) -> None:
    code, found = console.json("clauses", "TO-SW-1", "--explain")
    assert (code, found["kept"], found["broken"]) == (0, None, None)
    assert "no check judges by it" in found["why_not"]
    assert console("clauses", "--explain")[0] == 2
    assert console("conform", "--explain", "TO-NONSENSE")[0] == 2


def test_logs_leave_junit_page_and_summary(console: Console, tmp_path: Path) -> None:
    console.json("conform", "--iut", "reference-udp", "--case", "TO-DELIVER/itself-only", "--results", str(tmp_path))
    files = {name: tmp_path / f"logs.{name}" for name in ("junit", "html", "summary")}
    options = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    logs = tmp_path / "latest" / "TO-DELIVER.itself-only" / "nodes"
    code, found = console.json("conform", "--logs", str(logs), "--results", str(tmp_path), *options)
    assert code == 4  # one case puts few clauses at stake, and of the others nothing can be said
    cases = {case.get("name"): [child.tag for child in case] for case in ET.parse(files["junit"]).iter("testcase")}
    assert set(cases) == {f"{clause['clause']}/logs" for clause in found["clauses"]}
    assert cases["TO-DELIVER/logs"] == []
    assert "TO-DELIVER/logs" in files["html"].read_text()
    assert "inconclusive" in files["summary"].read_text()


def test_the_summary_is_appended_and_says_nothing_that_a_page_would_obey(tmp_path: Path) -> None:
    nasty = "<script>x</script> | [link](where) `code` \x1b[31m\nnext line"
    result = CaseResult(case=CASE, verdict=Verdict.INCONCLUSIVE, reason=nasty, results=(), trace=None)
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    markdown.append(path, ConformanceRun(protocol=PROTOCOL, iut=nasty, catalogue="1", results=(result,) * 30))
    text = path.read_text()
    assert text.startswith("before\n## Conformance of ")
    assert "<script>" not in text
    assert "[link]" not in text
    assert "\x1b" not in text
    rows = [line for line in text.splitlines() if CASE.clause in line]
    assert len(rows) == markdown.SHOWN
    assert all(row.count("|") == 4 for row in rows)
    assert "and 10 more" in text
