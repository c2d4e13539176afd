"""Profiles: what is not claimed is not applicable, with the reason; wrong profiles are refused in one sentence."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from scatterproof.conformance.case import CaseResult, cases, run_case
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.profile import Profile, read_profile
from scatterproof.conformance.report import html, junit
from scatterproof.conformance.report.run import ConformanceRun
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import RULES, Rules, make_core
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import Role

CASES = {case.id: case for case in cases("totalorder")}
HEAD = 'profile = 1\nprotocol = "totalorder"\n'
REFERENCE = SimulatedIut("reference", make_core)


def profile(folder: Path, text: str) -> Profile:
    path = folder / "mine.toml"
    path.write_text(HEAD + text)
    return read_profile(path)


def with_rules(rules: Rules) -> SimulatedIut:
    return SimulatedIut("broken", lambda config: make_core(config, rules))


def clause_verdict(found: CaseResult, clause: str) -> Verdict:
    return next(result.verdict for result in found.results if result.clause == clause)


def test_a_profile_that_says_nothing_claims_everything(tmp_path: Path) -> None:
    claimed = profile(tmp_path, "")

    assert claimed.roles == frozenset(Role)
    assert all(claimed.why_not(case) is None for case in CASES.values())
    assert run_case(CASES["TO-ORDER/ties"], REFERENCE, claimed) == run_case(CASES["TO-ORDER/ties"], REFERENCE)


def test_a_case_that_sets_a_parameter_to_what_is_not_claimed_is_not_given(tmp_path: Path) -> None:
    claimed = profile(tmp_path, '[parameters]\nenvironment = ["B", "C"]\nbeacon_interval_ns = "any"\n')
    of = {name: run_case(CASES[name], REFERENCE, claimed) for name in ("TO-ENV-A/data-only", "TO-ENV-B/beacons-only")}

    assert of["TO-ENV-A/data-only"].verdict is Verdict.NOT_APPLICABLE
    assert of["TO-ENV-A/data-only"].trace is None
    assert of["TO-ENV-A/data-only"].reason == "it sets parameter environment to 'A'; mine.toml claims B, C"
    assert of["TO-ENV-B/beacons-only"].verdict is Verdict.PASS
    assert claimed.why_not(CASES["TO-CAUSAL/reply-by-a-slow-clock"]) is not None
    assert claimed.why_not(CASES["TO-ADJ-1/three-hosts"]) == (
        "it sets parameter adjustment_interval_ns to 20000, which mine.toml does not name"
    )


def test_nodes_that_begin_anew_need_the_parameter_that_says_so(tmp_path: Path) -> None:
    said = ('[parameters]\nenvironment = ["D9"]\n' + "".join(f'{name} = "any"\n' for name in (
        "beacon_interval_ns", "retransmit_timeout_ns", "failure_timeout_ns")))  # fmt: skip
    case = CASES["TO-RESTART/switch"]

    assert profile(tmp_path, said).why_not(case) == (
        "it sets parameter incarnation to 1, which mine.toml does not name"
    )
    assert profile(tmp_path, said + 'incarnation = "any"\n').why_not(case) is None


def test_a_clause_that_is_not_claimed_is_not_applicable_wherever_it_is_broken(tmp_path: Path) -> None:
    broken = with_rules(replace(RULES, precedence=lambda timestamp, sender: (timestamp, -sender)))
    claimed = profile(tmp_path, '[unclaimed]\nTO-ORDER = "ties are broken by chance"\n')
    own = run_case(CASES["TO-ORDER/ties"], broken, claimed)
    other = run_case(CASES["TO-DELIVER/at-the-barrier"], broken, claimed)

    assert run_case(CASES["TO-DELIVER/at-the-barrier"], broken).verdict is Verdict.FAIL
    assert (own.verdict, own.trace) == (Verdict.NOT_APPLICABLE, None)
    assert own.reason == "TO-ORDER: the profile does not claim it: ties are broken by chance"
    assert clause_verdict(other, "TO-ORDER") is Verdict.NOT_APPLICABLE
    assert clause_verdict(other, "TO-DELIVER") is Verdict.PASS
    # It was to be at stake, and nobody asks for that either.
    assert other.verdict is Verdict.PASS


def test_clauses_name_what_is_claimed(tmp_path: Path) -> None:
    claimed = profile(tmp_path, 'clauses = ["TO-ENV-*", "TO-COMPLETE"]\n')

    assert claimed.why_not(CASES["TO-ORDER/ties"]) == "TO-ORDER: the profile does not claim it"
    assert claimed.why_not(CASES["TO-ENV-B/beacons-only"]) is None


def test_what_the_references_hosts_keep_is_not_to_the_credit_of_a_switch(tmp_path: Path) -> None:
    claimed = profile(tmp_path, 'roles = ["switch"]\n')
    sends, forwards = (
        run_case(CASES[name], REFERENCE, claimed) for name in ("TO-MONO/one-instant", "TO-BAR-MIN/example-1")
    )

    assert sends.verdict is Verdict.NOT_APPLICABLE
    assert sends.reason.startswith("TO-MONO binds each host; mine.toml claims none")
    assert forwards.verdict is Verdict.PASS
    assert clause_verdict(forwards, "TO-DELIVER") is Verdict.NOT_APPLICABLE
    assert clause_verdict(forwards, "TO-BAR-MIN") is Verdict.PASS


def test_what_is_broken_at_the_references_hosts_is_a_failure_of_the_switch(tmp_path: Path) -> None:
    claimed = profile(tmp_path, 'roles = ["switch"]\n')
    found = run_case(CASES["TO-ORDER/ties"], with_rules(replace(RULES, precedence=lambda t, s: (t,))), claimed)

    assert (found.verdict, clause_verdict(found, "TO-ORDER")) == (Verdict.FAIL, Verdict.FAIL)


def test_a_run_that_shows_nothing_stays_inconclusive_whatever_the_roles(tmp_path: Path) -> None:
    def crash(config: object) -> None:
        raise ValueError("no")

    idle = SimulatedIut("idle", lambda config: make_core(config, replace(RULES, deliverable=crash)))  # type: ignore[arg-type]
    found = run_case(CASES["TO-MONO/one-instant"], idle, profile(tmp_path, 'roles = ["switch"]\n'))
    assert found.verdict is Verdict.INCONCLUSIVE


def test_reports_say_not_applicable_and_why(tmp_path: Path) -> None:
    claimed = profile(tmp_path, '[parameters]\nenvironment = ["A"]\nbeacon_interval_ns = "any"\n')
    results = tuple(run_case(CASES[n], REFERENCE, claimed) for n in ("TO-ENV-A/data-only", "TO-ENV-B/beacons-only"))
    run = ConformanceRun(protocol="totalorder", iut="it", catalogue="1", results=results, profile="mine.toml")
    suite = ET.fromstring(junit.encode(run)).find("testsuite")

    assert run.verdict is Verdict.PASS
    assert replace(run, results=results[1:]).verdict is Verdict.NOT_APPLICABLE
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["2", "0", "0", "1"]
    skipped = suite.find(".//skipped")
    assert skipped is not None
    assert skipped.get("message") == "not applicable: it sets parameter environment to 'B'; mine.toml claims A"
    html.write(tmp_path / "page.html", run)
    page = (tmp_path / "page.html").read_text()
    assert '<tr class="case" id="TO-ENV-B/beacons-only" data-verdicts="not applicable|">' in page
    assert "mine.toml claims A</td>" in page


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("profile = 1", "the key 'protocol' is missing; add it"),
        ('protocol = "totalorder"', "the key 'profile' is missing; add it"),
        (HEAD.replace("1", "2"), "profile is 2; this version reads profile = 1"),
        ("profile = 9", "profile is 9; this version reads profile = 1"),
        (HEAD.replace("1", "true"), "'profile' is not a whole number; it is the version of this format: write profile"),
        ('[profile]\nprotocol = "totalorder"', "'profile' is not a whole number"),
        (HEAD.replace("totalorder", "pigeons"), "protocol 'pigeons' is unknown; choose one of"),
        (HEAD + "role = 3", "unknown key 'role'; remove it, or take one of profile, protocol, roles"),
        (HEAD + 'roles = ["router"]', "unknown role 'router'; take one of host, switch"),
        (HEAD + "roles = []", "'roles' names none; name one of host, switch, client, or leave the key out"),
        (HEAD + 'roles = "host"', "'roles' is not a list of texts; write roles ="),
        (HEAD + 'clauses = ["TO-NONE"]', "clauses: no clause is named 'TO-NONE'; take one of TO-"),
        (HEAD + "clauses = []", "no clause is claimed; claim one at least"),
        (HEAD + '[unclaimed]\nTO-NONE = "why"', "unclaimed: no clause is named 'TO-NONE'; take one of TO-"),
        (HEAD + "[unclaimed]\nTO-MONO = 7", "unclaimed: 'TO-MONO' is not a text"),
        (HEAD + '[unclaimed]\nTO-MONO = ""', "unclaimed: 'TO-MONO' is not a text"),
        (HEAD + '[parameters]\ncolour = "any"', "parameters: no case sets 'colour'; take some of adjustment_interval"),
        (HEAD + '[parameters]\nenvironment = "C"', "'environment' is no list of whole numbers and texts; write"),
        (HEAD + "[parameters]\nenvironment = [1.5]", "'environment' is no list of whole numbers and texts; write"),
        (HEAD + "[parameters]\ncausal = [true]", "'causal' is no list of whole numbers and texts; write"),
        (HEAD + "parameters = 7", "'parameters' is not a table; write it as [parameters]"),
        (HEAD + "roles = [", "not TOML: "),
        (HEAD + 'x = "\udcff"', "not a text file in UTF-8; write a profile in TOML"),
    ],
)
def test_a_wrong_profile_is_refused_by_file_key_and_mend(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(BadInput) as refused:
        read_profile(path)

    said = str(refused.value)
    assert said.startswith(f"{path}: ")
    assert sentence in said
    assert "\n" not in said


def test_a_profile_that_is_not_there_is_named() -> None:
    with pytest.raises(BadInput, match=r"none\.toml: no such profile file"):
        read_profile(Path("none.toml"))
