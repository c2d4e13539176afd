"""The boundary vectors that come from the Z3 models, as traces: the check lets the expected value pass, and neither
neighbour. Every vector becomes a few rows, of which the last is the one that counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scatterproof import spec
from scatterproof.conformance.checks.online import Monitor
from scatterproof.conformance.judge import all_checks
from scatterproof.conformance.network.topologies import star
from scatterproof.conformance.protocol import load
from scatterproof.spec.topology import Topology
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import ABSENT, Header, Kind, Order, Row, schema

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(spec.__file__).parent / "totalorder" / "boundary_vectors.json").read_text()
)
PLUGIN = load("totalorder")
COLUMNS = schema("totalorder").columns
GREATEST = (1 << 63) - 1
SWITCH_TO_H0 = 1  # the link of a star from its switch to host 0; host h's own link is 2 * h


def row(kind: Kind, **values: int) -> Row:
    return tuple(({"kind": int(kind), "time_ns": 0, "node": 0} | values).get(column, ABSENT) for column in COLUMNS)


def beacon(kind: Kind, node: int, link: int, barrier: int, **values: int) -> Row:
    return row(kind, node=node, link=link, packet=PacketKind.BEACON, barrier=barrier, **values)


def sending(number: int, timestamp: int, clock: int, barrier: int | None = None) -> list[Row]:
    """Host 0 submits its message of that number to itself, and sends it."""
    message = {"sender": 0, "receiver": 0, "number": number}
    own = timestamp if barrier is None else barrier
    return [
        row(Kind.SUBMITTED, clock_ns=clock, digest=0, scattering=number, **message),
        row(Kind.SENT, clock_ns=clock, link=0, packet=PacketKind.DATA, timestamp=timestamp, barrier=own, **message),
    ]


def broken_by_last(rows: list[Row], *, hosts: int = 1, interval: int = 1, environment: str = "C") -> set[str]:
    """The clauses that the last row breaks."""
    network: Topology = star(hosts)
    header = Header(
        "totalorder", network, {"environment": environment, "beacon_interval_ns": interval}, {}, Order.GLOBAL
    )
    checks = all_checks(PLUGIN)
    monitor = Monitor(checks, PLUGIN.columns, PLUGIN.surroundings(header))
    for position, one in enumerate(rows):
        monitor.observe(position, one)
    return {checks[found.check].clause for found in monitor.broken if found.position == len(rows) - 1}


def neighbours(expected: int) -> list[int]:
    return [value for value in (expected - 1, expected + 1) if 0 <= value <= GREATEST]


def judge_deliverable(inputs: dict[str, Any], expected: bool) -> None:
    arrival = [beacon(Kind.ARRIVED, 0, SWITCH_TO_H0, inputs["barrier"])]
    delivery = row(Kind.DELIVERED, sender=0, receiver=0, number=1, timestamp=inputs["timestamp"])
    assert ("TO-DELIVER" not in broken_by_last([*arrival, delivery])) == expected


def judge_precedes(inputs: dict[str, Any], expected: bool) -> None:
    rows = [
        row(Kind.DELIVERED, sender=inputs[f"sender_{n}"], receiver=0, number=n, timestamp=inputs[f"timestamp_{n}"])
        for n in (1, 2)
    ]
    assert ("TO-ORDER" not in broken_by_last(rows)) == expected


def judge_beacon_due(inputs: dict[str, Any], expected: bool) -> None:
    data = sending(1, inputs["last_carried"], inputs["last_carried"])
    late = beacon(Kind.SENT, 0, 0, inputs["clock"], clock_ns=inputs["clock"])
    assert ("TO-ENV-C" not in broken_by_last([*data, late], interval=inputs["interval"])) == expected


def judge_aggregate(inputs: dict[str, Any], expected: int) -> None:
    barriers = inputs["barriers"]
    hosts = len(barriers)
    arrivals = [beacon(Kind.ARRIVED, hosts, 2 * host, barrier) for host, barrier in enumerate(barriers)]

    def broken(barrier: int) -> set[str]:
        return broken_by_last([*arrivals, beacon(Kind.SENT, hosts, SWITCH_TO_H0, barrier)], hosts=hosts)

    assert "TO-BAR-MIN" not in broken(expected)
    assert all("TO-BAR-MIN" in broken(value) for value in neighbours(expected))


def judge_register(inputs: dict[str, Any], expected: int) -> None:
    arrivals = [beacon(Kind.ARRIVED, 1, 0, inputs[name]) for name in ("held", "arrived")]

    def broken(barrier: int) -> set[str]:
        return broken_by_last([*arrivals, beacon(Kind.SENT, 1, SWITCH_TO_H0, barrier)])

    assert "TO-BAR-MIN" not in broken(expected)
    assert all("TO-BAR-MIN" in broken(value) for value in neighbours(expected))


def judge_stamp(inputs: dict[str, Any], expected: int) -> None:
    clock, last, promised = inputs["clock"], inputs["last"], inputs["promised"]
    earlier = sending(1, last, last) if last > 0 else []
    earlier += [beacon(Kind.SENT, 0, 0, promised, clock_ns=promised)] if promised > 0 else []

    def broken(timestamp: int) -> set[str]:
        return broken_by_last([*earlier, *sending(2 if last > 0 else 1, timestamp, clock)])

    assert not broken(expected) & {"TO-MONO", "TO-BAR-HOST"}
    assert all(broken(value) & {"TO-MONO", "TO-BAR-HOST"} for value in neighbours(expected))


def judge_beacon_barrier(inputs: dict[str, Any], expected: int) -> None:
    earlier = sending(1, inputs["last"], inputs["last"]) if inputs["last"] > 0 else []

    def broken(barrier: int) -> set[str]:
        return broken_by_last([*earlier, beacon(Kind.SENT, 0, 0, barrier, clock_ns=inputs["clock"])])

    assert "TO-BAR-HOST" not in broken(expected)
    assert all("TO-BAR-HOST" in broken(value) for value in neighbours(expected))


def judge_data_barrier(inputs: dict[str, Any], expected: int) -> None:
    def broken(barrier: int) -> set[str]:
        return broken_by_last(sending(1, inputs["timestamp"], inputs["timestamp"], barrier))

    assert "TO-BAR-HOST" not in broken(expected)
    assert all("TO-BAR-HOST" in broken(value) for value in neighbours(expected))


JUDGES: dict[str, Callable[[dict[str, Any], Any], None]] = {
    "deliverable": judge_deliverable,
    "precedes": judge_precedes,
    "beacon_due": judge_beacon_due,
    "aggregate": judge_aggregate,
    "register": judge_register,
    "stamp": judge_stamp,
    "beacon_barrier": judge_beacon_barrier,
    "data_barrier": judge_data_barrier,
}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['clause']}-{vector['name']}")
def test_check_takes_the_expected_value_of_a_boundary_vector_and_no_other(vector: dict[str, Any]) -> None:
    JUDGES[vector["rule"]](vector["inputs"], vector["expected"])
