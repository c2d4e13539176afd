"""Schedules under which the reference or its twin once broke their word, or a check accused them where they were
right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scatterproof.conformance.judge import judge, judge_by_oracles
from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import make_core, twin
from scatterproof.spec.core import NodeConfig
from scatterproof.spec.schedule import read

LONG = 1_000  # rows
KEPT = sorted((Path(__file__).parent / "schedules").glob("*.json"))


@pytest.mark.parametrize("make", [make_core, twin.make_core], ids=["reference", "twin"])
@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_the_reference_is_right_and_nothing_accuses_it(path: Path, make: Callable[[NodeConfig], Any]) -> None:
    trace = simulate(read(path), make)
    assert not trace.notes
    # Oracles take the square of a run's length, and the twin's runs are long.
    for found in (judge(trace), *([judge_by_oracles(trace)] if len(trace.rows) < LONG else [])):
        assert [result.clause for result in found if result.verdict is Verdict.FAIL] == []
