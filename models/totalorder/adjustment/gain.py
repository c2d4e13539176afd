"""TO-ADJ-GAIN: what adjustment does to the waiting at the receivers, for any number of senders and receivers.

Of equal timestamps the first to arrive waits for the last: the spread of the arrivals. Each adjustment is at or above 0
and at or below the sender's delay above the nearest sender, at each receiver (`measuring` proves both). So the first
arrival stays where it is, and no other gets later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.totalorder.adjustment import rules as wrong
from scatterproof.models.totalorder.adjustment.measuring import CLOCKS, CONSTANT, HOSTS, THREE_HOSTS, R, exactly, zero
from scatterproof.models.totalorder.adjustment.round import (
    SENDER,
    Pairs,
    ScatteringNetwork,
    adjusted,
    any_network,
    nearest,
    run_round,
    small_network,
    spread_at,
)
from scatterproof.models.totalorder.adjustment.rules import RULES, Values, other_host

Delays = Sequence[Sequence[int]]
ADJUSTMENT: Values = z3.Function("adjustment", SENDER, z3.IntSort())
SLOWER_TOGETHER: Delays = ((0, 1), (1, 0), (1, 1))


def _as_adjusted(net: ScatteringNetwork, adjustment: Values, least: Any) -> z3.BoolRef:
    """What sender_takes_least_difference proves, as one receiver sees it."""
    return net.senders.every(
        lambda s: z3.And(
            adjustment(s) >= 0,
            z3.Implies(net.counts(s, R), adjustment(s) <= net.apparent(s, R) - least),
        )
    )


def _narrows(using: Rules) -> Iterable[Obligation]:
    yield _small("worked_example_waits", using, ((10, 10), (1, 5)), (9, 5, 4, 0))
    yield _small("hosts_that_scatter_to_themselves", using, THREE_HOSTS, (0, 1, 1, 0, 0, 0), hosts=True)
    yield _own_latency(using)
    net = any_network(receiver=R)
    least, bound = nearest(net)

    counts = _awaited(using, net)
    first, last, plain = spread_at(net, R, "before", net.apparent, counts)
    earliest, latest, moved = spread_at(net, R, "after", adjusted(net, ADJUSTMENT), counts)
    hypotheses = (*net.assumptions(), bound, _as_adjusted(net, ADJUSTMENT, least(R)), *plain, *moved)
    show = {"first before": first, "last before": last, "first after": earliest, "last after": latest}
    yield Obligation("first_arrival_stays", hypotheses, earliest == first, show=show)
    yield Obligation("last_arrival_no_later", hypotheses, latest <= last, show=show)
    spread = z3.And(latest - earliest <= last - first)
    yield Obligation("spread_never_grows", hypotheses, spread, show=show)


def _awaited(using: Rules, net: ScatteringNetwork) -> Pairs:
    return lambda s, r: using["awaited"](net.sends(s, r), net.same_host(s, r))


def _waits(
    using: Rules, net: ScatteringNetwork, when: str, adjustment: Values
) -> tuple[dict[str, Any], list[z3.BoolRef]]:
    """The wait at each receiver of a small network, and the constraints on it."""
    waits: dict[str, Any] = {}
    assumed: list[z3.BoolRef] = []
    for r in net.receivers.listed or ():
        first, last, bound = spread_at(net, r, when, adjusted(net, adjustment), _awaited(using, net))
        assumed.extend(bound)
        waits[f"wait at R{r} {when}"] = last - first
    return waits, assumed


def _small(
    name: str, using: Rules, delays: Delays, right: tuple[int, ...], *, hosts: bool = False, later: Delays | None = None
) -> Obligation:
    """The waits without and with the adjustment that a round gives; under delays ``later`` where given."""
    net = small_network(delays, hosts=hosts)
    once = run_round(using, net, name, in_force=zero, sent=zero)
    now = net if later is None else small_network(later, hosts=hosts)
    before, plain = _waits(using, now, "without", zero)
    after, moved = _waits(using, now, "with", once.adjustment)
    return exactly(name, (*once.assumed, *plain, *moved), {**before, **after}, right)


def _own_latency(using: Rules) -> Obligation:
    """Delays S1 (0,1), S2 (1,0), S3 (1,1): from its clock reading to the delivery, S3 waits 2 at both instead of 1."""
    net = small_network(SLOWER_TOGETHER)
    once = run_round(using, net, "own", in_force=zero, sent=zero)
    told: dict[str, Any] = {f"adjustment of S{s}": once.adjustment(s) for s in net.senders.listed or ()}
    assumed = list(once.assumed)
    slow = z3.IntVal(3)
    for when, adjustment in (("before", zero), ("after", once.adjustment)):
        for r in net.receivers.listed or ():
            _, last, bound = spread_at(net, r, when, adjusted(net, adjustment), net.counts)
            assumed.extend(bound)
            told[f"latency of S3 at R{r} {when}"] = adjustment(slow) + last
    return exactly("own_latency_can_grow", tuple(assumed), told, (0, 0, 1, 1, 1, 2, 2))


def _grows_at_most(using: Rules) -> Iterable[Obligation]:
    """Delays change after the round, each by ``change`` at most."""
    yield _small("least_growth_by_one_change_of_one", using, ((1,), (0,)), (0, 1), later=((0,), (0,)))
    yield _small("twice_the_change_is_reached", using, ((2,), (0,)), (0, 2), later=((1,), (1,)))
    net = any_network(receiver=R)
    later: Values = z3.Function("later_delay", SENDER, z3.IntSort())
    change = z3.Int("change")
    least, bound = nearest(net)
    bounded = net.senders.every(
        lambda s: z3.And(later(s) - net.apparent(s, R) <= change, net.apparent(s, R) - later(s) <= change)
    )

    first, last, plain = spread_at(net, R, "before", lambda s, _: later(s), net.counts)
    earliest, latest, moved = spread_at(net, R, "after", lambda s, _: later(s) - ADJUSTMENT(s), net.counts)
    show = {"change": change, "without": last - first, "with": latest - earliest}
    hypotheses = (*net.assumptions(), bound, _as_adjusted(net, ADJUSTMENT, least(R)), bounded, *plain, *moved)
    yield Obligation(
        "growth_within_the_bound",
        hypotheses,
        latest - earliest <= last - first + using["growth_bound"](change),
        show=show,
    )
    yield Obligation(
        "no_growth_without_change", (*hypotheses, change == 0), latest - earliest <= last - first, show=show
    )


CLAIMS = (
    Claim(
        name="adjustment_narrows_arrivals",
        scope="any number of senders and receivers, one round",
        clauses=("TO-ADJ-GAIN",),
        sentence="At each receiver the first arrival of equal timestamps stays where it is and the last gets no later, "
        "so the waiting never grows; one sender's own latency can (own_latency_can_grow: S3, from 1 to 2).",
        hypotheses=(HOSTS, CONSTANT, CLOCKS, "What a host sends to itself is not waited for."),
        rules={**RULES, "awaited": other_host},
        obligations=_narrows,
        mutants=(
            mutant(
                "own_messages_count",
                "A host's adjusted message to itself is ahead of its clock: with it the waiting can grow.",
                awaited=lambda sends, same_host: sends,
            ),
            wrong.OTHER_SIGN,
            wrong.GREATEST_DIFFERENCE,
            wrong.EARLIEST_IS_BASE,
            wrong.ITSELF_COUNTS,
        ),
    ),
    Claim(
        name="waiting_grows_by_at_most_twice_the_change",
        scope="any number of senders and receivers, one round",
        clauses=("TO-ADJ-GAIN",),
        sentence="When delays change after the round, each by c at most, the waiting is at most 2c above that without "
        "adjustment. The least growth: two senders, one receiver, delays 1 and 0, then 0 and 0: from 0 to 1.",
        hypotheses=(HOSTS, CLOCKS, "Each delay changes by at most c after the round; c is any number."),
        rules={**RULES, "awaited": other_host, "growth_bound": lambda change: 2 * change},
        obligations=_grows_at_most,
        mutants=(
            mutant("once_the_change", "The waiting grows by c at most.", growth_bound=lambda change: change),
            mutant("never_grows", "Adjustment helps whatever the delays do.", growth_bound=lambda change: 0),
        ),
    ),
)
