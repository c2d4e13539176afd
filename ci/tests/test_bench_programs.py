"""ci/bench: a run of a protocol's program ends when its outputs show all deliveries."""

from __future__ import annotations

import pytest

from ci.bench_programs import measure
from scatterproof.conformance.stress.contract import Workload


@pytest.mark.slow
@pytest.mark.parametrize("level", ["pl", "urb", "fifo", "lcb"])
def test_a_run_is_over_when_all_is_delivered(level: str) -> None:
    a_second, peak_bytes = measure(Workload(level=level, processes=3, messages=300, seed=1), lose=0.1)
    assert a_second > 0
    assert peak_bytes > 1 << 20


@pytest.mark.slow
def test_a_run_that_one_look_shows_whole_is_timed_from_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci.bench_programs._POLL_S", 3.0)
    a_second, _ = measure(Workload(level="fifo", processes=3, messages=300, seed=1), lose=0.0)
    assert a_second > 0
