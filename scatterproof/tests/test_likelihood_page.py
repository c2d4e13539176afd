"""`replay --when`: what it says, and the page that it leaves."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from scatterproof.app import app
from scatterproof.conformance.case import cases
from scatterproof.fuzz.likelihood import NOTHING_KEPT, Likelihood, Moment
from scatterproof.likelihood_page import curve, page, sentence
from scatterproof.spec import schedule as schedules
from scatterproof.spec import trace_ndjson

CLAUSE = "BC-URB-AGREE"


def ended(*words: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, words)
    return found.exit_code, " ".join(found.output.split())


def test_replay_says_when_a_failure_became_likely(tmp_path: Path) -> None:
    (schedule,) = (case.schedule for case in cases("broadcast") if case.id == f"{CLAUSE}/creator-reaches-nobody")
    schedules.write(tmp_path / "s.json", schedule)
    words = ("replay", str(tmp_path / "s.json"), "--iut", "mutant:uniform/delivers-own-at-once", "--when")
    code, said = ended(*words, "--results", str(tmp_path))
    assert code == 1
    assert f"{CLAUSE} becomes likely at 0 ns: " in said
    text = (tmp_path / "replay" / "s-when.html").read_text()
    assert "100% fail from here on" in text
    assert "from the beginning" in text
    trace = trace_ndjson.read(tmp_path / "replay" / "s.ndjson")

    moments = [(NOTHING_KEPT, 1), (0, 3), (200, 20)]
    tried = tuple(Moment(time_ns=time_ns, failing=failing, runs=20) for time_ns, failing in moments)
    found = Likelihood(clause=CLAUSE, trace=trace, rows=(1,), moments=tried, whole=False)
    assert sentence(found) == (
        f"{CLAUSE} becomes likely at 200 ns: 3 of 20 runs fail that are drawn anew from 0 ns on, and 20 of 20 runs fail"
        " from 200 ns on, and there are moments between that were not tried"
    )
    always = Likelihood(clause=CLAUSE, trace=trace, rows=(1,), moments=tried[1:2] * 2, whole=True)
    assert sentence(always) == f"{CLAUSE} is broken whatever the network does: 3 of 20 runs fail from 0 ns on"
    assert curve(found) in page(found, "a schedule", "a mutant")


def test_what_was_only_recorded_has_no_other_draws(tmp_path: Path) -> None:
    assert ended("replay", str(tmp_path / "none.json"), "--when")[0] == 2
