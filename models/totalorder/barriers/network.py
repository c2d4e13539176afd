"""Any network of hosts and switches, with messages in flight on FIFO links, as functions and formulas over links.

`BarrierState` is a record of functions, so that it can be free (an arbitrary state of an arbitrary network: the links
are an uninterpreted sort) or known (the start of a run on a small network). On link l the messages in flight have the
indices ``head(l) <= k < tail(l)``; a data message has a timestamp, and any message may carry a barrier. That covers
environments A (barriers on data), B (on beacons) and C (both) at once. ``newest(l)`` is the register at the far end of
l; ``said(l)`` is the greatest barrier ever sent on l, which no node need know.

An action takes a state and gives (its guard, the state after it). Routes are the relation ``reaches(ingress,
egress)``: data from the ingress link may leave on the egress link (TO-BAR-PART). Actions bear the names of the
TLA+ ones, in snake_case, where both have them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import z3

from scatterproof.models.claim import Rules
from scatterproof.models.symbolic import lift

Links = Callable[[Any], Any]
"""A set of links, as a predicate; True and False are allowed for known links."""

LINK = z3.DeclareSort("Link")
NODE = z3.DeclareSort("Node")
INT, BOOL = z3.IntSort(), z3.BoolSort()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkGraph:
    """``source(l)`` is the node that sends on l; ``links`` lists all links of a small network, None means any
    number.
    """

    source: Callable[[Any], Any]
    is_host: Callable[[Any], Any]
    reaches: Callable[[Any, Any], Any]
    links: tuple[Any, ...] | None = None

    def assumptions(self) -> tuple[z3.BoolRef, ...]:
        """Hosts forward nothing: what reaches an egress link reaches it through a switch."""
        i, e = z3.Consts("i e", LINK)
        return (z3.ForAll([i, e], z3.Implies(self.reaches(i, e), z3.Not(self.is_host(self.source(e))))),)


@dataclass(frozen=True, slots=True, kw_only=True)
class BarrierState:
    head: Callable[[Any], Any]
    tail: Callable[[Any], Any]
    is_data: Callable[[Any, Any], Any]
    timestamp: Callable[[Any, Any], Any]
    has_barrier: Callable[[Any, Any], Any]
    barrier: Callable[[Any, Any], Any]
    newest: Callable[[Any], Any]
    said: Callable[[Any], Any]
    last: Callable[[Any], Any]
    promised: Callable[[Any], Any]


Step = tuple[z3.BoolRef, BarrierState]


def any_topology() -> LinkGraph:
    return LinkGraph(
        source=z3.Function("source", LINK, NODE),
        is_host=z3.Function("is_host", NODE, BOOL),
        reaches=z3.Function("reaches", LINK, LINK, BOOL),
    )


def any_state() -> BarrierState:
    def per_link(name: str) -> Callable[[Any], Any]:
        function: Callable[[Any], Any] = z3.Function(name, LINK, INT)
        return function

    def per_message(name: str, sort: z3.SortRef) -> Callable[[Any, Any], Any]:
        function: Callable[[Any, Any], Any] = z3.Function(name, LINK, INT, sort)
        return function

    return BarrierState(
        head=per_link("head"),
        tail=per_link("tail"),
        is_data=per_message("is_data", BOOL),
        timestamp=per_message("timestamp", INT),
        has_barrier=per_message("has_barrier", BOOL),
        barrier=per_message("barrier", INT),
        newest=per_link("newest"),
        said=per_link("said"),
        last=z3.Function("last", NODE, INT),
        promised=z3.Function("promised", NODE, INT),
    )


def start() -> BarrierState:
    """Init: nothing sent, no link has spoken."""
    zero, false = z3.IntVal(0), z3.BoolVal(False)
    return BarrierState(
        head=lambda link: zero,
        tail=lambda link: zero,
        is_data=lambda link, k: false,
        timestamp=lambda link, k: zero,
        has_barrier=lambda link, k: false,
        barrier=lambda link, k: zero,
        newest=lambda link: zero,
        said=lambda link: zero,
        last=lambda node: zero,
        promised=lambda node: zero,
    )


def greater(one: Any, other: Any) -> Any:
    return z3.If(one >= other, one, other)


def _append(
    state: BarrierState,
    *,
    on: Links,
    data: Any,
    timestamp: Any,
    carries: Callable[[Any], Any],
    barrier: Callable[[Any], Any],
) -> BarrierState:
    """One more message at the end of every link in ``on``."""

    def changed(old: Callable[[Any, Any], Any], new: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda link, k: z3.If(z3.And(on(link), k == state.tail(link)), new(link), old(link, k))

    return replace(
        state,
        tail=lambda link: z3.If(on(link), state.tail(link) + 1, state.tail(link)),
        is_data=changed(state.is_data, lambda link: data),
        timestamp=changed(state.timestamp, lambda link: timestamp),
        has_barrier=changed(state.has_barrier, carries),
        barrier=changed(state.barrier, barrier),
        said=lambda link: z3.If(
            z3.And(on(link), carries(link)), greater(state.said(link), barrier(link)), state.said(link)
        ),
    )


def _sent_by(topology: LinkGraph, host: Any, on: Links) -> z3.BoolRef:
    if topology.links is not None:
        return z3.And(topology.is_host(host), *(z3.Implies(on(e), topology.source(e) == host) for e in topology.links))
    e = z3.Const("e", LINK)
    return z3.And(topology.is_host(host), z3.ForAll([e], z3.Implies(on(e), topology.source(e) == host)))


def scatter(
    topology: LinkGraph, state: BarrierState, rules: Rules, *, host: Any, on: Links, clock: Any, carries: Any
) -> Step:
    """The host stamps a scattering and sends its first message on every link in ``on`` (TO-SCATTER, TO-MONO)."""
    timestamp = lift(rules["stamp"])(clock, state.last(host), state.promised(host))
    stamped = replace(state, last=lambda node: z3.If(node == host, timestamp, state.last(node)))
    return _send_data(topology, stamped, rules, host=host, on=on, timestamp=timestamp, carries=carries)


def scatter_more(topology: LinkGraph, state: BarrierState, rules: Rules, *, host: Any, on: Links, carries: Any) -> Step:
    """A further message of the newest scattering; no greater barrier may have been promised since (TO-SCATTER)."""
    timestamp = state.last(host)
    open_still = lift(rules["may_go_on"])(timestamp, state.promised(host))
    guard, after = _send_data(topology, state, rules, host=host, on=on, timestamp=timestamp, carries=carries)
    return z3.And(guard, timestamp > 0, open_still), after


def _send_data(
    topology: LinkGraph, state: BarrierState, rules: Rules, *, host: Any, on: Links, timestamp: Any, carries: Any
) -> Step:
    barrier = lift(rules["data_barrier"])(timestamp)
    sent = _append(
        state,
        on=on,
        data=z3.BoolVal(True),
        timestamp=timestamp,
        carries=lambda link: carries,
        barrier=lambda link: barrier,
    )
    return _sent_by(topology, host, on), _promise(sent, host, carries, barrier)


def _promise(state: BarrierState, host: Any, carries: Any, barrier: Any) -> BarrierState:
    promised = state.promised
    return replace(
        state,
        promised=lambda node: z3.If(z3.And(node == host, carries), greater(promised(node), barrier), promised(node)),
    )


def host_beacon(topology: LinkGraph, state: BarrierState, rules: Rules, *, host: Any, on: Links, clock: Any) -> Step:
    """The host promises its beacon barrier on every link in ``on`` (TO-BAR-HOST)."""
    barrier = lift(rules["beacon_barrier"])(clock, state.last(host))
    true = z3.BoolVal(True)
    sent = _append(
        state,
        on=on,
        data=z3.BoolVal(False),
        timestamp=z3.IntVal(0),
        carries=lambda link: true,
        barrier=lambda link: barrier,
    )
    return _sent_by(topology, host, on), _promise(sent, host, true, barrier)


def arrive(state: BarrierState, rules: Rules, *, link: Any) -> Step:
    """The oldest message leaves the link, and its barrier is registered unless it falls (TO-BAR-RISE)."""
    k = state.head(link)
    arrived, held = state.barrier(link, k), state.newest(link)
    registered = lift(rules["register"])(held, arrived)
    newer = z3.And(state.has_barrier(link, k), arrived >= held)
    newest = z3.If(newer, registered, held)
    after = replace(
        state,
        head=lambda other: z3.If(other == link, state.head(other) + 1, state.head(other)),
        newest=lambda other: z3.If(other == link, newest, state.newest(other)),
    )
    return state.head(link) < state.tail(link), after


def lose(state: BarrierState, *, link: Any) -> Step:
    """The oldest message is lost."""
    after = replace(state, head=lambda other: z3.If(other == link, state.head(other) + 1, state.head(other)))
    return state.head(link) < state.tail(link), after


def forward_data(
    topology: LinkGraph,
    state: BarrierState,
    rules: Rules,
    *,
    link: Any,
    on: Links,
    carries: Callable[[Any], Any],
    barrier: Callable[[Any], Any],
) -> Step:
    """A switch registers a data message, and sends it in the same step on the links in ``on``, with ``barrier``
    (TO-SW-PATH).

    Which barriers are right is the caller's hypothesis.
    """
    k = state.head(link)
    guard, after = arrive(state, rules, link=link)
    sent = _append(
        after,
        on=on,
        data=z3.BoolVal(True),
        timestamp=state.timestamp(link, k),
        carries=carries,
        barrier=barrier,
    )
    e = z3.Const("e", LINK)
    allowed = (
        z3.ForAll([e], z3.Implies(on(e), topology.reaches(link, e)))
        if topology.links is None
        else z3.And(*(z3.Implies(on(other), topology.reaches(link, other)) for other in topology.links))
    )
    return z3.And(guard, state.is_data(link, k), allowed), sent


def switch_beacon(topology: LinkGraph, state: BarrierState, *, on: Links, barrier: Callable[[Any], Any]) -> Step:
    """A switch sends a beacon on the links in ``on``, at any time."""
    true = z3.BoolVal(True)
    sent = _append(
        state,
        on=on,
        data=z3.BoolVal(False),
        timestamp=z3.IntVal(0),
        carries=lambda link: true,
        barrier=barrier,
    )
    e = z3.Const("e", LINK)
    if topology.links is None:
        return z3.ForAll([e], z3.Implies(on(e), z3.Not(topology.is_host(topology.source(e))))), sent
    return z3.And(*(z3.Implies(on(x), z3.Not(topology.is_host(topology.source(x)))) for x in topology.links)), sent
