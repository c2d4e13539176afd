"""TO-BAR-LINK, TO-BAR-RISE, TO-BAR-MIN, TO-BAR-PART: minimum aggregation keeps every link's promise, in any network.

`barrier_promise_holds` and `barriers_never_fall` are inductive proofs over `network.any_state`: any number of links,
hosts and switches, any routes, any messages in flight, any clocks, any loss. Each action keeps the invariant (one
obligation each), and the invariant implies the clause. The obligations named ``run_...`` try the same rules on a fixed
network from its start, so that a wrong rule is shown by a run that can happen, and not by an unreachable state.

TLA+: ``BarrierPromiseHolds``, ``BarriersNeverFall``, ``SwitchBarrierIsMinimum``, ``OnlyReachingLinksCount``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3

from scatterproof.models.claim import INDUCTION, Claim, Obligation, Rules, mutant
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers import network
from scatterproof.models.totalorder.barriers.aggregation_rules import (
    FORGOTTEN_LINK,
    MAX_FOR_MIN,
    PLUS_ONE,
    SILENT_LINK_IGNORED,
    STALE,
    Newest,
    at_most_minimum,
    least_less_one,
    may_go_on,
    minimum_of,
)
from scatterproof.models.totalorder.barriers.network import BOOL, INT, LINK, NODE, BarrierState, LinkGraph
from scatterproof.models.totalorder.barriers.rules import rules
from scatterproof.models.totalorder.barriers.runs import BarrierRun, run_of_one_switch


def conjuncts(topology: LinkGraph, state: BarrierState) -> dict[str, z3.BoolRef]:
    """The inductive invariant, by name."""
    link, egress = z3.Consts("l e", LINK)
    j, k = z3.Ints("j k")

    def in_flight(index: Any) -> z3.BoolRef:
        return z3.And(state.head(link) <= index, index < state.tail(link))

    return {
        "indices": z3.ForAll([link], state.head(link) <= state.tail(link)),
        "promise_in_flight": z3.ForAll(
            [link, j, k],
            z3.Implies(
                z3.And(in_flight(j), in_flight(k), j < k, state.has_barrier(link, j), state.is_data(link, k)),
                state.barrier(link, j) <= state.timestamp(link, k),
            ),
        ),
        "promise_registered": z3.ForAll(
            [link, k],
            z3.Implies(z3.And(in_flight(k), state.is_data(link, k)), state.newest(link) <= state.timestamp(link, k)),
        ),
        "said_is_greatest": z3.ForAll(
            [link, k],
            z3.And(
                state.newest(link) <= state.said(link),
                z3.Implies(
                    z3.And(in_flight(k), state.has_barrier(link, k)),
                    state.barrier(link, k) <= state.said(link),
                ),
            ),
        ),
        "host_said_at_most_promised": z3.ForAll(
            [link],
            z3.Implies(
                topology.is_host(topology.source(link)),
                state.said(link) <= state.promised(topology.source(link)),
            ),
        ),
        "switch_said_at_most_registered": z3.ForAll(
            [link, egress],
            z3.Implies(topology.reaches(link, egress), state.said(egress) <= state.newest(link)),
        ),
    }


def steps(using: Rules, topology: LinkGraph, state: BarrierState) -> dict[str, network.Step]:
    """Every action, with free arguments; the barrier of a switch is bound by the rule for any number of links."""
    on = z3.Function("on", LINK, BOOL)
    carries, barrier = z3.Function("carries", LINK, BOOL), z3.Function("sent_barrier", LINK, INT)
    link, forgotten, e = z3.Consts("link forgotten egress", LINK)
    host, clock, with_barrier = z3.Const("host", NODE), z3.Int("clock"), z3.Bool("with_barrier")

    def bound(newest: Newest) -> z3.BoolRef:
        def counts(i: Any) -> Any:
            return topology.reaches(i, e)

        right = using["minimum_of"](barrier(e), newest, counts, forgotten)
        return z3.ForAll([e], z3.Implies(on(e), right))

    _, arrived = network.arrive(state, using, link=link)
    forwarding, forwarded = network.forward_data(
        topology, state, using, link=link, on=on, carries=carries, barrier=barrier
    )
    sending, sent = network.switch_beacon(topology, state, on=on, barrier=barrier)
    return {
        "host_scatters": network.scatter(topology, state, using, host=host, on=on, clock=clock, carries=with_barrier),
        "host_sends_more_of_the_scattering": network.scatter_more(
            topology, state, using, host=host, on=on, carries=with_barrier
        ),
        "host_sends_beacon": network.host_beacon(topology, state, using, host=host, on=on, clock=clock),
        "node_registers_arrival": network.arrive(state, using, link=link),
        "switch_forwards_data": (z3.And(forwarding, bound(arrived.newest)), forwarded),
        "switch_sends_beacon": (z3.And(sending, bound(state.newest)), sent),
        "link_loses_message": network.lose(state, link=link),
    }


def _promise_is_kept(using: Rules) -> Iterable[Obligation]:
    """Every action keeps the invariant, which implies the clause."""
    topology, state, begin = network.any_topology(), network.any_state(), network.start()
    assumed = topology.assumptions()
    invariant = tuple(conjuncts(topology, state).values())
    yield Obligation("init", assumed, z3.And(*conjuncts(topology, begin).values()))
    for name, (guard, after) in steps(using, topology, state).items():
        yield Obligation(name, (*assumed, *invariant, guard), z3.And(*conjuncts(topology, after).values()))
    link = z3.Const("some_link", LINK)
    j, k = z3.Ints("earlier later")
    flying = z3.And(state.head(link) <= j, j < k, k < state.tail(link))
    yield Obligation(
        "promise_in_flight_follows",
        (*assumed, *invariant, flying, state.has_barrier(link, j), state.is_data(link, k)),
        state.timestamp(link, k) >= state.barrier(link, j),
    )
    head = state.head(link)
    yield Obligation(
        "promise_at_arrival_follows",
        (*assumed, *invariant, head < state.tail(link), state.is_data(link, head)),
        state.timestamp(link, head) >= state.newest(link),
    )


def run_obligations(using: Rules) -> Iterable[Obligation]:
    """From the start of a network of two hosts and one switch: after a barrier of a link, no data strictly below
    follows.
    """
    for name, carries in (("in_environment_a", True), ("in_environments_b_and_c", False)):
        run: BarrierRun = run_of_one_switch(using, data_carries_barriers=carries)
        yield Obligation(f"run_{name}", run.guards, run.promise_holds(), show=run.show)


def _barriers_rise(using: Rules) -> Iterable[Obligation]:
    """A run, and the register of any link in any state."""
    run = run_of_one_switch(using, data_carries_barriers=True)
    yield Obligation("run_barriers_rise", run.guards, run.barriers_rise(), show=run.show)
    topology, state = network.any_topology(), network.any_state()
    link = z3.Const("some_link", LINK)
    guard, after = network.arrive(state, using, link=link)
    yield Obligation(
        "register_never_falls",
        (*topology.assumptions(), *conjuncts(topology, state).values(), guard),
        after.newest(link) >= state.newest(link),
        show={
            "held": state.newest(link),
            "arrived": state.barrier(link, state.head(link)),
            "register": after.newest(link),
        },
    )


def _switch_barriers_rise(using: Rules) -> Iterable[Obligation]:
    """What a switch sends is at or above every barrier that it sent on that link before; hosts are in `stamping`."""
    topology, state = network.any_topology(), network.any_state()
    assumed = (*topology.assumptions(), *conjuncts(topology, state).values())
    guarded = steps(using, topology, state)
    e = z3.Const("some_egress", LINK)
    sent_barrier, on = z3.Function("sent_barrier", LINK, INT), z3.Function("on", LINK, BOOL)
    for name in ("switch_forwards_data", "switch_sends_beacon"):
        guard, _ = guarded[name]
        yield Obligation(f"{name}_never_lower", (*assumed, guard, on(e)), sent_barrier(e) >= state.said(e))


def _switch_minimum(using: Rules) -> Iterable[Obligation]:
    value, other = z3.Ints("barrier other")
    newest, reaches = z3.Function("newest_of", LINK, INT), z3.Function("is_reaching", LINK, BOOL)
    forgotten, i = z3.Consts("forgotten ingress", LINK)
    given = (
        using["minimum_of"](value, newest, reaches, forgotten),
        z3.ForAll([i], newest(i) >= 0),
        z3.Exists([i], reaches(i)),
    )
    show = {"barrier": value}
    yield Obligation(
        "at_or_below_every_counted_link", given, z3.ForAll([i], z3.Implies(reaches(i), value <= newest(i))), show=show
    )
    # A larger value is unsound: some counted link may still bring data strictly below it, and keep its own promise.
    timestamp = z3.Int("timestamp")
    yield Obligation(
        "any_larger_value_can_be_broken",
        (*given, other > value),
        z3.Exists([i, timestamp], z3.And(reaches(i), timestamp >= newest(i), timestamp < other)),
        show={**show, "larger": other},
    )
    held, arrived = z3.Ints("held arrived")
    yield Obligation(
        "register_is_the_newest",
        (held >= 0, arrived >= held),
        lift(using["register"])(held, arrived) == arrived,
        show={"held": held, "arrived": arrived},
    )
    for count in range(1, 5):
        barriers = tuple(z3.Int(f"barrier_{k}") for k in range(count))
        least = lift(using["aggregate"])(barriers)
        yield Obligation(
            f"rule_is_minimum_of_{count}",
            tuple(barrier >= 0 for barrier in barriers),
            z3.And(*(least <= b for b in barriers), z3.Or(*(least == b for b in barriers))),
            show={**{str(b): b for b in barriers}, "aggregate": least},
        )


def _only_reaching(using: Rules) -> Iterable[Obligation]:
    for count in range(1, 4):
        ingress = tuple(range(count))
        subsets = [tuple(i for i in ingress if bits >> i & 1) for bits in range(1, 2**count)]
        wrong = [
            (reaching, counts)
            for reaching in subsets
            if set(counts := using["counted"](reaching, ingress)) != set(reaching)
        ]
        yield Obligation(
            f"exactly_the_reaching_of_{count}",
            (),
            z3.BoolVal(not wrong),
            show={f"of {count} links reach {r}, count {c}": z3.BoolVal(True) for r, c in wrong[:1]},
        )
    # Fewer links never lower the minimum, so that a receiver waits only for those that can reach it.
    part, whole = z3.Ints("barrier_of_reaching barrier_of_all")
    newest, is_reaching = z3.Function("newest_of", LINK, INT), z3.Function("is_reaching_link", LINK, BOOL)
    some = z3.Const("unused", LINK)
    yield Obligation(
        "barrier_at_or_above_that_of_all_links",
        (
            minimum_of(part, newest, is_reaching, some),
            minimum_of(whole, newest, lambda link: z3.BoolVal(True), some),
        ),
        part >= whole,
        show={"barrier_of_reaching": part, "barrier_of_all": whole},
    )


NETWORK = (
    "Links are FIFO and may lose messages; any number of links, hosts and switches, any routes.",
    "Clocks show any number at each reading.",
    "A switch registers and forwards a data message in one step.",
    "A scattering sends no further message after a barrier strictly above its timestamp.",
)
SENDING = rules("stamp", "data_barrier", "beacon_barrier", "register", "aggregate")

CLAIMS = (
    Claim(
        name="barrier_promise_holds",
        scope=INDUCTION,
        clauses=("TO-BAR-LINK", "TO-BAR-PART", "TO-ENV-A", "TO-ENV-B", "TO-ENV-C"),
        sentence="On every link, after a barrier b no data message with a timestamp strictly below b follows.",
        hypotheses=NETWORK,
        rules={**SENDING, "minimum_of": minimum_of, "may_go_on": may_go_on},
        obligations=run_obligations,
        induction=_promise_is_kept,
        mutants=(
            MAX_FOR_MIN,
            FORGOTTEN_LINK,
            SILENT_LINK_IGNORED,
            PLUS_ONE,
            mutant(
                "promised_dropped_from_stamp",
                "A timestamp below a beacon, when the clock steps back.",
                stamp=lambda clock, last, promised: max(clock, last + 1),
            ),
            mutant(
                "scattering_goes_on_past_a_beacon",
                "The rest of a scattering is sent after a beacon strictly above its timestamp.",
                may_go_on=lambda timestamp, promised: True,
            ),
        ),
    ),
    Claim(
        name="stale_barrier_is_safe",
        scope=INDUCTION,
        clauses=("TO-BAR-LINK",),
        sentence="The link promise needs no more than a barrier at or below the minimum: a stale register is safe.",
        hypotheses=NETWORK,
        rules={
            **SENDING,
            "aggregate": least_less_one,
            "minimum_of": at_most_minimum,
            "may_go_on": may_go_on,
        },
        obligations=run_obligations,
        induction=_promise_is_kept,
        normative=False,
        mutants=(MAX_FOR_MIN, PLUS_ONE),
    ),
    Claim(
        name="barriers_never_fall",
        scope=INDUCTION,
        clauses=("TO-BAR-RISE",),
        sentence="The barriers that a switch sends on a link never fall, nor does a register.",
        hypotheses=(*NETWORK, "A falling barrier is refused before it is registered."),
        rules={**SENDING, "minimum_of": minimum_of, "may_go_on": may_go_on},
        obligations=_barriers_rise,
        induction=_switch_barriers_rise,
        mutants=(
            SILENT_LINK_IGNORED,
            mutant(
                "register_less_one",
                "The register holds one less than what arrived.",
                register=lambda held, arrived: arrived - 1,
            ),
        ),
    ),
    Claim(
        name="switch_barrier_is_minimum",
        scope="one switch, any number of links; the rule as a program: up to four links",
        clauses=("TO-BAR-MIN",),
        sentence="The barrier of an egress link is the largest sound one: the minimum of the newest barriers of the "
        "links that "
        "count; any larger value can be broken by data that keeps every ingress promise.",
        hypotheses=("Registers are not negative.", "Some link reaches the egress link."),
        rules={**rules("register", "aggregate"), "minimum_of": minimum_of},
        obligations=_switch_minimum,
        mutants=(
            MAX_FOR_MIN,
            FORGOTTEN_LINK,
            SILENT_LINK_IGNORED,
            PLUS_ONE,
            STALE,
            mutant(
                "register_takes_the_least",
                "The literal reading, a minimum over everything ever received: it never advances.",
                register=lambda held, arrived: min(held, arrived),
            ),
        ),
    ),
    Claim(
        name="only_reaching_links_count",
        scope="one switch, any number of links; which of them count: up to three links",
        clauses=("TO-BAR-PART",),
        sentence="Exactly the links from which data can reach the egress link count, and its barrier is at or above "
        "the minimum "
        "over all ingress links.",
        hypotheses=(
            "Of the rule itself: up to three ingress links, every set of reaching ones; of the barrier: any number.",
        ),
        rules=rules("counted"),
        obligations=_only_reaching,
        mutants=(
            mutant(
                "all_ingress_links",
                "Safe, but a receiver waits for senders that cannot reach it.",
                counted=lambda reaching, ingress: ingress,
            ),
            mutant(
                "one_reaching_link_dropped",
                "A link from which data can still come is not waited for.",
                counted=lambda reaching, ingress: reaching[1:],
            ),
            mutant(
                "all_but_reaching",
                "The links that cannot reach the egress link.",
                counted=lambda reaching, ingress: tuple(i for i in ingress if i not in reaching),
            ),
        ),
    ),
)
