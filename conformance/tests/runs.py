"""Runs of the reference implementation that the tests judge, conforming as they are or damaged on purpose."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from conformance.network.run import simulate
from conformance.network.topologies import chain, one_way, second_example, star
from impl.totalorder import make_core
from spec.schedule import Clock, Delay, Message, Schedule, Submission, validate
from spec.topology import Topology, route
from spec.trace import Kind, Row, Trace, schema

COLUMNS = schema("totalorder").columns
NETWORKS = {"star": star(3), "chain": chain(2, 1), "one way": one_way(2, 2), "example 2": second_example()}
INTERVAL_NS = 4000


def schedule(network: Topology, environment: str, *, seed: int = 0, count: int = 6) -> Schedule:
    """A busy little run: every sender scatters to all that it reaches, some at one and the same time."""
    routes = route(network)
    reached = {host: [r for r in network.hosts() if routes.path(network, host, r)] for host in network.hosts()}
    senders = [host for host in network.hosts() if reached[host]]
    submissions = tuple(
        Submission(
            time_ns=1000 * (number // 2),
            node=senders[(number + seed) % len(senders)],
            messages=tuple(
                Message(receiver, bytes([number, receiver]))
                for receiver in reached[senders[(number + seed) % len(senders)]]
            ),
        )
        for number in range(count)
    )
    return validate(
        Schedule(
            protocol="totalorder",
            topology=network,
            delays=tuple(Delay(base_ns=300 + 100 * (link % 3), jitter_ns=400) for link in range(len(network.links))),
            submissions=submissions,
            clocks=tuple(Clock(offset_ns=50 * (node % 3)) for node in range(len(network.nodes))),
            parameters={"environment": environment, "beacon_interval_ns": INTERVAL_NS},
            seed=seed,
        )
    )


@cache
def conforming(network: str, environment: str, seed: int = 0) -> Trace:
    """The trace of the reference implementation; do not change it."""
    return simulate(schedule(NETWORKS[network], environment, seed=seed), make_core)


def change(row: Row, **values: int) -> Row:
    named = dict(zip(COLUMNS, row, strict=True)) | values
    return tuple(named[column] for column in COLUMNS)


def value(row: Row, column: str) -> int:
    return row[COLUMNS.index(column)]


EXTREMES = (-(1 << 63), -(1 << 63) + 1, -2, -1, 0, 1, (1 << 62), (1 << 63) - 2, (1 << 63) - 1)
_FREE = ("clock_ns", "link_seq", "sender", "receiver", "number", "digest", "packet", "timestamp", "barrier")


@st.composite
def damaged_rows(draw: st.DrawFn, trace: Trace, most: int = 4) -> list[Row]:
    """The trace's rows after up to `most` damages that leave it a trace: values changed, packets on other links of a
    node, deliveries at other nodes, rows swapped, deleted or doubled. The end stays at the end."""
    rows = list(trace.rows[:-1])
    end = trace.rows[-1]
    places = st.integers(0, len(rows) - 1)
    for _ in range(draw(st.integers(1, most))):
        at = draw(places) % len(rows)
        what = draw(st.sampled_from(("value", "value", "value", "link", "node", "swap", "move", "delete", "double")))
        if what == "value":
            rows[at] = draw(_changed_value(rows, at))
        elif what in ("link", "node"):
            rows[at] = draw(_changed_place(trace.header.topology, rows[at]))
        elif what == "swap":
            other = draw(places) % len(rows)
            rows[at], rows[other] = rows[other], rows[at]
        elif what == "move":
            rows.insert(draw(places) % len(rows), rows.pop(at))
        elif what == "delete":
            del rows[at]
        else:
            rows.insert(draw(places) % len(rows), rows[at])
    flags = draw(st.sampled_from((3, 3, 3, 2, 1, 0, -1)))
    return [*rows, change(end, flags=flags)]


@st.composite
def _changed_value(draw: st.DrawFn, rows: list[Row], at: int) -> Row:
    """One column of a row takes an extreme, a neighbouring or another row's value; submissions keep their counts."""
    row = rows[at]
    free = ("clock_ns", "digest") if value(row, "kind") == Kind.SUBMITTED else _FREE
    column = draw(st.sampled_from(free))
    old = value(row, column)
    other = value(rows[draw(st.integers(0, len(rows) - 1))], column)
    values = [other, other, old - 1, old + 1, value(row, "timestamp"), value(row, "barrier"), *EXTREMES]
    inside = [new for new in values if -(1 << 63) <= new < 1 << 63]
    return change(row, **{column: draw(st.sampled_from(inside))})


@st.composite
def _changed_place(draw: st.DrawFn, network: Topology, row: Row) -> Row:
    node, kind = value(row, "node"), value(row, "kind")
    if kind == Kind.SENT:
        return change(row, link=draw(st.sampled_from(network.egress(node))))
    if kind == Kind.ARRIVED:
        return change(row, link=draw(st.sampled_from(network.ingress(node))))
    if kind == Kind.DELIVERED:
        return change(row, node=draw(st.integers(0, len(network.nodes) - 1)))
    return row
