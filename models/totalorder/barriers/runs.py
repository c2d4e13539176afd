"""Runs on a small network from its start, in steps of `network`: who acts is fixed, every number is free.

Two hosts send to one switch (links 1 and 2); the switch sends to receivers A and B (links 3 and 4). A counterexample
is a run that can happen, shown step by step in `BarrierRun.show`. The switch uses the rule ``aggregate`` itself, as a
function of barriers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

from scatterproof.models.claim import Rules
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers import network
from scatterproof.models.totalorder.barriers.network import BarrierState, LinkGraph, Step

FIRST, SECOND, TO_A, TO_B = (z3.IntVal(k) for k in (1, 2, 3, 4))
INGRESS, LINKS = (FIRST, SECOND), (FIRST, SECOND, TO_A, TO_B)
NODES = tuple(z3.IntVal(k) for k in (1, 2, 3))
SWITCH = 3
NAMES = {FIRST: "from host 1", SECOND: "from host 2", TO_A: "to receiver A", TO_B: "to receiver B"}


def topology() -> LinkGraph:
    """Both ingress links reach both egress links; node k is the source of link k, the switch that of links 3 and 4."""
    return LinkGraph(
        source=lambda link: NODES[min(link.as_long(), SWITCH) - 1],
        is_host=lambda node: z3.BoolVal(node.as_long() != SWITCH),
        reaches=lambda i, e: z3.BoolVal(i.as_long() < SWITCH <= e.as_long()),
        links=LINKS,
    )


class BarrierRun:
    """A run under construction: the state reached, and the guards of all steps taken."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.topology = topology()
        self.state = network.start()
        self.guards: tuple[z3.BoolRef, ...] = ()
        self.show: dict[str, z3.ExprRef] = {}
        self.told = 0

    def scatter(self, link: Any, *, carries: bool) -> z3.ArithRef:
        """The host at the start of the link stamps a scattering, and sends one message; returns the timestamp."""
        clock = self._clock()
        host = self.topology.source(link)
        step = network.scatter(
            self.topology,
            self.state,
            self.rules,
            host=host,
            on=_only(link),
            clock=clock,
            carries=z3.BoolVal(carries),
        )
        self._take(step)
        return self._tell(f"host {link} scatters", clock, "timestamp", self.state.last(host))

    def scatter_more(self, link: Any, *, carries: bool) -> None:
        """One more message of the newest scattering, on the same link."""
        host = self.topology.source(link)
        self._take(
            network.scatter_more(
                self.topology, self.state, self.rules, host=host, on=_only(link), carries=z3.BoolVal(carries)
            )
        )
        self._tell(f"host {link} sends more of it", None, "timestamp", self.state.last(host))

    def host_beacon(self, link: Any) -> None:
        clock, host = self._clock(), self.topology.source(link)
        self._take(network.host_beacon(self.topology, self.state, self.rules, host=host, on=_only(link), clock=clock))
        self._tell(f"host {link} sends a beacon", clock, "barrier", self._newest_sent(link))

    def arrive(self, link: Any) -> None:
        """The oldest message arrives at the end of the link, and goes no further."""
        self._take(network.arrive(self.state, self.rules, link=link))
        self._tell(f"arrival {NAMES[link]}", None, "register", self.state.newest(link))

    def forward_data(self, link: Any, to: Any, *, carries: bool) -> None:
        """The switch receives a data message and forwards it, in one step."""
        barrier = self._aggregate(network.arrive(self.state, self.rules, link=link)[1])
        self._take(
            network.forward_data(
                self.topology,
                self.state,
                self.rules,
                link=link,
                on=_only(to),
                carries=lambda _: z3.BoolVal(carries),
                barrier=lambda _: barrier,
            )
        )
        self._tell(f"switch forwards {NAMES[link]} {NAMES[to]}", None, "barrier", barrier if carries else None)

    def switch_beacon(self, to: Any) -> None:
        barrier = self._aggregate(self.state)
        self._take(network.switch_beacon(self.topology, self.state, on=_only(to), barrier=lambda _: barrier))
        self._tell(f"switch sends a beacon {NAMES[to]}", None, "barrier", barrier)

    def promise_holds(self) -> z3.BoolRef:
        """BarrierPromiseHolds over all that was ever sent."""
        return self._over_pairs(
            lambda link, j, k: z3.Implies(
                z3.And(self.state.has_barrier(link, j), self.state.is_data(link, k)),
                self.state.barrier(link, j) <= self.state.timestamp(link, k),
            )
        )

    def barriers_rise(self) -> z3.BoolRef:
        """BarriersNeverFall over all that was ever sent."""
        return self._over_pairs(
            lambda link, j, k: z3.Implies(
                z3.And(self.state.has_barrier(link, j), self.state.has_barrier(link, k)),
                self.state.barrier(link, j) <= self.state.barrier(link, k),
            )
        )

    def _over_pairs(self, holds: Callable[[Any, Any, Any], z3.BoolRef]) -> z3.BoolRef:
        sent = {link: self.state.tail(link).as_long() for link in LINKS}
        return z3.And(
            *(
                holds(link, z3.IntVal(j), z3.IntVal(k))
                for link, count in sent.items()
                for k in range(count)
                for j in range(k)
            )
        )

    def _aggregate(self, state: BarrierState) -> Any:
        return lift(self.rules["aggregate"])(tuple(state.newest(i) for i in INGRESS))

    def _newest_sent(self, link: Any) -> Any:
        return self.state.barrier(link, z3.simplify(self.state.tail(link) - 1))

    def _clock(self) -> z3.ArithRef:
        clock = z3.Int(f"clock_{self.told}")
        self.guards += (clock >= 0,)
        return clock

    def _take(self, step: Step) -> None:
        guard, after = step
        self.guards += (guard,)
        self.state = _tabulate(after)

    def _tell(self, what: str, clock: Any, name: str, value: Any) -> Any:
        """Add a step to `show`, with -1 for a barrier that is not carried; returns the value."""
        self.told += 1
        if clock is not None:
            self.show[f"{self.told:02} {what}, clock"] = clock
        self.show[f"{self.told:02} {what}, {name}"] = z3.IntVal(-1) if value is None else value
        return value


def _only(link: Any) -> network.Links:
    return lambda other: other == link


def _tabulate(state: BarrierState) -> BarrierState:
    """The same state as tables: on known links heads and tails are numbers, and the terms stay small."""

    def per(keys: tuple[Any, ...], function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        table = {key.as_long(): z3.simplify(function(key)) for key in keys}
        return lambda key: table[key.as_long()]

    tail = per(LINKS, state.tail)

    def per_message(function: Callable[[Any, Any], Any], absent: Any) -> Callable[[Any, Any], Any]:
        table = {
            (link.as_long(), k): z3.simplify(function(link, z3.IntVal(k)))
            for link in LINKS
            for k in range(tail(link).as_long())
        }
        return lambda link, k: table.get((link.as_long(), k.as_long()), absent)

    zero, false = z3.IntVal(0), z3.BoolVal(False)
    return BarrierState(
        head=per(LINKS, state.head),
        tail=tail,
        is_data=per_message(state.is_data, false),
        timestamp=per_message(state.timestamp, zero),
        has_barrier=per_message(state.has_barrier, false),
        barrier=per_message(state.barrier, zero),
        newest=per(LINKS, state.newest),
        said=per(LINKS, state.said),
        last=per(NODES, state.last),
        promised=per(NODES, state.promised),
    )


def run_of_one_switch(rules: Rules, *, data_carries_barriers: bool) -> BarrierRun:
    """Both hosts speak, and speak again; with barriers on data alone (A), or on beacons alone (B; C mixes the two)."""
    run = BarrierRun(rules)
    if data_carries_barriers:
        for link in (FIRST, SECOND, FIRST, SECOND):
            run.scatter(link, carries=True)
            run.forward_data(link, TO_A, carries=True)
        return run
    for link in INGRESS:
        run.host_beacon(link)
        run.arrive(link)
        run.switch_beacon(TO_A)
    for link in INGRESS:
        run.scatter(link, carries=False)
        run.forward_data(link, TO_A, carries=False)
    run.host_beacon(FIRST)
    run.scatter_more(FIRST, carries=False)
    run.arrive(FIRST)
    run.switch_beacon(TO_A)
    run.forward_data(FIRST, TO_A, carries=False)
    return run
