"""PS-LATENCY: what time stamps show where the latency is known."""

from __future__ import annotations

from random import Random

import pytest

from scatterproof.impl.pubsub.running.latency import Latency

MS, S = 1_000_000, 1_000_000_000


def measured(latency_ns: list[int], *, each_ns: int = 10 * MS) -> Latency:
    one = Latency()
    for number, latency in enumerate(latency_ns):
        one.seen(latency, 1_700_000_000 * S + number * each_ns)
    return one


def test_a_latency_that_stays_has_neither_trend_nor_drift() -> None:
    found = measured([5 * MS] * 500)
    assert (found.mean_ns, found.least_ns, found.trend, found.drift) == (5 * MS, 5 * MS, 0, 0)


@pytest.mark.parametrize("drift", [-40_000, 100_000])
def test_a_clock_that_drifts_is_told_though_messages_wait(drift: int) -> None:
    """In ns a second; each message waits by chance, some not at all."""
    draw = Random(1)
    waits = [0 if draw.random() < 0.2 else draw.randrange(50 * MS) for _ in range(640)]
    found = measured([3 * MS + wait + number * drift // 100 for number, wait in enumerate(waits)])
    assert abs(found.drift - drift) < abs(drift) / 2


def test_a_queue_that_grows_is_a_trend_and_no_drift() -> None:
    found = measured([MS if number % 8 == 0 else number * MS // 10 for number in range(640)])
    assert found.trend > 0
    assert found.drift == 0
    assert found.least_ns == MS
