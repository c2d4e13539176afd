"""Any network of hosts and switches whose links lose packets: its routes, its state and its steps.

A message is one copy of a scattering, for one receiver. Packets on link l have the numbers ``0 <= k < tail(l)``, and
the node at its far end takes one of the numbers from ``expected(l)`` on; those that it passes over are lost for good.
So links are FIFO and lose anything. That node keeps four registers of the link: ``barrier``, ``ack``, ``record`` and
``greatest``, and ``withheld``: a barrier that does not rise while the record is above the ack barrier.

Everything is Skolemised: a state is a record of functions, and each fact, step and conjunct speaks of the messages,
links, nodes and numbers that it is handed (`Terms`), so that no quantifier is left for Z3. A step takes a state and
gives (its guard, the state after it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

import z3

from scatterproof.models.claim import Rules
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers.network import BOOL, INT, LINK, NODE, greater

MESSAGE = z3.DeclareSort("Copy")
TIMESTAMP, SENDER = z3.Function("timestamp_of_copy", MESSAGE, INT), z3.Function("sender_of_copy", MESSAGE, NODE)
RECEIVER = z3.Function("receiver_of", MESSAGE, NODE)
FIRST_LINK, LAST_LINK = z3.Function("first_link", MESSAGE, LINK), z3.Function("last_link", MESSAGE, LINK)
NUMBER = z3.Function("number_of_host", NODE, INT)
TAKES = z3.Function("takes", MESSAGE, LINK, BOOL)
VIA, NEXT = z3.Function("via", MESSAGE, LINK, LINK), z3.Function("next_link", MESSAGE, LINK, LINK)
SOURCE, TARGET = z3.Function("source_of", LINK, NODE), z3.Function("target_of", LINK, NODE)
IS_HOST, REACHES = z3.Function("is_a_host", NODE, BOOL), z3.Function("reaches_egress", LINK, LINK, BOOL)
FROM, WAY = z3.Function("can_come_from", NODE, LINK, BOOL), z3.Function("way", NODE, LINK, LINK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the quantifiers are instantiated with: messages, links, numbers of packets, nodes."""

    messages: tuple[Any, ...] = ()
    links: tuple[Any, ...] = ()
    numbers: tuple[Any, ...] = ()
    nodes: tuple[Any, ...] = ()

    def of(self, letters: str) -> Iterator[tuple[Any, ...]]:
        """Every choice of terms for ``m``, ``n`` (messages), ``l`` (link), ``k`` (number), ``h`` (node)."""
        pools = {"m": self.messages, "n": self.messages, "l": self.links, "k": self.numbers, "h": self.nodes}
        return product(*(pools[letter] for letter in letters))

    def with_routes(self, to: tuple[Any, ...], host: Any) -> Terms:
        """These terms, with the links by which messages, and packets of the host, come to the links ``to``, those at
        the end of each message's route, and all senders.
        """
        before = [VIA(m, link) for m in self.messages for link in to]
        ways = [WAY(host, link) for link in to]
        return replace(
            self,
            links=(*self.links, *before, *ways, *(LAST_LINK(m) for m in self.messages)),
            nodes=(*self.nodes, *(SENDER(m) for m in self.messages)),
        )


@dataclass(frozen=True, slots=True)
class Formula:
    """A sentence for all ``over``, by its letters."""

    name: str
    over: str
    says: Callable[..., Any]


def routes() -> tuple[Formula, ...]:
    """What is true of every topology. ``FROM(h, l)``: packets of host h may come to link l, by ``WAY(h, l)``."""

    def rule(name: str, over: str, says: Callable[..., Any]) -> Formula:
        return Formula(name, over, says)

    both = z3.And
    return (
        rule(
            "first_link",
            "ml",
            lambda m, e: _if(both(TAKES(m, e), IS_HOST(SOURCE(e))), both(SOURCE(e) == SENDER(m), e == FIRST_LINK(m))),
        ),
        rule(
            "link_before",
            "ml",
            lambda m, e: _if(
                both(TAKES(m, e), z3.Not(IS_HOST(SOURCE(e)))),
                both(
                    TAKES(m, VIA(m, e)),
                    REACHES(VIA(m, e), e),
                    NEXT(m, VIA(m, e)) == e,
                    z3.Not(IS_HOST(TARGET(VIA(m, e)))),
                ),
            ),
        ),
        rule(
            "link_after",
            "ml",
            lambda m, e: _if(
                both(TAKES(m, e), z3.Not(IS_HOST(TARGET(e)))),
                both(TAKES(m, NEXT(m, e)), VIA(m, NEXT(m, e)) == e, z3.Not(IS_HOST(SOURCE(NEXT(m, e))))),
            ),
        ),
        rule("last", "m", lambda m: both(TAKES(m, LAST_LINK(m)), TARGET(LAST_LINK(m)) == RECEIVER(m))),
        rule("hosts_end_routes", "ml", lambda m, e: _if(both(TAKES(m, e), IS_HOST(TARGET(e))), e == LAST_LINK(m))),
        rule("receivers", "m", lambda m: both(IS_HOST(RECEIVER(m)), IS_HOST(SENDER(m)), TIMESTAMP(m) > 0)),
        rule("origin", "ml", lambda m, e: _if(TAKES(m, e), FROM(SENDER(m), e))),
        rule("origin_of_first", "hl", lambda h, e: _if(both(FROM(h, e), IS_HOST(SOURCE(e))), h == SOURCE(e))),
        rule(
            "origin_before",
            "hl",
            lambda h, e: _if(
                both(FROM(h, e), z3.Not(IS_HOST(SOURCE(e)))), both(REACHES(WAY(h, e), e), FROM(h, WAY(h, e)))
            ),
        ),
    )


def _if(when: Any, then: Any) -> z3.BoolRef:
    return z3.Implies(when, then)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossState:
    """Of messages: ``given`` a timestamp, ``put`` on a link and first as number ``at``, ``arrived`` at its far end,
    ``received``, known to be so (``acknowledged``), ``delivered`` as the ``position``-th at its receiver.
    """

    given: Callable[[Any], Any]
    put: Callable[[Any, Any], Any]
    at: Callable[[Any, Any], Any]
    arrived: Callable[[Any, Any], Any]
    received: Callable[[Any], Any]
    acknowledged: Callable[[Any], Any]
    delivered: Callable[[Any], Any]
    position: Callable[[Any], Any]
    count: Callable[[Any], Any]
    tail: Callable[[Any], Any]
    expected: Callable[[Any], Any]
    is_data: Callable[[Any, Any], Any]
    message: Callable[[Any, Any], Any]
    said_barrier: Callable[[Any, Any], Any]
    said_ack: Callable[[Any, Any], Any]
    said_record: Callable[[Any, Any], Any]
    said_greatest: Callable[[Any, Any], Any]
    barrier: Callable[[Any], Any]
    ack: Callable[[Any], Any]
    record: Callable[[Any], Any]
    greatest: Callable[[Any], Any]
    withheld: Callable[[Any], Any]
    last: Callable[[Any], Any]
    promised: Callable[[Any], Any]


def any_state() -> LossState:
    of_message = {"given": BOOL, "received": BOOL, "acknowledged": BOOL, "delivered": BOOL, "position": INT}
    of_packet = {"is_data": BOOL, "message": MESSAGE}
    functions: dict[str, Any] = {}
    sorts: tuple[Any, ...]
    for one in fields(LossState):
        name = one.name
        if name in of_message:
            sorts = (MESSAGE, of_message[name])
        elif name in ("put", "arrived", "at"):
            sorts = (MESSAGE, LINK, INT if name == "at" else BOOL)
        elif name in ("count", "last", "promised"):
            sorts = (NODE, INT)
        elif name in of_packet or name.startswith("said_"):
            sorts = (LINK, INT, of_packet.get(name, INT))
        else:
            sorts = (LINK, INT)
        functions[name] = z3.Function(f"{name}_now", *sorts)
    return LossState(**functions)


def start() -> LossState:
    """Init: nothing given, put or said."""
    zero, false = z3.IntVal(0), z3.BoolVal(False)
    nobody = z3.Const("no_message", MESSAGE)
    values: dict[str, Any] = {one.name: zero for one in fields(LossState)}
    values |= dict.fromkeys(("given", "put", "arrived", "received", "acknowledged", "delivered", "is_data"), false)
    values["message"] = nobody
    return LossState(**{name: (lambda *_, value=value: value) for name, value in values.items()})


def altered(function: Callable[..., Any], value: Any, *at: Any) -> Callable[..., Any]:
    """The function, with another value at one place."""
    return lambda *where: z3.If(z3.And(*(w == a for w, a in zip(where, at, strict=True))), value, function(*where))


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketValues:
    """The values of a packet; `any_values` are free ones."""

    barrier: Any
    ack: Any
    record: Any
    greatest: Any


def any_values(name: str) -> PacketValues:
    return PacketValues(**{one.name: z3.Int(f"{name}_{one.name}") for one in fields(PacketValues)})


def put(state: LossState, link: Any, said: PacketValues, message: Any = None) -> LossState:
    """One more packet at the end of the link, with a message or without."""
    k = state.tail(link)
    after = replace(
        state,
        tail=altered(state.tail, k + 1, link),
        is_data=altered(state.is_data, z3.BoolVal(message is not None), link, k),
        said_barrier=altered(state.said_barrier, said.barrier, link, k),
        said_ack=altered(state.said_ack, said.ack, link, k),
        said_record=altered(state.said_record, said.record, link, k),
        said_greatest=altered(state.said_greatest, said.greatest, link, k),
    )
    if message is None:
        return after
    return replace(
        after,
        message=altered(state.message, message, link, k),
        put=altered(state.put, z3.BoolVal(True), message, link),
        at=altered(state.at, z3.If(state.put(message, link), state.at(message, link), k), message, link),
    )


def take(using: Rules, state: LossState, link: Any, k: Any, noticed: Any, terms: Terms) -> tuple[z3.BoolRef, LossState]:
    """The far end of the link takes packet k, in one step: gap, record, barriers (TO-SWLOSS, TO-LOSSCTR).

    A gap is ``noticed`` if data were lost in it, and what is greatest is not strictly below the barrier held. Whether
    any other gap is noticed is left open: nothing is lost in it that the link's promises do not cover.
    """
    least, largest = z3.Ints("least_barrier largest_barrier")
    record = greater(
        state.record(link),
        greater(
            lift(using["passed_record"])(state.said_record(link, k), least, largest, state.said_greatest(link, k)),
            z3.If(noticed, lift(using["noticed_record"])(least, largest, state.said_greatest(link, k)), 0),
        ),
    )
    barrier = greater(state.barrier(link), state.said_barrier(link, k))
    ack = greater(state.ack(link), state.said_ack(link, k))
    message, data = state.message(link, k), state.is_data(link, k)

    def lost(m: Any) -> z3.BoolRef:
        return z3.And(state.put(m, link), state.expected(link) <= state.at(m, link), state.at(m, link) < k)

    guard = z3.And(
        state.expected(link) <= k,
        k < state.tail(link),
        *(_if(z3.And(lost(m), state.said_greatest(link, k) >= state.barrier(link)), noticed) for m in terms.messages),
    )
    return guard, replace(
        state,
        expected=altered(state.expected, k + 1, link),
        record=altered(state.record, record, link),
        barrier=altered(state.barrier, barrier, link),
        ack=altered(state.ack, ack, link),
        greatest=altered(state.greatest, greater(state.greatest(link), state.said_greatest(link, k)), link),
        withheld=altered(
            state.withheld,
            greater(state.withheld(link), z3.If(record <= ack, greater(barrier, ack + 1), ack + 1)),
            link,
        ),
        arrived=lambda m, e: z3.Or(z3.And(data, m == message, e == link), state.arrived(m, e)),
    )


def switch_says(state: LossState, egress: Any, said: PacketValues, terms: Terms, message: Any = None) -> z3.BoolRef:
    """What a switch may send on an egress link, as far as each ingress link that reaches it allows.

    The ack barrier is at or below the link's. The barrier is at or below the link's, with a record at or above the
    link's unless the link's own ack barrier has reached that; or it is at or below the link's withheld barrier, with
    any record. What is greatest is at or above that of the ingress links, or all that was put on the egress link
    itself, with the ``message`` that goes along.
    """

    def allowed(i: Any) -> Any:
        flagged = z3.And(
            said.barrier <= state.barrier(i), z3.Or(state.record(i) <= said.record, state.record(i) <= state.ack(i))
        )
        return z3.And(said.ack <= state.ack(i), z3.Or(flagged, said.barrier <= state.withheld(i)))

    registers = z3.And(*(_if(REACHES(i, egress), said.greatest >= state.greatest(i)) for i in terms.links))
    return z3.And(
        *(_if(REACHES(i, egress), allowed(i)) for i in terms.links),
        z3.Or(registers, _above_all_put(state, egress, said, terms, message)),
    )


def _above_all_put(state: LossState, link: Any, said: PacketValues, terms: Terms, message: Any) -> z3.BoolRef:
    """What is greatest is at or above all that was put on the link, and the message that is put with it."""

    def on_it(m: Any) -> Any:
        return state.put(m, link) if message is None else z3.Or(m == message, state.put(m, link))

    return z3.And(*(_if(on_it(m), TIMESTAMP(m) <= said.greatest) for m in terms.messages))


def host_says(
    using: Rules,
    state: LossState,
    host: Any,
    link: Any,
    said: PacketValues,
    clock: Any,
    terms: Terms,
    message: Any = None,
) -> tuple[z3.BoolRef, z3.ArithRef]:
    """Constrains the ack barrier, which may be absent, and what is greatest, both for this link alone. Returns the
    guard, and the host's promise after this packet. Its loss record may be any number (TO-FLAG-HOST).
    """
    waiting, least, acknowledged = z3.Bool("waiting"), z3.Int("least_outstanding"), z3.Int("greatest_acknowledged")
    rule = lift(using["ack_barrier"])
    possible = lift(using["stamp"])(clock, state.last(host), state.promised(host))
    outstanding = [z3.And(state.given(m), TAKES(m, link), z3.Not(state.acknowledged(m))) for m in terms.messages]
    ack = z3.If(waiting, rule(least, acknowledged, possible), rule(None, acknowledged, possible))
    guard = z3.And(
        *(_if(out, z3.And(waiting, least <= TIMESTAMP(m))) for out, m in zip(outstanding, terms.messages, strict=True)),
        least > 0,
        z3.Or(said.ack == 0, said.ack == ack),
        _above_all_put(state, link, said, terms, message),
        said.record >= 0,
    )
    return guard, greater(state.promised(host), greater(said.barrier, said.ack + 1))
