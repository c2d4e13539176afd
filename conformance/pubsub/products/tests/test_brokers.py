"""Brokers, driven and judged: what they keep, and the mistakes of docs/reports. What is not installed is not run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

import pytest

from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.judge import judge_by_oracles
from scatterproof.conformance.pubsub.products.drawing import (
    connects,
    disconnects,
    publishes,
    subscribes,
    unsubscribes,
)
from scatterproof.conformance.pubsub.products.driving import Move, Step
from scatterproof.conformance.pubsub.products.every import PRODUCTS
from scatterproof.conformance.pubsub.products.servers import APPLIANCE, APPLIANCE_THREE
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.trace import Trace

pytestmark = pytest.mark.slow
RUNS = 3
_numbers = count(1)
_of = {product.name: product for product in PRODUCTS}
_BOTH = [connects(1, 0), connects(2)]
_UNACKNOWLEDGED = [*_BOTH, subscribes(2, 1, 1), publishes(1, 1), Step(Move.WAIT, seconds=0.3), Step(Move.DROP, 2)]
_WAITS = [*_BOTH, subscribes(2, 1, 1), disconnects(2), publishes(1, 2)]
_KEPT_WAITS = [*_BOTH, subscribes(2, 1, 1), disconnects(2), publishes(1, 1, retain=1)]
_BELOW = [*_BOTH, subscribes(2, 1, 2), publishes(1, 0)]
# Of three messages that wait on one subject: fewer would be found in another way.
_HIDDEN, _UNCOVERED = (
    [*_BOTH, subscribes(2, 1, 1), subscribes(2, other, 1), disconnects(2), *[publishes(1, 1)] * 3, connects(2)]
    for other in (2, 3)
)
# As many as are under way at once.
_WHILE_AWAY = [*_BOTH, subscribes(2, 1, 1), disconnects(2), *[publishes(1, 1, seconds=1)] * 20, publishes(1, 1)]
_EXPIRED = [*_WHILE_AWAY, Step(Move.WAIT, seconds=2.2), connects(2)]
_KILLED = [*_BOTH, subscribes(2, 1, 1), disconnects(2), publishes(1, 1), Step(Move.KILL), connects(1, 0)]
_AT_ANOTHER_LEVEL = [*_BOTH, subscribes(2, 1, 1), subscribes(2, 1, 0), publishes(1, 1)]
_BACK = [*_BOTH, subscribes(2, 1, 1), disconnects(2), connects(2), unsubscribes(2, 1), publishes(1, 1)]
# One of two members gets it, and goes without an acknowledgement.
_MEMBERS = [*_BOTH, connects(3), *[subscribes(node, 1, 1, 1) for node in (2, 3)], publishes(1, 1)]
_LEFT = [*_MEMBERS, *[Step(move, node, 0.8) for node in (2, 3) for move in (Move.WAIT, Move.DROP)]]
# Without the last two words of the command: --store and its file.
FORGETFUL = replace(
    APPLIANCE, name="appliance-without-store", command=lambda port, folder: APPLIANCE.command(port, folder)[:-2]
)
# Where client 2's appliance is killed, of three.
FORGETFUL_THREE = replace(APPLIANCE_THREE, name="three-without-store", command=FORGETFUL.command)
_ITS_OWN_KILLED = [Step(Move.KILL, 2) if step == Step(Move.KILL) else step for step in _KILLED]
_AT_LEVEL_2 = [*_BOTH, subscribes(2, 1, 2), publishes(1, 2), Step(Move.WAIT, seconds=0.3), Step(Move.DROP, 2)]
_ANEW = [*_BOTH, connects(3), subscribes(3, 1, 1), subscribes(2, 1, 0), publishes(1, 1), Step(Move.WAIT, seconds=0.3)]
_COMES_ANEW = [*_ANEW, unsubscribes(2, 1), subscribes(2, 1, 1), Step(Move.WAIT, seconds=0.3)]
_NEW_TOPIC = [*_KILLED[:-3], *_KILLED[-2:], publishes(1, 1)]
KILLED = ("activemq", "appliance", "jetstream", "nats-mqtt", "rabbitmq-topic")
KEPT = [
    *[
        kept
        for name in ("mosquitto", "appliance")
        for kept in (
            (_of[name], "PS-SESSION", _UNACKNOWLEDGED),
            (_of[name], "PS-QOS-LEVEL", _WAITS),
            (_of[name], "PS-QOS-GD", _WAITS),
            (_of[name], "PS-RETAIN", [connects(1, 0), publishes(1, 1, retain=1), connects(2), subscribes(2, 1, 1)]),
        )
    ],
    *[(_of[name], "PS-PERSISTED", _KILLED) for name in KILLED],
    (_of["appliance-three"], "PS-PERSISTED", _ITS_OWN_KILLED),
    (_of["rabbitmq-mqtt"], "PS-SESSION", _UNACKNOWLEDGED),
    (_of["nats-mqtt"], "PS-QOS-LEVEL", _WAITS),
    *[(_of[name], "PS-QOS-GD", _HIDDEN) for name in ("jetstream", "jetstream-2.11.2")],
    (_of["jetstream"], "PS-QOS-GD", _UNCOVERED),
    (_of["jetstream"], "PS-SESSION", _UNACKNOWLEDGED),
    *[(_of[name], "PS-SHARED", _LEFT) for name in ("jetstream", "mosquitto-5")],
    (_of["mosquitto-5"], "PS-EXPIRE", [step for at, step in enumerate(_EXPIRED) if not 4 <= at < 20]),
]
BROKEN = [
    *[
        broken
        for name in ("aedes", "aedes-0.51")
        for broken in (
            (_of[name], "PS-SESSION", "is not marked as a repeat", _UNACKNOWLEDGED),
            (_of[name], "PS-QOS-LEVEL", "comes at level 2, and both sides", _WAITS),
            (_of[name], "PS-RETAIN", "has subscribed to nothing that matches since", _KEPT_WAITS),
        )
    ],
    (_of["jetstream-2.11.1"], "PS-QOS-GD", "which was away, never gets", _HIDDEN),
    (_of["jetstream-2.11.2"], "PS-QOS-GD", "which was away, never gets", _UNCOVERED),
    (_of["mosquitto-5"], "PS-EXPIRE", "what was published ahead of it has expired", _EXPIRED),
    (_of["rabbitmq-mqtt"], "PS-ROUTE", "is not marked as a repeat", _AT_ANOTHER_LEVEL),
    (_of["rabbitmq-mqtt"], "PS-ROUTE", "no subscription of it that matches", _BACK),
    (_of["activemq"], "PS-RETAIN", "has subscribed to nothing that matches since", _KEPT_WAITS),
    (_of["activemq"], "PS-SESSION", "at a level where it comes once", _AT_LEVEL_2),
    (_of["activemq"], "PS-ROUTE", "is not marked as a repeat", _COMES_ANEW),
    (_of["activemq"], "PS-PERSISTED", "and the broker was killed since", _NEW_TOPIC),
    (FORGETFUL.product(), "PS-PERSISTED", "and the broker was killed since", _KILLED),
    (FORGETFUL_THREE.product(), "PS-PERSISTED", "and the broker was killed since", _ITS_OWN_KILLED),
    (_of["amqtt"], "PS-SESSION", "which it had not acknowledged", _UNACKNOWLEDGED),
    (_of["amqtt"], "PS-QOS-LEVEL", "comes at level 2, and both sides", _BELOW),
    (_of["amqtt"], "PS-RETAIN", "was not published to be kept", _WAITS),
]


@pytest.fixture(scope="module")
def play(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    with product.serve(tmp_path_factory.mktemp(product.name)) as served:
        yield served


@pytest.fixture(scope="module")
def product(request: pytest.FixtureRequest) -> Product:
    found = request.param
    assert isinstance(found, Product)
    return found


def _named(given: object) -> str | None:
    return given.name if isinstance(given, Product) else None


def _failed(product: Product, trace: Trace) -> list[str]:
    return [one.violations[0].sentence for one in product.judged(trace) if one.verdict is Verdict.FAIL]


@pytest.mark.parametrize(("product", "clause", "steps"), KEPT, indirect=["product"], scope="module", ids=_named)
def test_what_is_kept_passes(product: Product, play: Play, clause: str, steps: Sequence[object]) -> None:
    trace = play(f"kept-{next(_numbers)}", steps, 0)
    assert {result.clause: result.verdict for result in product.judged(trace)}[clause] is Verdict.PASS
    assert _failed(product, trace) == []


@pytest.mark.parametrize(
    ("product", "clause", "mistake", "steps"), BROKEN, indirect=["product"], scope="module", ids=_named
)
def test_a_mistake_is_found_by_checks_and_oracles(
    product: Product, play: Play, clause: str, mistake: str, steps: Sequence[object]
) -> None:
    trace = play(f"broken-{next(_numbers)}", steps, 0)
    assert any(sentence.startswith(clause) and mistake in sentence for sentence in _failed(product, trace))
    assert clause in {result.clause for result in judge_by_oracles(trace) if result.verdict is Verdict.FAIL}


@pytest.mark.parametrize("product", PRODUCTS, indirect=True, scope="module", ids=_named)
def test_quiet_runs_break_nothing(product: Product, play: Play) -> None:
    for seed in range(RUNS):
        trace = play(f"quiet-{next(_numbers)}", product.steps(seed, True), seed)
        assert _failed(product, trace) == [], f"seed {seed}"
        assert trace.header.iut.startswith(product.name)
