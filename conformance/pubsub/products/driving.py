"""A run at a broker: clients publish, subscribe, come and go, step by step through a port, and all is recorded.

Client 1 publishes. The others subscribe, and acknowledge when a step asks them to. At the end all clients with a
lasting session reconnect, and all acknowledge until nothing arrives any more. Where a message is missing then, the run
gets more time, so that a slow broker does not count as one that loses messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from scatterproof.conformance.judge import judge
from scatterproof.conformance.pubsub.products.history import SECOND_NS, History
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.core import Outcome
from scatterproof.spec.pubsub.messages import CallName
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Kind, Trace

PUBLISHER: NodeId = 1
QUIET_S, PATIENCE_S = 0.15, 4.0
_ROUNDS = 20

# Takes node, topic, payload, level, whether it is marked as a repeat, and whether as retained.
Deliver = Callable[[NodeId, str, bytes, int, bool, bool], None]


class Move(StrEnum):
    """Steps that are no calls.

    DROP: break the client's connection.
    STALL: the client stops reading from its connection.
    TAKE: the client reads again.
    WAIT: clients only read, for `seconds`.
    KILL: kill the broker, and start it again; of several, that of client `node`.
    """

    DROP = "drop"
    STALL = "stall"
    TAKE = "take"
    WAIT = "wait"
    KILL = "kill"


@dataclass(frozen=True, slots=True)
class Step:
    move: Move
    node: NodeId = 0
    seconds: float = 0.0


Steps = Sequence[Call | Step]


class Port(Protocol):
    """The connections of a run's clients to a broker. Calls return their outcome: UNKNOWN where no answer came."""

    def connect(self, node: NodeId, lasts: bool) -> Outcome: ...

    def disconnect(self, node: NodeId) -> Outcome: ...

    def drop(self, node: NodeId) -> None: ...

    def is_connected(self, node: NodeId) -> bool: ...

    def publish(self, node: NodeId, topic: str, body: bytes, level: int, retain: bool, expiry_s: int) -> Outcome: ...

    def subscribe(self, node: NodeId, filter_: str, level: int, group: int) -> Outcome: ...

    def unsubscribe(self, node: NodeId, filter_: str) -> Outcome: ...

    def has_unacknowledged(self, node: NodeId) -> bool: ...

    def acknowledge(self, node: NodeId) -> Outcome: ...

    def stall(self, node: NodeId, stalled: bool) -> None: ...

    def pump(self, quiet_s: float) -> None:
        """Read until nothing has arrived for `quiet_s` seconds."""

    def restart(self, node: NodeId) -> None:
        """Kill the broker, and start it again; of several, that of this client."""

    def end(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The topics and filters of a run, as texts of a grammar."""

    grammar: str
    topics: tuple[str, ...]
    filters: tuple[str, ...]


class Driver:
    """Carries out steps through a port. clients: their number."""

    def __init__(self, make_port: Callable[[Deliver], Port], words: Words, clients: int) -> None:
        self.history = History(clients, words.grammar, words.topics, words.filters)
        self._words, self._nodes = words, range(1, clients + 1)
        self._port = make_port(self.history.delivered)
        self._lasts: dict[NodeId, bool] = {}  # by client: whether the session of its last connection lasts
        self._on: set[NodeId] = set()

    def make(self, step: Call | Step) -> None:
        self._look()
        if isinstance(step, Step):
            self._move(step)
        elif step.call == CallName.CONNECT or step.node in self._on:
            self._call(step)

    def _look(self) -> None:
        """Note connections that the broker has ended."""
        for node in sorted(self._on):
            if not self._port.is_connected(node):
                self._gone(node)

    def _gone(self, node: NodeId) -> None:
        self._on.discard(node)
        self.history.called(Call(0, node, CallName.DISCONNECT, {}))
        self.history.returned(node, Outcome.OK)

    def _move(self, step: Step) -> None:
        node = step.node
        if step.move is Move.DROP and node in self._on:
            self._on.discard(node)
            self.history.called(Call(0, node, CallName.DISCONNECT, {}))
            self._port.drop(node)
            self.history.returned(node, Outcome.OK)
        elif step.move in (Move.STALL, Move.TAKE):
            self._port.stall(node, step.move is Move.STALL)
            self._port.pump(0.02)
        elif step.move is Move.WAIT:
            self._port.pump(step.seconds)
        elif step.move is Move.KILL:
            self.history.killed()
            self._port.restart(node)
            self.history.restarted()
            self._look()

    def _call(self, call: Call) -> None:
        if call.call == CallName.ACKNOWLEDGE and not self._port.has_unacknowledged(call.node):
            return
        body = self.history.called(call)
        outcome = self._carry_out(call, body)
        self.history.returned(call.node, outcome)
        if call.call == CallName.CONNECT and outcome is Outcome.OK:
            self._on.add(call.node)
            self._lasts[call.node] = call.arguments["session"] == 1
        elif call.call == CallName.DISCONNECT:
            self._on.discard(call.node)

    def _carry_out(self, call: Call, body: bytes) -> Outcome:
        given = {name: value for name, value in call.arguments.items() if isinstance(value, int)}
        node, port = call.node, self._port
        if call.call == CallName.CONNECT:
            return port.connect(node, given["session"] == 1)
        if call.call == CallName.DISCONNECT:
            return port.disconnect(node)
        if call.call == CallName.ACKNOWLEDGE:
            return port.acknowledge(node)
        if call.call == CallName.PUBLISH:
            retain, seconds = given.get("retain", 0), given.get("expiry_ns", 0) // SECOND_NS
            topic = self._words.topics[given["topic"] - 1]
            return port.publish(node, topic, b"" if retain == 2 else body, given["level"], retain > 0, seconds)
        filter_ = self._words.filters[given["filter"] - 1]
        if call.call == CallName.SUBSCRIBE:
            return port.subscribe(node, filter_, given["level"], given.get("group", 0))
        return port.unsubscribe(node, filter_)

    def settle(self) -> None:
        """Reconnect all clients with a lasting session, and receive and acknowledge until nothing is left."""
        for node in self._nodes:
            self._port.stall(node, False)
        self._look()
        for node, lasts in self._lasts.items():
            if lasts and node not in self._on:
                self._call(Call(0, node, CallName.CONNECT, {"session": 1}))
        for _ in range(_ROUNDS):
            self._port.pump(QUIET_S)
            self._look()
            waiting = [node for node in sorted(self._on) if self._port.has_unacknowledged(node)]
            if not waiting:
                return
            for node in waiting:
                self._call(Call(0, node, CallName.ACKNOWLEDGE, {}))

    def trace(self, seed: int, iut: str, patience_s: float) -> Trace:
        self.settle()
        found = self.history.trace(seed, iut)
        if any(_is_missing(found, one.violations[0].position) for one in judge(found) if one.verdict is Verdict.FAIL):
            self._port.pump(patience_s)
            self.settle()
            found = self.history.trace(seed, iut)
        self._port.end()
        return found


def _is_missing(trace: Trace, position: int) -> bool:
    return trace.column("kind")[position] == Kind.ENDED


def play(
    make_port: Callable[[Deliver], Port],
    words: Words,
    clients: int,
    steps: Steps,
    seed: int,
    iut: str,
    patience_s: float = PATIENCE_S,
) -> Trace:
    """Carry out the steps; returns the trace. patience_s: how long to wait for missing messages, in s."""
    driver = Driver(make_port, words, clients)
    for step in steps:
        driver.make(step)
    return driver.trace(seed, iut, patience_s)
