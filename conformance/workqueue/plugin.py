"""The queue with correlated message groups, as the shared machinery sees it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from scatterproof.conformance.protocol import Case, Judges, Plugin, in_parts
from scatterproof.conformance.workqueue.labels import label
from scatterproof.conformance.workqueue.recording import Recorder
from scatterproof.conformance.workqueue.view import View
from scatterproof.spec.core import Parameter
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.schedule import FailureKind, Schedule

if TYPE_CHECKING:
    from scatterproof.conformance.adapters.products import Product
    from scatterproof.conformance.measures import Gauge

OF_LEASES = (
    "Q-LEASE",
    "Q-LEASE-ALL",
    "Q-RECEIPT",
    "Q-DEDUP",
    "Q-ACK-ORDER",
    "Q-CONSUMER-ONE",
    "Q-BATCH",
    "Q-AS-PUT",
    "Q-DEADLETTER",
)
# By clause: the parameter that promises it, and why the clause does not apply where that is 0.
SAID_BY = {
    "Q-POISON": ("most_tries", "the store hands messages out for ever"),
    "Q-DEADLETTER": ("most_tries", "the store hands messages out for ever"),
    "Q-ACK-ORDER": ("back_order", "messages come back at their places, and groups are hidden whole: Q-LEASE"),
    "Q-CONSUMER-ONE": ("one_consumer", "any number of clients are handed messages"),
    "Q-BATCH": ("batches", "nothing is said of batches"),
}


def horizon_ns(schedule: Schedule) -> int:
    """When a run has surely settled, in ns: after the last call or failure, all tries of all calls in a row, the
    slowest packet and the delays of all faults. Waits and packets count twice, as clocks may be slow by half."""
    given = Parameters("workqueue", schedule.parameters)
    delay = max((delay.base_ns + delay.jitter_ns for delay in schedule.delays), default=0)
    waits = len(schedule.calls) * given.number("tries") * given.number("retry_ns")
    late = sum(fault.delay_ns for fault in schedule.faults)
    return schedule.last_ns + 2 * waits + 2 * delay + late + 1


def parameters(given: Mapping[str, Parameter]) -> dict[str, int]:
    """The parameters that checks read. Raises BadInput for an invalid one."""
    chosen = Parameters("workqueue", given)
    for name in ("retry_ns", "tries"):
        chosen.number(name)
    names = ("window_ns", "by_group", "margin_ns", "most_tries", "back_order", "one_consumer", "batches", "leased")
    return {name: chosen.number(name) for name in names}


def not_applicable(clause: str, given: Mapping[str, Parameter]) -> str | None:
    """Why the clause is not applicable to a run with these parameters; None where it is."""
    chosen = Parameters("workqueue", given)
    leased = chosen.number("leased") == 1
    if clause != "Q-ANSWER" and leased != (clause in OF_LEASES):
        return "the store is a queue with leases" if leased else "the store has no leases"
    if clause in SAID_BY and chosen.number(SAID_BY[clause][0]) == 0:
        return SAID_BY[clause][1]
    if clause == "Q-LEASE-ALL" and chosen.number("one_consumer") == 1:
        return "one client at a time is handed messages: Q-CONSUMER-ONE"
    if clause == "Q-DEADLETTER" and chosen.number("back_order") > 0:
        return "messages are hidden one by one, so that a later one of a group may be the first that is set aside"
    return None


@cache
def _judges() -> Judges:
    from scatterproof.conformance.workqueue import (
        aside_checks,
        crash_checks,
        group_checks,
        lease_checks,
        message_checks,
        put_checks,
    )
    from scatterproof.conformance.workqueue.oracles import ORACLES
    from scatterproof.conformance.workqueue.premises import PREMISES

    # The checks of a part share their knowledge, which would otherwise be compiled for each.
    checks = in_parts(
        {"": (group_checks, message_checks, crash_checks), "leases": (lease_checks, aside_checks, put_checks)}
    )
    return Judges(checks=checks, oracles=ORACLES, premises=PREMISES)


def _cases() -> tuple[Case, ...]:
    from scatterproof.conformance.workqueue.cases import CASES

    return CASES


def _products() -> tuple[Product, ...]:
    from scatterproof.conformance.workqueue.products.every import PRODUCTS

    return PRODUCTS


def _gauge() -> Gauge:
    # Only mining asks for statistics.
    from scatterproof.conformance.measures import Gauge
    from scatterproof.conformance.workqueue.measures import MEASURES, carrier

    return Gauge(measures=MEASURES, carrier=carrier, columns=PLUGIN.columns)


PLUGIN = Plugin(
    name="workqueue",
    judges=_judges,
    cases=_cases,
    recorder=Recorder,
    horizon_ns=horizon_ns,
    label=label,
    parameters=parameters,
    not_applicable=not_applicable,
    gauge=_gauge,
    view=View,
    # Requests and answers get lost, come late, out of order, and more than once. The store and clients crash, and come
    # back: the store with what it stored, a client with nothing in hand.
    allowed_failures=frozenset({FailureKind.CRASH, FailureKind.RESTART, FailureKind.PAUSE, FailureKind.RESUME}),
    fifo_links=False,
    products=_products,
)
