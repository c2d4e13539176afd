"""TO-SW-1 to TO-SW-6, and the carriers: for one schedule all deliver the same messages in the same order."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import replace as replace_fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scatterproof.conformance.adapters.datagram import DatagramIut
from scatterproof.conformance.adapters.stdio import StdioIut
from scatterproof.conformance.judge import judge
from scatterproof.conformance.network.run import MakeNode, simulate
from scatterproof.conformance.network.topologies import chain
from scatterproof.conformance.report.equivalence import EquivalenceRow, compare, delivered
from scatterproof.conformance.totalorder.variants import WITHOUT_BEACONS, variants
from scatterproof.conformance.verdict import Verdict
from scatterproof.fuzz.strategies import schedules
from scatterproof.impl.totalorder import RULES, make_core
from scatterproof.impl.totalorder.literal_embodiments import LITERAL
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Delay, FaultKind, Message, Schedule, Submission


def parameters(interval: int) -> dict[str, Parameter]:
    return {"environment": "C", "beacon_interval_ns": interval}


SCHEDULES = schedules(
    "totalorder",
    parameters=st.integers(1, 12).map(parameters),
    fault_kinds=(FaultKind.LOSE,),
    answered=True,
)


def busy(rounds: int) -> Schedule:
    """Four hosts in two pairs; every 3 ns one of them sends to all, and two do so at the same time now and then."""
    topology = chain(2, 2)
    submissions = tuple(
        Submission(3 * number, host, tuple(Message(receiver) for receiver in topology.hosts()))
        for number in range(rounds)
        for host in {number % 4, number * number % 4}
    )
    return Schedule("totalorder", topology, tuple(Delay(4, 3) for _ in topology.links), submissions, (), parameters(10))


NAMES = tuple(variants(busy(1)))


def table(schedule: Schedule, names: Collection[str] = NAMES, make: MakeNode = make_core) -> tuple[EquivalenceRow, ...]:
    """The variants of these names, made by `make`, compared with environment C."""
    chosen = variants(schedule)
    runs = {"C": simulate(chosen["C"], make_core)}
    runs |= {name: simulate(chosen[name], make) for name in names if name in chosen}
    return compare(runs, "C", WITHOUT_BEACONS)


def different(schedule: Schedule, names: Collection[str] = NAMES) -> list[str]:
    return [f"{row.name}: {row.difference}" for row in table(schedule, names) if row.difference]


@pytest.mark.slow
@settings(max_examples=15)
@given(SCHEDULES, st.sets(st.sampled_from(NAMES), min_size=2, max_size=4))
def test_every_carrier_and_every_form_of_a_switch_delivers_the_same(schedule: Schedule, names: set[str]) -> None:
    assert different(schedule, names) == []


@pytest.mark.slow
@settings(max_examples=10)
@given(SCHEDULES)
def test_all_carriers_and_all_forms_of_a_switch_deliver_the_same(schedule: Schedule) -> None:
    assert different(schedule) == []


def test_to_env_a_busy_hosts_deliver_most_without_beacons_and_nothing_out_of_order() -> None:
    rows = {row.name: row for row in table(busy(60), ("A", "D5"))}

    assert [row.difference for row in rows.values()] == ["", "", ""]
    assert rows["C"].deliveries > rows["A"].deliveries > 0.8 * rows["C"].deliveries
    assert rows["D5"].deliveries > 0.8 * rows["C"].deliveries


def test_another_rule_for_equal_timestamps_is_seen_as_a_difference() -> None:
    rules = replace_fields(RULES, precedence=lambda timestamp, sender: (timestamp, -sender))
    rows = table(busy(20), ("B, slow data",), lambda config: make_core(config, rules))

    assert [bool(row.difference) for row in rows] == [False, True]


def test_a_beacon_that_overtakes_waiting_data_is_seen_as_a_difference() -> None:
    overtaking = LITERAL["beacons overtake data"]
    rows = table(busy(20), ("B, slow data",), lambda config: overtaking(config, RULES))
    assert [bool(row.difference) for row in rows] == [False, True]


# Every node a process of its own: hosts, switches, and the proxy hosts of switches that are not beside them.
PROCESSES = ("B, slow data", "B, far proxies", "D8, near proxies")


def spaced() -> Schedule:
    """Two hosts at two switches, each of which sends to both in turn."""
    topology = chain(2, 1)
    messages = tuple(Message(receiver) for receiver in topology.hosts())
    submissions = tuple(Submission(300 * number, number % 2, messages) for number in range(6))
    return Schedule(
        "totalorder", topology, tuple(Delay(4, 3) for _ in topology.links), submissions, (), parameters(100)
    )


@pytest.mark.parametrize("name", PROCESSES)
def test_processes_on_stdin_and_stdout_deliver_what_the_cores_deliver(name: str) -> None:
    variant = variants(spaced())[name]
    command = (sys.executable, "-m", "scatterproof.impl.drivers.stdio")
    runs = {"cores": simulate(variant, make_core), "processes": StdioIut("reference", command).run(variant)}

    assert [row.difference for row in compare(runs, "cores")] == ["", ""]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROCESSES)
def test_processes_with_udp_sockets_deliver_all_and_break_no_clause(name: str) -> None:
    variant = variants(spaced())[name]
    trace = DatagramIut("reference", (sys.executable, "-m", "scatterproof.impl.drivers.udp")).run(variant)
    found = delivered(trace)

    assert [result for result in judge(trace) if result.verdict is Verdict.FAIL] == []
    # Their clocks decide on the order; but all hosts have it, and all messages.
    assert found[0] == found[1]
    assert sorted(found[0]) == [(sender, number) for sender in (0, 1) for number in (1, 2, 3)]
