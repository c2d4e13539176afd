"""ci/bench: a run of the broadcast program ends when its outputs show all deliveries."""

from __future__ import annotations

import pytest

from ci.bench_broadcast import measure, task_of
from scatterproof.spec.broadcast.messages import Level


@pytest.mark.slow
@pytest.mark.parametrize("level", Level)
def test_a_run_is_over_when_all_is_delivered(level: Level) -> None:
    a_second, peak_bytes = measure(task_of(level, 3, 300), lose=0.1)
    assert a_second > 0
    assert peak_bytes > 1 << 20


@pytest.mark.slow
def test_a_run_that_one_look_shows_whole_is_timed_from_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci.bench_broadcast._POLL_S", 3.0)
    a_second, _ = measure(task_of(Level.FIFO, 3, 300), lose=0.0)
    assert a_second > 0
