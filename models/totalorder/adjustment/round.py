"""One round of timestamp adjustment between any senders and receivers, or between listed ones.

The network has constant one-way delays; delays back, send times, clock readings and the adjustments in force may be
anything. Clocks may be off, each by a constant: what a sender's clock shows less the true time is its skew. A delay
less the sender's skew is called apparent: a message stamped ``t`` by the plain clock arrives at ``t`` plus that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import z3

from scatterproof.models.claim import Rules
from scatterproof.models.totalorder.adjustment.rules import Members, Values, greatest_of, least_of, other_host

SENDER, RECEIVER = z3.DeclareSort("Sender"), z3.DeclareSort("Receiver")
INT, BOOL = z3.IntSort(), z3.BoolSort()
Pairs = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatteringNetwork:
    """``sends(s, r)``: s scatters to r; ``same_host(s, r)``: they are one host."""

    senders: Members
    receivers: Members
    sends: Pairs
    same_host: Pairs
    delay: Pairs
    skew: Values

    def apparent(self, sender: Any, receiver: Any) -> Any:
        return self.delay(sender, receiver) - self.skew(sender)

    def counts(self, sender: Any, receiver: Any) -> Any:
        return other_host(self.sends(sender, receiver), self.same_host(sender, receiver))

    def assumptions(self) -> tuple[z3.BoolRef, ...]:
        """Delays are not negative, and 0 from a host to itself."""

        def sound(s: Any, r: Any) -> Any:
            delay = self.delay(s, r)
            return z3.And(delay >= 0, z3.Implies(self.same_host(s, r), delay == 0))

        return (each_pair(self, sound),)


def each_pair(net: ScatteringNetwork, predicate: Pairs) -> z3.BoolRef:
    return net.receivers.every(lambda r: net.senders.every(lambda s: predicate(s, r)))


def any_network(*, sender: Any = None, receiver: Any = None) -> ScatteringNetwork:
    """Any number of senders and receivers; a sender or receiver that is given is the only one looked at."""
    return ScatteringNetwork(
        senders=Members(variable=z3.Const("s", SENDER), listed=None if sender is None else (sender,)),
        receivers=Members(variable=z3.Const("r", RECEIVER), listed=None if receiver is None else (receiver,)),
        sends=z3.Function("sends", SENDER, RECEIVER, BOOL),
        same_host=z3.Function("same_host", SENDER, RECEIVER, BOOL),
        delay=z3.Function("delay", SENDER, RECEIVER, INT),
        skew=z3.Function("skew", SENDER, INT),
    )


def small_network(delays: Sequence[Sequence[int]], *, hosts: bool = False) -> ScatteringNetwork:
    """``delays[s - 1][r - 1]`` in ns, all clocks true; with ``hosts``, sender k and receiver k are one host."""
    senders, receivers = (tuple(z3.IntVal(k + 1) for k in range(count)) for count in (len(delays), len(delays[0])))
    return ScatteringNetwork(
        senders=Members(variable=z3.Int("s"), listed=senders),
        receivers=Members(variable=z3.Int("r"), listed=receivers),
        sends=lambda s, r: z3.BoolVal(True),
        same_host=lambda s, r: z3.BoolVal(hosts and s.as_long() == r.as_long()),
        delay=lambda s, r: z3.IntVal(delays[s.as_long() - 1][r.as_long() - 1]),
        skew=lambda s: z3.IntVal(0),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What a round sends and measures, in ns, and what must hold.

    first: timestamp of message 1, by sender.
    latest: true time of the latest arrival, by receiver.
    aligned: timestamp aligned to the base, by sender and receiver.
    returned: maximum that the receiver returns, by receiver.
    returns_at: the sender's local time at the arrival of message 2, by sender and receiver.
    third, difference: third timestamp, and its difference to that local time, by sender and receiver.
    adjustment: in force after the round, by sender.
    at_receivers, at_senders: constraints of the rules at receivers and at senders.
    natural: no delay back, earlier round trip or hold is negative.
    """

    first: Values
    latest: Values
    aligned: Pairs
    returned: Values
    returns_at: Pairs
    third: Pairs
    difference: Pairs
    adjustment: Values
    at_receivers: z3.BoolRef
    at_senders: z3.BoolRef
    natural: z3.BoolRef

    @property
    def assumed(self) -> tuple[z3.BoolRef, ...]:
        return self.at_receivers, self.at_senders, self.natural


def _of(net: ScatteringNetwork, name: str, *over: str) -> Callable[..., Any]:
    """A free function over senders, receivers or both."""
    sorts = {"s": net.senders.variable.sort(), "r": net.receivers.variable.sort()}
    function: Callable[..., Any] = z3.Function(name, *(sorts[one] for one in over), INT)
    return function


@dataclass(frozen=True, slots=True, kw_only=True)
class _Free:
    """Free functions of a round; ``shown`` is a receiver's skew, ``earlier`` the round trip of an earlier round."""

    sent: Values
    back: Pairs
    earlier: Pairs
    shown: Values
    held: Values
    latest: Values
    base: Values
    returned: Values
    measured: Values


def _free(net: ScatteringNetwork, name: str) -> _Free:
    return _Free(
        sent=_of(net, f"sent_{name}", "s"),
        back=_of(net, f"back_{name}", "s", "r"),
        earlier=_of(net, f"earlier_round_trip_{name}", "s", "r"),
        shown=_of(net, f"receiver_skew_{name}", "r"),
        held=_of(net, f"held_{name}", "r"),
        latest=_of(net, f"latest_{name}", "r"),
        base=_of(net, f"base_{name}", "r"),
        returned=_of(net, f"returned_{name}", "r"),
        measured=_of(net, f"measured_{name}", "s"),
    )


def run_round(
    using: Rules,
    net: ScatteringNetwork,
    name: str,
    *,
    in_force: Values,
    back: Pairs | None = None,
    sent: Values | None = None,
) -> Round:
    """The round's own free functions bear its name; ``sent`` and ``back`` are free where not given."""
    free = _free(net, name)
    way_back, at = back or free.back, sent or free.sent
    latest, returned, base = free.latest, free.returned, free.base

    def over(s: Any, r: Any) -> Any:
        return using["measured_over"](net.sends(s, r), net.same_host(s, r))

    def first(s: Any) -> Any:
        return using["first_timestamp"](at(s) + net.skew(s), in_force(s))

    def arrival(s: Any, r: Any) -> Any:
        return at(s) + net.delay(s, r)

    def aligned(s: Any, r: Any) -> Any:
        return using["aligned"](first(s), arrival(s, r) + free.shown(r), base(r))

    def returns_at(s: Any, r: Any) -> Any:
        """Local time of the sender at which message 2 arrives."""
        return latest(r) + using["hold"](free.held(r)) + way_back(s, r) + net.skew(s)

    def trip(s: Any, r: Any) -> Any:
        return using["round_trip"](net.delay(s, r), way_back(s, r), free.earlier(s, r))

    def difference(s: Any, r: Any) -> Any:
        return using["difference"](returned(r), trip(s, r), returns_at(s, r))

    def receiver_side(r: Any) -> Any:
        senders_over = partial(over, r=r)
        return z3.And(
            greatest_of(latest(r), lambda s: arrival(s, r), senders_over, net.senders),
            using["base_of"](base(r), lambda s: arrival(s, r) + free.shown(r), senders_over, net.senders),
            using["returned_of"](returned(r), lambda s: aligned(s, r), senders_over, net.senders),
        )

    def sender_side(s: Any) -> Any:
        return using["adjustment_of"](free.measured(s), lambda r: difference(s, r), lambda r: over(s, r), net.receivers)

    return Round(
        first=first,
        latest=latest,
        aligned=aligned,
        returned=returned,
        returns_at=returns_at,
        third=lambda s, r: returned(r) + trip(s, r),
        difference=difference,
        adjustment=lambda s: using["in_force_next"](in_force(s), free.measured(s)),
        at_receivers=net.receivers.every(receiver_side),
        at_senders=net.senders.every(sender_side),
        natural=each_pair(net, lambda s, r: z3.And(way_back(s, r) >= 0, free.earlier(s, r) >= 0, free.held(r) >= 0)),
    )


def nearest(net: ScatteringNetwork) -> tuple[Values, z3.BoolRef]:
    """The least apparent delay to each receiver from another host, and the constraint that defines it."""
    least = _of(net, "nearest", "r")
    bound = net.receivers.every(
        lambda r: least_of(least(r), lambda s: net.apparent(s, r), lambda s: net.counts(s, r), net.senders)
    )
    return least, bound


def adjusted(net: ScatteringNetwork, adjustment: Values) -> Pairs:
    """When a message with the adjusted timestamp 0 arrives."""
    return lambda s, r: net.apparent(s, r) - adjustment(s)


def spread_at(
    net: ScatteringNetwork, receiver: Any, name: str, arrival: Pairs, counts: Pairs
) -> tuple[z3.ArithRef, z3.ArithRef, tuple[z3.BoolRef, ...]]:
    """First and last arrival of equal timestamps at a receiver, from the senders that count, and the constraints that
    define them.

    Their difference is what the first one waits: the receiver delivers none before it has the last.
    """
    first, last = z3.Int(f"first_{name}_at_{receiver}"), z3.Int(f"last_{name}_at_{receiver}")

    def of(s: Any) -> Any:
        return arrival(s, receiver)

    def over(s: Any) -> Any:
        return counts(s, receiver)

    return first, last, (least_of(first, of, over, net.senders), greatest_of(last, of, over, net.senders))
