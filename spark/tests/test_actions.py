"""Which action a row is, told from its shape, is what TLC reads it as; and so are the pairs."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from scatterproof.conformance.broadcast.tests import runs as broadcast
from scatterproof.conformance.judge import columns_of
from scatterproof.conformance.measures import with_hops
from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.protocol import gauge, load
from scatterproof.conformance.tests import runs as totalorder
from scatterproof.impl.totalorder import make_core
from scatterproof.models.trace_validation import Judgement, validate_all
from scatterproof.spec.clauses import SPEC
from scatterproof.spec.schedule import Failure, FailureKind
from scatterproof.spec.trace import Trace


def impatient() -> Trace:
    """Everything is sent again before its acknowledgement can have come."""
    schedule = totalorder.schedule(totalorder.NETWORKS["pair"], "D9")
    parameters = {**schedule.parameters, "retransmit_timeout_ns": 300}
    return simulate(msgspec.structs.replace(schedule, parameters=parameters), make_core)


def failing() -> Trace:
    """A host stops for good, of which the others are told; later the switch stops, and begins anew."""
    network = totalorder.NETWORKS["star"]
    schedule = totalorder.schedule(network, "D9")
    host, switch = network.hosts()[-1], network.switches()[0]
    failures = (
        Failure(500, FailureKind.CRASH, node=host),
        Failure(30_000, FailureKind.CRASH, node=switch),
        Failure(33_000, FailureKind.RESTART, node=switch),
    )
    parameters = {**schedule.parameters, "failure_timeout_ns": 5 * totalorder.INTERVAL_NS}
    return simulate(msgspec.structs.replace(schedule, parameters=parameters, failures=failures), make_core)


# Such that every regular action is taken by some.
TRACES: dict[str, list[Trace]] = {
    "totalorder": [
        *(totalorder.conforming(*shape) for shape in (("chain", "A"), ("star", "B"), ("one way", "C"))),
        *(totalorder.conforming("star", variant) for variant in ("C adjusted", "D9")),
        totalorder.conforming("pair", "D7"),
        impatient(),
        failing(),
    ],
    "broadcast": [
        broadcast.conforming(level, shape, 3)
        for level, shape in (("pl", "plain"), ("urb", "a crash"), ("fifo", "a pause"), ("lcb", "empty payloads"))
    ],
}
ENDS_CUT = {"Stop"}  # of runs that are cut; the traces above are none


def counted(trace: Trace) -> tuple[set[str], set[tuple[str, str]]]:
    found = gauge(trace.header.protocol)
    assert found is not None
    assert found.actions is not None
    run = found.kernel.run(with_hops(load(trace.header.protocol).surroundings(trace.header), trace.header))
    run.feed(columns_of(trace))
    names, check = found.actions.names, found.actions.check.name
    taken, pairs = run.state(check, "taken"), run.state(check, "pairs").reshape(len(names), -1)
    assert taken.sum() == len(trace.rows)
    assert pairs.sum() == len(trace.rows) - 1
    return (
        {names[action] for action in np.flatnonzero(taken)},
        {(names[first], names[then]) for first, then in zip(*np.nonzero(pairs), strict=True)},
    )


@pytest.mark.slow
@pytest.mark.parametrize("protocol", TRACES)
def test_actions_and_pairs_are_those_that_tlc_takes(protocol: str) -> None:
    taken: set[str] = set()
    for trace, validation in zip(TRACES[protocol], validate_all(TRACES[protocol]), strict=True):
        assert validation.judgement is Judgement.ACCEPTED, validation.reason
        actions, pairs = counted(trace)
        assert actions == validation.actions
        assert pairs == validation.pairs
        taken |= actions
    found = gauge(protocol)
    assert found is not None
    assert found.actions is not None
    assert set(found.actions.names[: found.actions.regular]) == taken | ENDS_CUT


@pytest.mark.parametrize("protocol", TRACES)
def test_the_actions_are_those_of_the_modules_for_traces(protocol: str) -> None:
    found = gauge(protocol)
    assert found is not None
    assert found.actions is not None
    text = "".join(module.read_text() for module in (SPEC / protocol / "modules").glob("Trace*.tla"))
    assert [name for name in found.actions.names if f'"{name}"' not in text] == []
