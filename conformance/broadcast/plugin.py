"""The broadcast stack, as the shared machinery sees it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from scatterproof.conformance.broadcast.cases import CASES
from scatterproof.conformance.broadcast.datagrams import TELLS_ENDS, packets
from scatterproof.conformance.broadcast.history import TELLER
from scatterproof.conformance.broadcast.parameters import not_applicable, parameters, tables, without_node
from scatterproof.conformance.broadcast.recording import Recorder
from scatterproof.conformance.broadcast.view import View, label
from scatterproof.conformance.protocol import Judges, Plugin, Wire, in_parts
from scatterproof.spec.schedule import FailureKind, FaultKind, Schedule

if TYPE_CHECKING:
    from scatterproof.conformance.measures import Gauge
    from scatterproof.conformance.stress.contract import Programs

# A time-out grows to this many times the first one.
MOST_TIMES = 64
# Packets that are on their way at once in any case, while the window opens.
FEW = 8


def horizon_ns(schedule: Schedule) -> int:
    """After the last submission or failure, time for everything to arrive: a window at a time, each after a round trip;
    each loss may cost a time-out, each up to 64 times the first, and pauses stop everything."""
    chosen = parameters(schedule.parameters)
    first = chosen["resend_ns"]
    delay = max((delay.base_ns + delay.jitter_ns for delay in schedule.delays), default=0)
    late = sum(fault.delay_ns for fault in schedule.faults)
    messages = sum(len(submission.messages) for submission in schedule.submissions)
    rounds = 3 + messages // min(FEW, chosen["window"], chosen["most_undelivered"])
    trip = 2 * delay + first // FEW + 2
    losses = 1 + sum(fault.kind is FaultKind.LOSE for fault in schedule.faults) + len(schedule.failures)
    span = sum(failure.time_ns for failure in schedule.failures if failure.kind is FailureKind.RESUME)
    settled = schedule.last_ns + span + 4 * rounds * trip + 4 * late + losses * MOST_TIMES * (first + trip)
    drifts = [schedule.clock(node).drift_ppb for node in range(len(schedule.topology.nodes))]
    return settled + settled * 2 * (max(drifts) - min(drifts)) // 1_000_000_000 + 1


@cache
def _judges() -> Judges:
    from scatterproof.conformance.broadcast import link_checks, order_checks, uniform_checks
    from scatterproof.conformance.broadcast.oracles import ORACLES
    from scatterproof.conformance.broadcast.premises import PREMISES

    parts = {"": (link_checks,), "uniform": (uniform_checks,), "order": (order_checks,)}
    return Judges(checks=in_parts(parts), oracles=ORACLES, premises=PREMISES)


@cache
def _gauge() -> Gauge:
    from scatterproof.conformance.broadcast.actions import actions
    from scatterproof.conformance.broadcast.measures import MEASURES, carrier
    from scatterproof.conformance.measures import Gauge

    return Gauge(measures=MEASURES, actions=actions, carrier=carrier, columns=PLUGIN.columns)


def _programs() -> Programs:
    from scatterproof.conformance.broadcast.programs import LEVELS, tester
    from scatterproof.conformance.stress.contract import Programs

    return Programs(LEVELS, tester)


PLUGIN = Plugin(
    name="broadcast",
    judges=_judges,
    cases=lambda: CASES,
    recorder=Recorder,
    parameters=parameters,
    not_applicable=not_applicable,
    horizon_ns=horizon_ns,
    label=label,
    # Datagrams get lost, come late, out of order, and more than once. Who crashes never comes back.
    allowed_faults=frozenset(FaultKind),
    allowed_failures=frozenset({FailureKind.CRASH, FailureKind.PAUSE, FailureKind.RESUME}),
    fifo_links=False,
    tables=tables,
    without_node=without_node,
    gauge=_gauge,
    view=View,
    wire=lambda: Wire(packets=packets, tells_ends=TELLS_ENDS),
    teller=lambda: TELLER,
    programs=_programs,
)
