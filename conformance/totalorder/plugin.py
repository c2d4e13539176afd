"""Total order, as the shared machinery sees it."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.protocol import Plugin
from conformance.totalorder import barrier_checks, carrier_checks, delivery_checks, sending_checks
from conformance.totalorder.carrier_checks import ENVIRONMENT_CODES
from conformance.totalorder.oracles import ORACLES
from conformance.totalorder.premises import PREMISES
from conformance.totalorder.recording import Recorder
from spec.core import Parameter
from spec.errors import BadInput
from spec.schedule import FaultKind, Schedule
from spec.topology import route
from spec.totalorder.messages import Environment


def parameters(given: Mapping[str, Parameter]) -> dict[str, int]:
    """`environment` (0 A, 1 B, 2 C) and `beacon_interval_ns` of a run."""
    environment, interval = given.get("environment"), given.get("beacon_interval_ns")
    if environment not in list(Environment):
        raise BadInput(f"parameter environment is {environment!r}; give one of {', '.join(Environment)}")
    if not isinstance(interval, int) or interval < 1:
        raise BadInput(f"parameter beacon_interval_ns is {interval!r}; give a whole number of at least 1")
    return {"environment": ENVIRONMENT_CODES[Environment(str(environment))], "beacon_interval_ns": interval}


def not_applicable(clause: str, given: Mapping[str, Parameter]) -> str | None:
    environment = str(given["environment"])
    if clause.startswith("TO-ENV-") and clause != f"TO-ENV-{environment}":
        return f"the run is in environment {environment}"
    return None


def horizon_ns(schedule: Schedule) -> int:
    """After the last submission, time for its messages to arrive, for every clock to pass their timestamps, and for
    beacons to carry that over every hop: each hop may hold a beacon back for up to two intervals."""
    interval = parameters(schedule.parameters)["beacon_interval_ns"]
    hops = route(schedule.topology).longest_chain
    path = hops * max((delay.base_ns + delay.jitter_ns for delay in schedule.delays), default=0)
    path += sum(fault.delay_ns for fault in schedule.faults)
    last = max((submission.time_ns for submission in schedule.submissions), default=0)
    offsets = [schedule.clock(node).offset_ns for node in range(len(schedule.topology.nodes))]
    drifts = [schedule.clock(node).drift_ppb for node in range(len(schedule.topology.nodes))]
    skew = max(offsets) - min(offsets)
    settled = last + skew + 2 * path + 2 * (hops + 2) * interval
    # A slow clock passes a fast one's timestamp later by the spread of their drifts over the whole run.
    return settled + settled * 2 * (max(drifts) - min(drifts)) // 1_000_000_000 + 1


PLUGIN = Plugin(
    name="totalorder",
    checks=(*sending_checks.CHECKS, *barrier_checks.CHECKS, *delivery_checks.CHECKS, *carrier_checks.CHECKS),
    premises=PREMISES,
    oracles=ORACLES,
    recorder=Recorder,
    parameters=parameters,
    not_applicable=not_applicable,
    horizon_ns=horizon_ns,
    # Links are FIFO: a packet may be lost or late, never there twice.
    allowed_faults=frozenset({FaultKind.LOSE, FaultKind.DELAY}),
)
