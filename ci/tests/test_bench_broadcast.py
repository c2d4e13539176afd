"""ci/bench: a run of the broadcast program ends when its outputs are as long as the workload makes them."""

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
