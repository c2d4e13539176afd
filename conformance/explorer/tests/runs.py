"""Runs to step through: one that loses packets, one that delivers at the barrier, one of another protocol."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from scatterproof.conformance.case import cases
from scatterproof.conformance.network.run import simulate
from scatterproof.impl.broadcast import make_core as make_process
from scatterproof.impl.totalorder import RULES, make_core
from scatterproof.spec.trace import Trace

ORDER = {case.id: case for case in cases("totalorder")}
LOSSY = "TO-DUPACK/gap"
AGAIN = "TO-DUPACK/acknowledgements-lost"
HASTY = "TO-DELIVER/at-the-barrier"


@cache
def lossy() -> Trace:
    return simulate(ORDER[LOSSY].schedule, make_core)


@cache
def again() -> Trace:
    """Messages arrive again after they were delivered."""
    return simulate(ORDER[AGAIN].schedule, make_core)


@cache
def hasty() -> Trace:
    rules = replace(RULES, deliverable=lambda timestamp, barrier: timestamp <= barrier)
    return simulate(ORDER[HASTY].schedule, lambda config: make_core(config, rules))


@cache
def broadcast() -> Trace:
    traces = (simulate(case.schedule, make_process) for case in cases("broadcast") if "FIFO" in case.id)
    return max(traces, key=lambda trace: len(trace.rows))
