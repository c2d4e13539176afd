"""Drawn runs on a broker of the tests: it breaks nothing, each of its mutants breaks a clause, and checks and oracles
say the same of all, however rows are damaged."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from scatterproof.conformance.checks.kinds import CALLED
from scatterproof.conformance.judge import judge, refuse
from scatterproof.conformance.pubsub.products.drawing import CLIENTS, Shape, drawn, words
from scatterproof.conformance.pubsub.products.driving import Move, Step, play
from scatterproof.conformance.pubsub.products.tests.toy import KINDS, MUTANTS
from scatterproof.conformance.pubsub.tests.test_agreement import JUDGES
from scatterproof.conformance.tests.agreement import beginning, damaged_rows
from scatterproof.conformance.tests.test_checks_traces import FOLDER
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Call
from scatterproof.spec.trace import Trace

SHAPE = Shape(restarts=Move.KILL, steps=20)
SHARED = replace(SHAPE, lasting=10, leaves=False, shared=True, levels=(1,))
RUNS = range(30)
JUDGED = {
    "PS-ROUTE",
    "PS-ORDER",
    "PS-QOS-LEVEL",
    "PS-QOS-GD",
    "PS-SESSION",
    "PS-PER-PUBLISHER",
    "PS-PERSISTED",
    "PS-SHARED",
}
LITTLE = [trace_ndjson.read(path) for path in sorted((FOLDER / "pubsub").glob("*/*.ndjson"))]


@cache
def run(kind: str, seed: int) -> Trace:
    """Every third one with a subscription that is shared."""
    shape = SHARED if seed % 3 == 2 else SHAPE
    return play(KINDS[kind], words("run"), CLIENTS, drawn(seed, shape), seed, kind, patience_s=0.0)


def _told(trace: Trace, verdict: Verdict) -> set[str]:
    return {one.clause for one in judge(trace) if one.verdict is verdict}


def test_a_broker_that_keeps_all_breaks_nothing_and_everything_is_at_stake() -> None:
    traces = [run("Toy", seed) for seed in RUNS]
    assert set[str]().union(*(_told(trace, Verdict.FAIL) for trace in traces)) == set()
    assert set[str]().union(*(_told(trace, Verdict.PASS) for trace in traces)) == JUDGED


@pytest.mark.parametrize("kind", MUTANTS)
def test_each_mutant_of_it_breaks_its_clause(kind: str) -> None:
    assert any(MUTANTS[kind] in _told(run(kind, seed), Verdict.FAIL) for seed in RUNS)


@pytest.mark.parametrize("kind", list(KINDS))
def test_checks_and_oracles_agree_on_its_runs(kind: str) -> None:
    for seed in RUNS[:3]:
        JUDGES.assert_agreement(run(kind, seed), [7, 30])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_run_is_judged_alike(data: st.DataObject) -> None:
    """Of a run, or of one of the little traces, which have what is rare."""
    trace = data.draw(st.sampled_from(LITTLE) | st.builds(run, st.sampled_from(list(KINDS)), st.sampled_from(RUNS)))
    damaged = Trace(trace.header, data.draw(damaged_rows(beginning(trace, 120), 2)))
    assume(_is_sound(damaged))
    _, broken = JUDGES.online(damaged.header, damaged.rows)
    assume(all(found.check < len(JUDGES.plugin.checks) for found in broken))
    JUDGES.assert_agreement(damaged, data.draw(st.lists(st.integers(0, 120), max_size=4)))


def _is_sound(trace: Trace) -> bool:
    """Whether each row says what there is, and calls are calls: a judge looks at no others."""
    try:
        refuse(trace)
    except BadInput:
        return False
    return all(
        call > 0 for call, kind in zip(trace.column("call"), trace.column("kind"), strict=True) if kind == CALLED
    )


def test_all_steps_are_drawn() -> None:
    steps = [step for seed in range(40) for step in drawn(seed, SHAPE)]
    moves = {step.move for step in steps if isinstance(step, Step)}
    assert moves == set(Move)
    calls = {step.call for step in steps if isinstance(step, Call)}
    assert calls == {"connect", "disconnect", "publish", "subscribe", "unsubscribe", "acknowledge"}
