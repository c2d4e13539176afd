"""Small histories of the queue, by number: what a few clients see of a store that carries out each call at a drawn
moment of its box, and the same damaged in one or two places. For judges that try every order of the calls.

Times are small, so that many fall together; answers get lost, requests too, clients and the store crash.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from random import Random

from msgspec.structs import replace

from scatterproof.conformance.network.run import MakeNode
from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.workqueue.recording import Recorder
from scatterproof.impl.workqueue import make_core
from scatterproof.spec.core import (
    Called,
    Deliver,
    NodeConfig,
    Outcome,
    PacketArrived,
    Parameter,
    Return,
    Send,
    TimerFired,
    node_config,
)
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId, Topology, route
from scatterproof.spec.trace import ABSENT, Header, Kind, Order, Row, Trace, schema
from scatterproof.spec.workqueue.messages import COLUMNS, CallName, Packet

STORE: NodeId = 0
CALLS, SPAN_NS = (6, 14), 6
_SCHEMA = schema("workqueue")
_NOWHERE = (ABSENT,) * (len(_SCHEMA.columns) - 6)
_LIMITS = (0, 0, (1 << 63) - 1, (1 << 63) - 1, 20)

# Of 100 calls: to how many no answer comes, of how many of these no request does, in how many the client crashes; how
# many suit what is in hand, and how many of the others name a group that a client was told.
_CALLS = list(CallName)[: list(CallName).index(CallName.CLEAN) + 1]  # those of groups
_UNHEARD, _NEVER, _CRASHES, _SUITS, _NAMES = 10, 4, 4, 88, 50


class Client:
    """A client of a drawn history.

    last: the call that returned ok last, of those about what is in hand.
    left: whether it said that a message is left.
    seen: groups and tokens that any client has been given.
    next: what it calls next, where that is known.
    """

    def __init__(self, config: NodeConfig, seen: list[tuple[int, int]]) -> None:
        self.config, self.operation, self.seen, self.next = config, 0, seen, list[Call]()
        self.begin()

    def begin(self) -> None:
        self.core = make_core(self.config)
        self.last, self.left = "", True

    def note(self, call: Call, returned: Return) -> None:
        if returned.outcome is not Outcome.OK:
            return
        self.last = str(call.call)
        self.left = returned.results.get("message", 1) != 0
        group, token = returned.results.get("group", 0), returned.results.get("token", 0)
        if call.call in (CallName.OPEN_GROUP, CallName.NEXT_GROUP):
            assert isinstance(group, int)
            assert isinstance(token, int)
            if group:
                self.seen.append((group, token))
            self.last = self.last if group else ""


class Run:
    """rows: recorded so far. marks: as of `history`. `later` is a heap of events to come: time, a drawn number, a
    tie-breaker, and the action."""

    marks = False

    def __init__(
        self,
        draw: Random,
        network: Topology,
        parameters: Mapping[str, Parameter],
        make_store: MakeNode = make_core,
        count: int = 0,
        most: int = 0,
    ) -> None:
        """count: how many calls are made. most: by how many of the clients; by all when left out."""
        self.draw, self.network, self.rows, self.made = draw, network, list[Row](), 0
        self.later = list[tuple[int, int, int, Callable[[], None]]]()
        self.parameters: dict[str, Parameter] = {"retry_ns": 1, "tries": 1, **parameters}
        seen, routes = list[tuple[int, int]](), route(network)
        config = partial(node_config, topology=network, routes=routes, protocol="workqueue", parameters=self.parameters)
        self.clients = {node: Client(config(node), seen) for node in network.clients()}
        self.store, self.carried_out, self.recorder = make_store(config(STORE)), 0, Recorder()
        self.acting = draw.sample(network.clients(), most) if most else network.clients()
        self.now, self.count = 0, count

    def run(self) -> list[Row]:
        for node in self.acting:
            self._at(self.draw.randrange(12), lambda node=node: self._call(node))  # type: ignore[misc]
        if self.draw.random() < 0.1:
            self._at(self.draw.randrange(60), lambda: self._fail(STORE))
        while self.later:
            self.now, _, _, do = heapq.heappop(self.later)
            do()
        return [*self.rows, (self.now + 1, ABSENT, ABSENT, Kind.ENDED, ABSENT, ABSENT, *self.recorder.ended(3))]

    def _at(self, after_ns: int, do: Callable[[], None]) -> None:
        self.made += 1
        heapq.heappush(self.later, (self.now + after_ns, self.draw.getrandbits(30), self.made, do))

    def stir(self) -> None:
        """Let the store crash, and links be cut, at a few moments."""
        for _ in range(self.draw.choice((0, 0, 1, 2))):
            self._at(self.draw.randrange(60), lambda: self._fail(STORE))
        for link in self.draw.sample(range(len(self.network.links)), self.draw.choice((0, 0, 1, 2))):
            node = self.network.links[link].source
            self._at(self.draw.randrange(40), partial(self._row, node, Kind.CRASHED, link=link))

    def _row(self, node: NodeId, kind: Kind, rest: Row = _NOWHERE, link: int = ABSENT) -> None:
        self.rows.append((self.now, ABSENT, node, kind, link, ABSENT, *rest))

    def _often(self, percent: int) -> bool:
        return self.draw.randrange(100) < percent

    def _delay(self) -> int:
        return self.draw.choice((0, 0, 1, 2, SPAN_NS))

    def _fail(self, node: NodeId) -> None:
        self._row(node, Kind.CRASHED)
        self._row(node, Kind.RESTARTED)

    def _call(self, node: NodeId) -> None:
        if not self.count:
            return
        self.count -= 1
        client = self.clients[node]
        client.operation += 1
        call = self.drawn(client, node)
        self._row(node, Kind.CALLED, self.recorder.called(node, client.operation, call))
        called = Called(self.now, client.operation, call.call, call.arguments, call.payload)
        (effect,) = client.core.handle(called)
        if isinstance(effect, Return):  # it has nothing in hand
            self._return(node, call, effect)
            return
        assert isinstance(effect, Send)
        fate, asked = self.draw.randrange(100), effect.packet
        if fate >= _UNHEARD + _CRASHES:
            self._at(self._delay(), lambda: self._carry_out(asked, lambda answer: self._answer(node, call, answer)))
            return
        if not self._often(100 * _NEVER // (_UNHEARD + _CRASHES)):
            self._at(self._delay() * self.draw.choice((1, 1, 4)), lambda: self._carry_out(asked, lambda answer: None))
        end = self._give_up if fate < _UNHEARD else self._crash
        self._at(self._delay(), lambda: end(node, call))

    def _carry_out(self, asked: Packet, then: Callable[[Packet], None]) -> None:
        """Nobody hears of a store with a mistake that stumbles over it."""
        with suppress(LookupError):
            for answered in self.store.handle(PacketArrived(self.now, 0, self.as_new(asked))):
                assert isinstance(answered, Send)
                then(replace(answered.packet, operation=asked.operation))

    def as_new(self, asked: Packet) -> Packet:
        """Calls take effect in the order of their moments; the store takes each for a new one."""
        self.carried_out += 1
        return replace(asked, operation=self.carried_out)

    def _answer(self, node: NodeId, call: Call, answer: Packet) -> None:
        def hear() -> None:
            *handed, returned = self.clients[node].core.handle(PacketArrived(self.now, 0, answer))
            assert isinstance(returned, Return)
            for one in handed:
                assert isinstance(one, Deliver)
                self._row(node, Kind.DELIVERED, self.recorder.delivery(node, one.message))
            self._return(node, call, returned)

        self._at(self._delay(), hear)

    def _give_up(self, node: NodeId, call: Call) -> None:
        (returned,) = self.clients[node].core.handle(TimerFired(1 << 62))
        assert isinstance(returned, Return)
        self._return(node, call, returned)

    def _crash(self, node: NodeId, call: Call) -> None:
        self._fail(node)
        self.clients[node].begin()
        self._at(self._delay(), lambda: self._call(node))

    def _return(self, node: NodeId, call: Call, returned: Return) -> None:
        self._row(node, Kind.RETURNED, self.recorder.returned(node, call, returned))
        self.clients[node].note(call, returned)
        self._at(self.draw.choice((0, 0, 1, 4)), lambda: self._call(node))

    def drawn(self, client: Client, node: NodeId) -> Call:
        raise NotImplementedError


class GroupRun(Run):
    def drawn(self, client: Client, node: NodeId) -> Call:
        draw, last = self.draw, client.last
        name = draw.choice(_CALLS)
        arguments: dict[str, Parameter] = {}
        if self._often(_SUITS):
            name = _suited(draw, last, client.left, node, 1 if self.parameters["most_tries"] else 6)
        elif client.seen and self._often(_NAMES):
            arguments["group"], arguments["token"] = draw.choice(client.seen)
        if name == CallName.POP_MESSAGE and self._often(5):
            arguments["message"] = draw.randint(1, 2)
        small = {"type": 7, "priority": draw.randint(1, 2), "correlation": draw.randint(1, 2)}
        if name == CallName.OPEN_GROUP:
            marked = {"correlation": 1, "last": draw.randint(0, 1)} if self.marks else {}
            arguments = {**small, "server": draw.randint(1, 2), **marked}
        elif name in (CallName.NEXT_GROUP, CallName.UNLOCK_SERVER_GROUPS):
            arguments = {"server": draw.randint(1, 2)}
        elif name == CallName.CLEAN:
            arguments = {"senders_before": draw.choice(_LIMITS), "receivers_before": draw.choice(_LIMITS)}
        body = b"%d" % draw.randrange(1000) if name == CallName.SEND_MESSAGE else b""
        return Call(self.now, node, name, arguments, body)


def _suited(draw: Random, last: str, left: bool, node: NodeId, pops: int) -> CallName:
    """A call that makes sense after the last one that returned ok. pops: how often a message that was read is popped,
    for each time that it is read again."""
    name = CallName
    if last == name.OPEN_GROUP:
        return draw.choice((name.SEND_MESSAGE,) * 6 + (name.CLOSE_GROUP, name.FLUSH_GROUP))
    if last == name.SEND_MESSAGE:
        return draw.choice((name.SEND_MESSAGE,) + (name.CLOSE_GROUP,) * 5 + (name.FLUSH_GROUP,))
    if last in (name.NEXT_GROUP, name.POP_MESSAGE):
        return draw.choice((name.READ_MESSAGE,) * 6 + (name.POP_GROUP,))
    if last == name.READ_MESSAGE:
        then = name.POP_MESSAGE if left else name.POP_GROUP
        return draw.choice((then,) * pops + (name.READ_MESSAGE,))
    rare = draw.choice((name.UNLOCK_SERVER_GROUPS, name.CLEAN, name.CLEAN))
    usual = name.OPEN_GROUP if node == 1 else name.NEXT_GROUP
    return draw.choice((usual, usual, usual, name.OPEN_GROUP, name.NEXT_GROUP, rare))


def history(number: int, most_tries: int = 0, *, marks: bool = False) -> Trace:
    """The history with this number; three of five are damaged. most_tries: the store sets messages aside after so
    many. marks: all groups are of one correlation, and each waits for the last one, or is marked as that."""
    draw = Random(number)
    network = served(draw.choice((2, 2, 3, 3, 4)))
    run = GroupRun(draw, network, {"most_tries": most_tries}, count=draw.randint(*CALLS) + 6 * marks)
    run.marks = marks
    rows = run.run()
    for _ in range(draw.choice((0, 0, 1, 1, 2))):
        rows = damaged(draw, rows)
    return traced(network, rows, {"most_tries": most_tries} if most_tries else {})


def traced(network: Topology, rows: list[Row], parameters: Mapping[str, Parameter]) -> Trace:
    nodes = tuple(range(len(network.nodes)))
    complete = dict.fromkeys(("called", "returned", "delivered", "crashed", "restarted"), nodes)
    return Trace(Header("workqueue", network, dict(parameters), complete, Order.LINK), rows)


# ---------------------------------------------------------------- damage

_KIND, _TIME, _NODE = (_SCHEMA.index(name) for name in ("kind", "time_ns", "node"))
_CALL, _OUTCOME, _OPERATION = (_SCHEMA.index(name) for name in ("call", "outcome", "operation"))
# What a call gives and what it tells, as trace.toml has it.
_GIVES = {
    CallName.OPEN_GROUP: ("priority", "correlation", "server"),
    CallName.SEND_MESSAGE: ("digest",),
    CallName.NEXT_GROUP: ("server",),
    CallName.UNLOCK_SERVER_GROUPS: ("server",),
    CallName.CLEAN: ("senders_before", "receivers_before"),
}
_TELLS = {
    CallName.OPEN_GROUP: ("group", "token"),
    CallName.SEND_MESSAGE: ("message",),
    CallName.NEXT_GROUP: ("group", "token", "type", "priority", "correlation", "retries"),
    CallName.READ_MESSAGE: ("message", "retries", "digest"),
    CallName.UNLOCK_SERVER_GROUPS: ("released",),
    CallName.CLEAN: ("removed", "released"),
}
_NAMES_OF = {code: CallName(name) for name, code in _SCHEMA.calls.items()}


def damaged(draw: Random, rows: list[Row]) -> list[Row]:
    """The rows with one outcome, number, digest, argument or order changed."""
    return draw.choice((_outcome, _number, _number, _number, _argument, _exchange, _at_once))(draw, rows)


def _returns(rows: list[Row], outcome: Outcome | None = None) -> list[int]:
    of = (at for at, row in enumerate(rows) if row[_KIND] == Kind.RETURNED)
    return [at for at in of if outcome is None or rows[at][_OUTCOME] == outcome]


def _with(rows: list[Row], at: int, column: int, value: int) -> list[Row]:
    return [*rows[:at], (*rows[at][:column], value, *rows[at][column + 1 :]), *rows[at + 1 :]]


def _outcome(draw: Random, rows: list[Row]) -> list[Row]:
    """One return gets another outcome; one without results never becomes ok, as there are no results to make up."""
    found = [at for at in _returns(rows) if rows[at][_OUTCOME] == Outcome.OK or _is_plain(rows[at])]
    if not found:
        return rows
    at = draw.choice(found)
    others = [outcome for outcome in Outcome if outcome != rows[at][_OUTCOME]]
    return _with(rows, at, _OUTCOME, draw.choice(others))


def _is_plain(row: Row) -> bool:
    return _NAMES_OF[row[_CALL]] not in _TELLS


def _number(draw: Random, rows: list[Row]) -> list[Row]:
    found = [at for at in _returns(rows, Outcome.OK) if not _is_plain(rows[at])]
    if not found:
        return rows
    at = draw.choice(found)
    column = _SCHEMA.index(draw.choice(_TELLS[_NAMES_OF[rows[at][_CALL]]]))
    old = rows[at][column]
    if old == ABSENT:
        return rows
    others = [row[column] for row in rows if row[column] not in (old, ABSENT)]
    return _with(rows, at, column, draw.choice([*others, old + 1, max(0, old - 1)]))


def _argument(draw: Random, rows: list[Row]) -> list[Row]:
    calls = [at for at, row in enumerate(rows) if row[_KIND] == Kind.CALLED and _NAMES_OF[row[_CALL]] in _GIVES]
    if not calls:
        return rows
    at = draw.choice(calls)
    name = draw.choice(_GIVES[_NAMES_OF[rows[at][_CALL]]])
    new = draw.choice(_LIMITS) if name.endswith("before") else draw.randint(1, 2)
    return _with(rows, at, _SCHEMA.index(name), new)


def _exchange(draw: Random, rows: list[Row]) -> list[Row]:
    """Two calls of one kind tell what the other told."""
    ok = _returns(rows, Outcome.OK)
    pairs = [(one, two) for one in ok for two in ok if one < two and rows[one][_CALL] == rows[two][_CALL]]
    if not pairs:
        return rows
    one, two = draw.choice(pairs)
    for name in ("digest", *COLUMNS):
        column = _SCHEMA.index(name)
        first, second = rows[one][column], rows[two][column]
        rows = _with(_with(rows, one, column, second), two, column, first)
    return rows


def _at_once(draw: Random, rows: list[Row]) -> list[Row]:
    """A call returns at the moment at which it was made."""
    found = _returns(rows)
    if not found:
        return rows
    at = draw.choice(found)
    begun = max(
        place for place in range(at) if rows[place][_NODE] == rows[at][_NODE] and rows[place][_KIND] == Kind.CALLED
    )
    moved = _with(rows, at, _TIME, rows[begun][_TIME])[at]
    return [*rows[: begun + 1], moved, *rows[begun + 1 : at], *rows[at + 1 :]]
