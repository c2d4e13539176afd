"""Schedules under which the reference once broke its word, or a check accused it where it was right."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.judge import judge, judge_by_oracles
from conformance.network.run import simulate
from conformance.verdict import Verdict
from impl.totalorder import make_core
from spec.schedule import read

KEPT = sorted((Path(__file__).parent / "schedules").glob("*.json"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_the_reference_is_right_and_nothing_accuses_it(path: Path) -> None:
    trace = simulate(read(path), make_core)
    assert not trace.notes
    for found in (judge(trace), judge_by_oracles(trace)):
        assert [result.clause for result in found if result.verdict is Verdict.FAIL] == []
