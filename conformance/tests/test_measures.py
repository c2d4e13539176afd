"""Measures agree with what is computed from the whole trace, obviously and slowly."""

from __future__ import annotations

from collections import Counter

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scatterproof.conformance.broadcast.tests import runs as broadcast
from scatterproof.conformance.judge import columns_of
from scatterproof.conformance.measures import BINS, bin_of, hops, least_of, with_hops
from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.protocol import gauge, load
from scatterproof.conformance.tests import runs as totalorder
from scatterproof.impl.totalorder import make_core
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import Kind, Trace, schema

DATA, BEACON = PacketKind.DATA, PacketKind.BEACON


def impatient() -> Trace:
    """Everything is sent again before its acknowledgement can have come, and comes again after its delivery."""
    schedule = totalorder.schedule(totalorder.NETWORKS["pair"], "D9")
    parameters = {**schedule.parameters, "retransmit_timeout_ns": 300}
    return simulate(msgspec.structs.replace(schedule, parameters=parameters), make_core)


SHAPES = [("pl", "plain"), ("urb", "a crash"), ("fifo", "a crash"), ("lcb", "empty payloads"), ("fifo", "no majority")]
TRACES = {
    **{f"totalorder {name} {variant}": totalorder.conforming(name, variant) for name, variant in totalorder.UNDER_LOSS},
    "totalorder pair, impatient": impatient(),
    "totalorder chain C": totalorder.conforming("chain", "C"),
    **{f"broadcast {level} {shape}": broadcast.conforming(level, shape, 3) for level, shape in SHAPES},
}


def measured(trace: Trace, name: str, batch: int = 1 << 20) -> npt.NDArray[np.int64]:
    """A row a group."""
    found = gauge(trace.header.protocol)
    assert found is not None
    run = found.kernel.run(with_hops(load(trace.header.protocol).surroundings(trace.header), trace.header))
    columns = columns_of(trace)
    for first in range(0, len(trace.rows), batch):
        run.feed({name: np.ascontiguousarray(values[first : first + batch]) for name, values in columns.items()})
    check = next(measure.check for measure in found.measures if measure.name == name)
    return run.state(check.name, "bins").reshape(-1, BINS)


def rows_of(trace: Trace) -> list[dict[str, int]]:
    names = schema(trace.header.protocol).columns
    return [dict(zip(names, row, strict=True)) for row in trace.rows]


def binned(values: list[tuple[int, int]], groups: int) -> list[list[int]]:
    """Of (group, value)."""
    counts = Counter((group, bin_of(value)) for group, value in values)
    return [[counts[group, number] for number in range(BINS)] for group in range(groups)]


@given(st.integers(-5, (1 << 63) - 1))
def test_a_bin_holds_its_values(value: int) -> None:
    number = bin_of(value)
    assert 0 <= number < BINS
    assert least_of(number) <= max(value, 0) < least_of(number + 1)
    # Within a quarter of a doubling.
    assert value < 8 or least_of(number + 1) - least_of(number) <= least_of(number) // 4


def latencies(trace: Trace) -> list[tuple[int, int]]:
    """By group, from each submission to each of its deliveries."""
    rows, far = rows_of(trace), hops(trace.header.topology)
    total = trace.header.protocol == "totalorder"
    pl = trace.header.parameters.get("level") == "pl"
    found = []
    for at, row in enumerate(rows):
        if row["kind"] != Kind.DELIVERED:
            continue
        same = [
            (other["kind"], other)
            for other in rows[:at]
            if (other["sender"], other["number"]) == (row["sender"], row["number"])
            and (other["receiver"] == row["receiver"] or not (total or pl))
        ]
        (submitted,) = (other for kind, other in same if kind == Kind.SUBMITTED)
        lost = any(kind == Kind.LOST and other["packet"] == 1 for kind, other in same)
        if total:
            group = 2 * (int(far[row["sender"] * len(trace.header.topology.nodes) + row["receiver"]]) - 1)
        else:
            group = 2 * (row["node"] != row["sender"])
        found.append((group + lost, row["time_ns"] - submitted["time_ns"]))
    return found


@pytest.mark.parametrize("name", TRACES)
def test_latency_is_from_submission_to_delivery(name: str) -> None:
    trace = TRACES[name]
    found = measured(trace, "delivery_latency")
    assert found.tolist() == binned(latencies(trace), len(found))
    assert found.sum() == sum(row["kind"] == Kind.DELIVERED for row in rows_of(trace))
    assert (measured(trace, "delivery_latency", batch=3) == found).all()


def test_some_messages_were_lost_on_the_way() -> None:
    for protocol in ("totalorder", "broadcast"):
        traces = [trace for name, trace in TRACES.items() if name.startswith(protocol)]
        assert sum(measured(trace, "delivery_latency")[1::2].sum() for trace in traces) > 0


@pytest.mark.parametrize("name", [name for name in TRACES if name.startswith("totalorder")])
def test_buffers_hold_what_has_come_and_is_not_delivered(name: str) -> None:
    trace = TRACES[name]
    come: set[tuple[int, int, int]] = set()
    delivered: set[tuple[int, int, int]] = set()
    sizes, lags = [], []
    for row in rows_of(trace):
        message = (row["sender"], row["receiver"], row["number"])
        if row["kind"] == Kind.ARRIVED and row["packet"] == DATA and row["node"] == row["receiver"]:
            if message not in come:
                come.add(message)
                sizes.append((0, sum(one[1] == row["node"] for one in come - delivered)))
        elif row["kind"] == Kind.DELIVERED:
            delivered.add(message)
        at_host = trace.header.topology.nodes[row["node"]].role is Role.HOST
        if row["kind"] == Kind.ARRIVED and at_host and row["packet"] in (DATA, BEACON) and row["barrier"] > 0:
            lags.append((int(row["packet"] == BEACON), row["clock_ns"] - row["barrier"]))
    assert measured(trace, "buffer_occupancy").tolist() == binned(sizes, 1)
    assert measured(trace, "barrier_lag").tolist() == binned(lags, 2)
    assert sizes


@pytest.mark.parametrize("name", [name for name in TRACES if name.startswith("broadcast")])
def test_packets_hold_runs_of_messages(name: str) -> None:
    trace, own = TRACES[name], Counter[int]()
    sizes, undelivered = [], []
    for row in rows_of(trace):
        if row["kind"] == Kind.SENT and row["packet"] == 1:
            sizes.append((2 if row["flags"] == 1 else int(row["node"] != row["sender"]), row["count"]))
        elif row["kind"] == Kind.BEGUN and trace.header.parameters["level"] != "pl":
            own[row["node"]] += row["count"]
            undelivered.append((0, own[row["node"]]))
        elif row["kind"] == Kind.DELIVERED and row["node"] == row["sender"]:
            own[row["node"]] -= 1
    assert measured(trace, "messages_in_packet").tolist() == binned(sizes, 3)
    assert measured(trace, "buffer_occupancy").tolist() == binned(undelivered, 1)
    assert sizes


def test_times_that_cannot_be_are_passed_over() -> None:
    trace = TRACES["totalorder chain C"]
    at = schema("totalorder").index("time_ns")
    kinds = trace.column("kind")
    last = (1 << 63) - 1
    rows = [
        (*row[:at], -last if kinds[n] == Kind.SUBMITTED else last, *row[at + 1 :]) for n, row in enumerate(trace.rows)
    ]
    assert measured(Trace(trace.header, rows), "delivery_latency").sum() == 0
