"""ci/bench: messages go through an appliance and are all counted; what is looked up does not grow."""

from __future__ import annotations

from ci.bench_pubsub import KINDS, _best
from ci.bench_topics import matching


def test_each_delivery_of_a_run_is_counted_once() -> None:
    (kind,) = (kind for kind in KINDS if kind.name == "appliance, MQTT, hops 1")
    found = _best(kind, 1, 3, 120)
    assert found.rate > 0
    assert found.cpu_us > 0


def test_the_figure_of_lookups_has_one_for_each_number_of_subscriptions() -> None:
    ((what, figure),) = matching((1, 100))
    assert what.endswith("1, 100 subscriptions")
    assert figure.partition(" us")[0].count(",") == 1
