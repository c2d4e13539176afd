"""Drawn runs at a broker: clients subscribe, come and go, and acknowledge late, while another one publishes.

No two subscriptions of a client match the same topic: a broker of MQTT 3.1.1 may send a copy for each (3.3.5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from scatterproof.conformance.adapters.steps import Vocabulary
from scatterproof.conformance.pubsub.products.driving import PUBLISHER, Move, Step, Words
from scatterproof.conformance.pubsub.products.history import SECOND_NS
from scatterproof.spec.core import Parameter
from scatterproof.spec.pubsub.messages import CallName
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId

SUBSCRIBERS: tuple[NodeId, ...] = (2, 3)
CLIENTS = 3
VOCABULARY = Vocabulary(
    {
        CallName.CONNECT: {"session": 1},
        CallName.DISCONNECT: {},
        CallName.ACKNOWLEDGE: {},
        CallName.SUBSCRIBE: {"filter": 1, "level": 1, "group": 0},
        CallName.UNSUBSCRIBE: {"filter": 1},
        CallName.PUBLISH: {"topic": 1, "level": 1, "retain": 0, "expiry_ns": 0},
    },
    Move,
    Step,
)


def words(name: str) -> Words:
    """The topics and filters of the run of this name; no other run uses them."""
    topics = (f"{name}/a/x", f"{name}/b/x", f"{name}/b/y/z")
    return Words(grammar="mqtt", topics=topics, filters=(f"{name}/a/+", f"{name}/b/#", f"{name}/b/x"))


def words_of_nats(name: str) -> Words:
    """`>` takes at least one token, so no two filters of a client match the same subject: JetStream refuses such."""
    return Words(
        grammar="nats",
        topics=(f"{name}.a", f"{name}.a.x", f"{name}.b.x"),
        filters=(f"{name}.a", f"{name}.a.>", f"{name}.*.x"),
    )


def words_of_amqp(name: str) -> Words:
    topics = (f"{name}.a.x", f"{name}.b", f"{name}.b.y.z")
    return Words(grammar="amqp", topics=topics, filters=(f"{name}.a.*", f"{name}.b.#", f"{name}.b"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What runs may contain. Narrow it to avoid known mistakes, and what a broker does not claim.

    levels: of messages and subscriptions.
    filters: the sets of filters that a client may have, by number.
    lasting: how many of ten connections begin a lasting session.
    drops: connections break without a DISCONNECT.
    stalls: clients stop reading.
    holds: clients acknowledge only when a step asks them to; otherwise also after each step that may bring messages.
    leaves: clients unsubscribe.
    retain, expiry: some messages are retained, or expire.
    restarts: how the broker is restarted, in one of three runs; None where it never is.
    killed: of several brokers, those of which one is restarted, by their clients.
    shared: clients share filter 1, as one group.
    steps: how often steps are drawn, after all clients have connected and subscribed.
    """

    levels: tuple[int, ...] = (0, 1, 2)
    filters: tuple[tuple[int, ...], ...] = ((1, 2), (1, 3))
    lasting: int = 8
    drops: bool = True
    stalls: bool = True
    holds: bool = True
    leaves: bool = True
    retain: bool = False
    expiry: bool = False
    restarts: Move | None = None
    killed: tuple[NodeId, ...] = (0,)
    shared: bool = False
    steps: int = 25


def connects(node: NodeId, session: int = 1) -> Call:
    return Call(0, node, CallName.CONNECT, {"session": session})


def disconnects(node: NodeId) -> Call:
    return Call(0, node, CallName.DISCONNECT, {})


def acknowledges(node: NodeId) -> Call:
    return Call(0, node, CallName.ACKNOWLEDGE, {})


def subscribes(node: NodeId, filter_: int = 1, level: int = 1, group: int = 0) -> Call:
    return Call(0, node, CallName.SUBSCRIBE, {"filter": filter_, "level": level, "group": group})


def unsubscribes(node: NodeId, filter_: int = 1) -> Call:
    return Call(0, node, CallName.UNSUBSCRIBE, {"filter": filter_})


def publishes(topic: int = 1, level: int = 1, retain: int = 0, seconds: int = 0) -> Call:
    given: dict[str, Parameter] = {"topic": topic, "level": level, "retain": retain, "expiry_ns": seconds * SECOND_NS}
    return Call(0, PUBLISHER, CallName.PUBLISH, given)


def drawn(seed: int, shape: Shape) -> list[Call | Step]:
    draw = Random(seed)
    mine = {node: draw.choice(shape.filters) for node in SUBSCRIBERS}
    found: list[Call | Step] = [connects(PUBLISHER, 0)]
    for node in SUBSCRIBERS:
        found += [_connects(draw, node, shape), *(_subscribes(draw, node, one, shape) for one in mine[node])]
    for _ in range(shape.steps):
        found += _steps(draw, mine, shape)
    if shape.restarts is not None and draw.random() < 0.34:
        at = draw.randrange(len(found) // 2, len(found))
        found[at:at] = [Step(shape.restarts, draw.choice(shape.killed)), connects(PUBLISHER, 0)]
    return found


def _connects(draw: Random, node: NodeId, shape: Shape) -> Call:
    return connects(node, int(draw.randrange(10) < shape.lasting))


def _subscribes(draw: Random, node: NodeId, filter_: int, shape: Shape) -> Call:
    return subscribes(node, filter_, draw.choice(shape.levels), int(shape.shared and filter_ == 1))


def _steps(draw: Random, mine: Mapping[NodeId, tuple[int, ...]], shape: Shape) -> list[Call | Step]:
    node, kind = draw.choice(SUBSCRIBERS), draw.randrange(24)
    done = [] if shape.holds else [acknowledges(one) for one in SUBSCRIBERS]
    if kind < 10:
        return [*(_publishes(draw, shape) for _ in range(draw.randint(1, 3))), *done]
    if kind < 13:
        return [acknowledges(node)]
    if kind < 16:
        return [disconnects(node), *([Step(Move.WAIT, seconds=0.02)] if shape.expiry else [])]
    if kind < 19:
        late = shape.expiry and draw.random() < 0.3
        return [
            *([Step(Move.WAIT, seconds=2.2)] if late else []),
            _connects(draw, node, shape),
            Step(Move.WAIT, seconds=0.02),
            *done,
        ]
    if kind == 19 and shape.drops:
        return [Step(Move.DROP, node)]
    if kind == 20 and shape.stalls:
        return [Step(Move.STALL, node)]
    if kind == 21 and shape.leaves:
        filter_ = draw.choice(mine[node])
        return [
            unsubscribes(node, filter_),
            *([_subscribes(draw, node, filter_, shape)] if draw.random() < 0.7 else []),
        ]
    if kind == 22:
        return [_subscribes(draw, node, draw.choice(mine[node]), shape)]
    return [Step(Move.TAKE, node), Step(Move.WAIT, seconds=0.03), *done]


def _publishes(draw: Random, shape: Shape) -> Call:
    retain = draw.choice((0, 0, 1, 2)) if shape.retain else 0
    seconds = draw.choice((0, 0, 1)) if shape.expiry else 0
    return publishes(draw.randint(1, 3), draw.choice(shape.levels), retain, seconds)
