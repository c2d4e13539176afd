"""Total order, as the shared machinery sees it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from scatterproof.conformance.protocol import Case, Judges, Plugin, Wire, in_parts
from scatterproof.conformance.totalorder.labels import label
from scatterproof.conformance.totalorder.parameters import SWITCH_CODES, not_applicable, parameters
from scatterproof.conformance.totalorder.recording import Recorder
from scatterproof.conformance.totalorder.view import View
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import FaultKind, Schedule
from scatterproof.spec.topology import Topology
from scatterproof.spec.totalorder.barriers import longest_chain

if TYPE_CHECKING:
    from scatterproof.conformance.adapters.products import Product
    from scatterproof.conformance.checks.surroundings import Surroundings
    from scatterproof.conformance.measures import Gauge
    from scatterproof.conformance.report.equivalence import Comparison
    from scatterproof.conformance.systems.telling import SystemTeller

# How long a time-out becomes, as a multiple of the first; and how often a message is lost in a row at the most.
MOST_TIMEOUTS = 8
MOST_TRIES = 12


class _Spans(NamedTuple):
    """What a run of a schedule takes, in ns.

    path: the longest way of a message. A switch may hold it in its second processor, or send it to a proxy and back.
    recovery: from the sending of a message to its delivery, when nothing is lost.
    silences: until each node behind a failure has fallen silent in its turn; notices and recalls go to and fro.
    """

    path: int
    recovery: int
    silences: int


def horizon_ns(schedule: Schedule) -> int:
    """After the last submission or failure, time for messages to arrive, for every clock to pass their timestamps, and
    for beacons to carry that over every hop: each hop may hold a beacon back for up to two intervals. Each loss may
    cost a time-out more, each longer than the one before up to eight times the first, and ends in that again."""
    chosen = parameters(schedule.parameters)
    interval, spans = chosen["beacon_interval_ns"], _spans(schedule, chosen)
    settled = schedule.last_ns + spans.recovery
    if chosen["loses"]:
        losses = sum(fault.kind is FaultKind.LOSE for fault in schedule.faults) + 2 * len(schedule.failures)
        tries = [min(1 << number, MOST_TIMEOUTS) for number in range(min(losses, MOST_TRIES))]
        settled += sum(tries) * chosen["retransmit_timeout_ns"] + 2 * losses * interval + 2 * spans.recovery
        if schedule.failures:
            # Each costs a time-out, from the acknowledgement of the one before to its own, and the way there and back.
            each = 2 * (chosen["retransmit_timeout_ns"] + spans.path + interval)
            settled += _most_missing(schedule, spans.recovery) * each + spans.silences
    # A slow clock passes a fast one's timestamp later by the spread of their drifts over the whole run.
    drifts = [schedule.clock(node).drift_ppb for node in range(len(schedule.topology.nodes))]
    return settled + settled * 2 * (max(drifts) - min(drifts)) // 1_000_000_000 + 1


def lull_ns(schedule: Schedule) -> int:
    """The longest time-out of who still waits for an answer, or that of each node behind a failure in its turn; then
    what is free is delivered."""
    chosen = parameters(schedule.parameters)
    spans = _spans(schedule, chosen)
    return max(MOST_TIMEOUTS * chosen["retransmit_timeout_ns"], spans.silences) + spans.recovery


def _spans(schedule: Schedule, chosen: Mapping[str, int]) -> _Spans:
    hops = longest_chain(schedule.topology)
    delay = max((delay.base_ns + delay.jitter_ns for delay in schedule.delays), default=0)
    waits = delay + chosen["forwarding_delay_ns"]
    path = hops * (waits + chosen["processor_delay_ns"]) + sum(fault.delay_ns for fault in schedule.faults)
    if chosen["switch"] == SWITCH_CODES["proxy"]:
        path += 2 * hops * hops * waits
    offsets = [schedule.clock(node).offset_ns for node in range(len(schedule.topology.nodes))]
    skew = max(offsets) - min(offsets)
    if chosen["adjustment_interval_ns"] or chosen["causal"]:
        skew += max(skew, path)  # timestamps run ahead of clocks by as much
    recovery = skew + 2 * path + 2 * (hops + 2) * chosen["beacon_interval_ns"]
    return _Spans(path, recovery, (hops + 2) * chosen["failure_timeout_ns"])


def _most_missing(schedule: Schedule, recovery: int) -> int:
    """The most messages of one sender for one receiver that may be lost on the way as something fails, or after."""
    since = min(failure.time_ns for failure in schedule.failures) - recovery
    messages = Counter(
        (submission.node, message.receiver)
        for submission in schedule.submissions
        if submission.time_ns >= since
        for message in submission.messages
    )
    return max(messages.values(), default=0)


@cache
def _judges() -> Judges:
    from scatterproof.conformance.totalorder import (
        ack_checks,
        adjustment_checks,
        barrier_checks,
        carrier_checks,
        completion_checks,
        delivery_checks,
        failure_checks,
        format_checks,
        loss_checks,
        promise_checks,
        resend_checks,
        sender_loss_checks,
        sending_checks,
    )
    from scatterproof.conformance.totalorder.oracles import ORACLES
    from scatterproof.conformance.totalorder.premises import PREMISES

    always = (sending_checks, barrier_checks, delivery_checks, completion_checks, carrier_checks, promise_checks)
    parts = {
        "": always,
        # In one pass, as they apply to the same runs and share steps: of their own they take a fifth longer.
        "loss": (resend_checks, sender_loss_checks, loss_checks, ack_checks, format_checks),
        "adjustment": (adjustment_checks,),
        "failures": (failure_checks,),
    }
    return Judges(checks=in_parts(parts), oracles=ORACLES, premises=PREMISES)


def _cases() -> tuple[Case, ...]:
    from scatterproof.conformance.totalorder.cases import CASES

    return CASES


@cache
def _gauge() -> Gauge:
    from scatterproof.conformance.measures import Gauge
    from scatterproof.conformance.totalorder.actions import actions
    from scatterproof.conformance.totalorder.measures import MEASURES, carrier

    return Gauge(measures=MEASURES, actions=actions, carrier=carrier, columns=PLUGIN.columns)


def _comparison() -> Comparison:
    from scatterproof.conformance.totalorder.equivalent import COMPARISON

    return COMPARISON


def _wire() -> Wire:
    from scatterproof.conformance.totalorder.datagrams import TELLS_ENDS, packets

    return Wire(packets=packets, tells_ends=TELLS_ENDS)


def _teller() -> SystemTeller:
    from scatterproof.conformance.totalorder.history import TELLER

    return TELLER


def _products() -> tuple[Product, ...]:
    from scatterproof.conformance.totalorder.products.etcd import PRODUCT

    return (PRODUCT,)


def _tables(topology: Topology, given: Mapping[str, Parameter]) -> Surroundings:
    from scatterproof.conformance.totalorder.surroundings import barrier_links

    return barrier_links(topology, given)


PLUGIN = Plugin(
    name="totalorder",
    judges=_judges,
    cases=_cases,
    recorder=Recorder,
    parameters=parameters,
    not_applicable=not_applicable,
    tables=_tables,
    horizon_ns=horizon_ns,
    lull_ns=lull_ns,
    label=label,
    # Links are FIFO: a packet may be lost or late, never there twice.
    allowed_faults=frozenset({FaultKind.LOSE, FaultKind.DELAY}),
    gauge=_gauge,
    comparison=_comparison,
    view=View,
    wire=_wire,
    teller=_teller,
    products=_products,
)
