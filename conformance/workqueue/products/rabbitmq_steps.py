"""The steps of drawn runs at queues of RabbitMQ: of consumers, of batches, or of dead letters.

Client 1 sends messages with confirms. In a run of *consumers*, clients 2 and 3 consume a queue with a single active
consumer and a prefetch of 1: a client is sent one message at a time. In a run of *batches*, client 2 fetches several
messages, acknowledges each or gives it back, in any order, and fetches again when it has none in hand. In a run of
*dead letters* it does so in order, and client 3 fetches from the queue of dead letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from random import Random

from scatterproof.conformance.workqueue.cases.building import deletes, gives_back, puts, receives, receives_aside
from scatterproof.conformance.workqueue.products.history import SECOND_NS
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId

SENDER, CONSUMERS = 1, (2, 3)
LEASE_NS = 1_000_000 * SECOND_NS  # as long as the channel is open


class Move(StrEnum):
    """Steps that are no calls.

    SINGLE: the queue is declared with a single active consumer. This step is the first, or the run is one of batches.
    ASIDE: the queue is declared with a dead-letter exchange. This step is the first, and no other move follows.
    JOIN: a client begins to consume.
    LEAVE: a client closes its channel, and so gives back what it has in hand.
    DROP: a client closes its connection.
    FINISH: a client cancels its consumer, and then acknowledges what it has in hand.
    RESTART: the server is stopped, and started again.
    """

    SINGLE = "single"
    ASIDE = "aside"
    JOIN = "join"
    LEAVE = "leave"
    DROP = "drop"
    FINISH = "finish"
    RESTART = "restart"


@dataclass(frozen=True, slots=True)
class Step:
    move: Move
    node: NodeId = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What runs may contain. The default is everything; less avoids known mistakes.

    leaves: consumers leave, and drop their connections.
    finishes: consumers cancel before they acknowledge.
    any_order: batches differ in size, and their messages are acknowledged or given back in any order, but for dead
        letters, which are given back in order.
    """

    leaves: bool = True
    finishes: bool = True
    any_order: bool = True


Steps = list[Call | Step]


def drawn(seed: int, shape: Shape = Shape(), steps: int = 30) -> Steps:
    draw = Random(seed)
    found: Steps = [puts(0, SENDER) for _ in range(3)]
    kind = draw.random()
    if kind < 0.25:
        found += [step for _ in range(steps // 5) for step in _letters(draw, shape)]
        return [Step(Move.ASIDE), *found, *_ALL_ASIDE]
    if kind < 0.5:
        found += [step for _ in range(steps // 5) for step in _batch(draw, shape)]
    else:
        found[:0] = [Step(Move.SINGLE), *(Step(Move.JOIN, node) for node in CONSUMERS)]
        found += [step for _ in range(steps) for step in _consumer_step(draw, shape)]
    if draw.random() < 0.1:
        found.insert(draw.randrange(6, len(found)), Step(Move.RESTART))
    return found


def _consumer_step(draw: Random, shape: Shape) -> Sequence[Call | Step]:
    """The next steps of consumers. Most take a message first, as they do nothing without one."""
    node = draw.choice(CONSUMERS)
    takes = [_receives(other) for other in CONSUMERS]
    kind = draw.randrange(12)
    if kind < 3:
        return [puts(0, SENDER)]
    if kind < 6:
        return [*takes, deletes(0, node)]
    if kind < 8:
        return [*takes, gives_back(0, node)]
    if kind == 8 and shape.leaves:
        return [*takes, Step(draw.choice((Move.LEAVE, Move.DROP)), node)]
    if kind == 9 and shape.finishes:
        return [*takes, Step(Move.FINISH, node)]
    return [Step(Move.JOIN, node)]


def _batch(draw: Random, shape: Shape) -> Sequence[Call | Step]:
    most = draw.randint(1, 4) if shape.any_order else 4
    found: Steps = [puts(0, SENDER) for _ in range(draw.randint(0, 2))]
    found.append(_receives(CONSUMERS[0], most))
    for _ in range(most):
        done = draw.random() < 0.3
        newest = draw.randint(0, 1) if shape.any_order else 0
        found.append(deletes(0, CONSUMERS[0], newest) if done else gives_back(0, CONSUMERS[0], newest))
    return found


def _letters(draw: Random, shape: Shape) -> Sequence[Call | Step]:
    """A batch of client 2, or of dead letters by client 3; or one that client 3 has in hand while client 2 goes on."""
    node = draw.choice(CONSUMERS)
    asks = _receives if node == CONSUMERS[0] else partial(receives_aside, 0, lease_ns=LEASE_NS)
    found: Steps = [puts(0, SENDER) for _ in range(draw.randint(0, 1))]
    most = draw.randint(1, 3)
    found.append(asks(node, most=most if node == CONSUMERS[1] or shape.any_order else 3))
    ends = [(deletes if draw.random() < 0.3 else gives_back)(0, node, newest=0) for _ in range(3)]
    return [*found, *ends[: draw.randint(0, 3) if node == CONSUMERS[1] else 3]]


def _receives(node: NodeId, most: int = 1) -> Call:
    return receives(0, node, most, LEASE_NS)


# All messages of a run become dead letters, and all of these are deleted.
_ALL_ASIDE: Steps = [
    *[_receives(CONSUMERS[0], 9), *[gives_back(0, CONSUMERS[0])] * 9] * 3,
    _receives(CONSUMERS[0]),
    *[deletes(0, CONSUMERS[1])] * 3,
    *[receives_aside(0, CONSUMERS[1], 9, LEASE_NS), *[deletes(0, CONSUMERS[1])] * 9] * 2,
]
