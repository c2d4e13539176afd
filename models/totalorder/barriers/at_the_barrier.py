"""TO-DELIVER at the barrier itself: who may still overtake a message whose timestamp equals the receiver's barrier.

``<=`` for ``<`` is refuted by runs in every environment. In environment A it takes a scattering that sends two
messages over one link: the first one's barrier, by way of the switch, reaches a receiver before the second one does.
Where no link carries two messages of one scattering, ``<=`` is safe in environment A: the promise of a link then holds
with "at or below".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3

from scatterproof.models.claim import INDUCTION, Claim, Obligation, Rules, mutant
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers import network
from scatterproof.models.totalorder.barriers.aggregation import NETWORK, SENDING, conjuncts, steps
from scatterproof.models.totalorder.barriers.aggregation_rules import may_go_on, minimum_of
from scatterproof.models.totalorder.barriers.network import LINK, BarrierState, LinkGraph
from scatterproof.models.totalorder.barriers.rules import rules
from scatterproof.models.totalorder.barriers.runs import FIRST, SECOND, TO_A, TO_B, BarrierRun
from scatterproof.models.totalorder.barriers.tie_break import precedes


def same_scattering(run: BarrierRun, timestamp: Any) -> Any:
    """Host 1 sends a second message of its newest scattering over its one link."""
    run.scatter_more(FIRST, carries=True)
    return timestamp


def next_scattering(run: BarrierRun, timestamp: Any) -> Any:
    """Host 1 begins another scattering: its one link carries one message of each."""
    return run.scatter(FIRST, carries=True)


def overtaken_in_environment_a(using: Rules) -> Obligation:
    """Barriers on data only. Host 1 sends to receiver B, then to receiver A; host 2 to receiver A.

    The message to B raises the switch's register; what host 2 sends to A then carries that barrier past host 1's
    message to A.
    """
    run = BarrierRun(using)
    first = using["second_message"](run, run.scatter(FIRST, carries=True))
    second = run.scatter(SECOND, carries=True)
    run.forward_data(FIRST, TO_B, carries=True)
    run.forward_data(SECOND, TO_A, carries=True)
    run.arrive(TO_A)
    return _overtaken(using, run, "run_in_environment_a", delivered=(second, 2), later=(first, 1))


def overtaken_in_environments_b_and_c(using: Rules) -> Obligation:
    """Barriers on beacons only. Host 1's beacon carries its clock, and then a message is stamped at that clock."""
    run = BarrierRun(using)
    second = run.scatter(SECOND, carries=False)
    run.forward_data(SECOND, TO_A, carries=False)
    run.host_beacon(SECOND)
    run.host_beacon(FIRST)
    run.arrive(FIRST)
    run.arrive(SECOND)
    run.switch_beacon(TO_A)
    run.arrive(TO_A)
    run.arrive(TO_A)
    barrier = run.state.newest(TO_A)
    first = run.scatter(FIRST, carries=False)
    return _overtaken(
        using, run, "run_in_environments_b_and_c", delivered=(second, 2), later=(first, 1), barrier=barrier
    )


def _overtaken(
    using: Rules, run: BarrierRun, name: str, *, delivered: tuple[Any, int], later: tuple[Any, int], barrier: Any = None
) -> Obligation:
    """No message is deliverable at receiver A while one that precedes it is still to arrive there."""
    reached = run.state.newest(TO_A) if barrier is None else barrier
    early = lift(using["deliverable"])(delivered[0], reached)
    before = precedes(using, (later[0], z3.IntVal(later[1])), (delivered[0], z3.IntVal(delivered[1])))
    return Obligation(
        name,
        run.guards,
        z3.Not(z3.And(early, before)),
        show={**run.show, "barrier of receiver A": reached, "delivered": delivered[0], "arrives later": later[0]},
    )


def _strict_conjuncts(topology: LinkGraph, state: BarrierState) -> z3.BoolRef:
    """The promise with "at or below" for "strictly below", for messages that all carry barriers."""
    link = z3.Const("l", LINK)
    j, k = z3.Ints("j k")
    source = topology.source(link)

    def flying(index: Any) -> z3.BoolRef:
        return z3.And(state.head(link) <= index, index < state.tail(link))

    return z3.And(
        *conjuncts(topology, state).values(),
        z3.ForAll(
            [link, k],
            z3.Implies(z3.And(flying(k), state.is_data(link, k)), state.newest(link) < state.timestamp(link, k)),
        ),
        z3.ForAll(
            [link, j, k],
            z3.Implies(
                z3.And(flying(j), flying(k), j < k, state.has_barrier(link, j), state.is_data(link, k)),
                state.barrier(link, j) < state.timestamp(link, k),
            ),
        ),
        z3.ForAll([link], z3.Implies(topology.is_host(source), state.promised(source) <= state.last(source))),
    )


def _strict_promise_is_kept(using: Rules) -> Iterable[Obligation]:
    """Environment A without `scatter_more`: each link of a host gets at most one message of a scattering."""
    topology, state = network.any_topology(), network.any_state()
    assumed = (*topology.assumptions(), _strict_conjuncts(topology, state))
    yield Obligation("init", topology.assumptions(), _strict_conjuncts(topology, network.start()))
    for name, (guard, after) in steps(using, topology, state).items():
        if name in ("host_scatters", "node_registers_arrival", "switch_forwards_data", "link_loses_message"):
            yield Obligation(name, (*assumed, guard), _strict_conjuncts(topology, after))


def _single_messages(using: Rules) -> Iterable[Obligation]:
    """With the strict promise in force, nothing at or below what was delivered arrives later."""
    yield overtaken_in_environment_a(using)
    topology, state = network.any_topology(), network.any_state()
    assumed = (*topology.assumptions(), _strict_conjuncts(topology, state))
    link, other = z3.Consts("some_link other_link", LINK)
    k, timestamp, barrier = state.head(link), z3.Int("delivered_timestamp"), z3.Int("receiver_barrier")
    everywhere = z3.ForAll([other], barrier <= state.newest(other))
    deliverable = lift(using["deliverable"])(timestamp, barrier)
    yield Obligation(
        "no_later_arrival_at_or_below_a_delivered_timestamp",
        (*assumed, everywhere, deliverable, k < state.tail(link), state.is_data(link, k)),
        state.timestamp(link, k) > timestamp,
        show={"delivered": timestamp, "barrier": barrier, "arrives later": state.timestamp(link, k)},
    )


def _at_or_below(timestamp: int, barrier: int) -> bool:
    return timestamp <= barrier


AT_THE_BARRIER = mutant("at_the_barrier", "Delivers at or below the barrier.", deliverable=_at_or_below)
WITHOUT_BARRIER = mutant("without_barrier", "Delivers at arrival.", deliverable=lambda timestamp, barrier: True)
ONE_BEYOND = mutant(
    "one_beyond_the_barrier",
    "Delivers up to one above the barrier.",
    deliverable=lambda timestamp, barrier: timestamp <= barrier + 1,
)

CLAIMS = (
    Claim(
        name="at_the_barrier_is_safe_for_single_messages",
        scope=INDUCTION,
        clauses=("TO-DELIVER", "TO-ENV-A"),
        sentence="In environment A, where no link carries two messages of one scattering, nothing at or below a "
        "receiver's "
        "barrier arrives later: delivery at the barrier would be safe there, and only there.",
        hypotheses=(
            *NETWORK,
            "All messages are data with barriers.",
            "No link carries two messages of one scattering.",
        ),
        rules={
            **SENDING,
            **rules("precedence"),
            "deliverable": _at_or_below,
            "minimum_of": minimum_of,
            "may_go_on": may_go_on,
            "second_message": next_scattering,
        },
        obligations=_single_messages,
        induction=_strict_promise_is_kept,
        normative=False,
        mutants=(
            ONE_BEYOND,
            WITHOUT_BARRIER,
            mutant(
                "two_messages_of_one_scattering",
                "The hypothesis dropped: host 1 scatters to both receivers over its one link.",
                second_message=same_scattering,
            ),
        ),
    ),
)
