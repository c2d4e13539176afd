"""The model of the testbed, and what is measured in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ci.figures.latency import LatencySetting, Sample, collect, maker, measure, schedule_of
from ci.figures.testbed import TESTBED, network, row
from scatterproof.spec.core import node_config
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.topology import route
from scatterproof.spec.totalorder.messages import Environment
from scatterproof.spec.trace import Header, Kind, Order, Trace, schema

STILL = replace(TESTBED, host_jitter_ns=0, greatest_offset_ns=0)
FEW = Sample(40, 8)


@pytest.mark.parametrize(
    ("processes", "switches", "on_the_way"), [(2, 1, 1), (8, 1, 1), (16, 4, 3), (32, 10, 5), (64, 10, 5)]
)
def test_servers_are_filled_rack_by_rack_below_as_many_switches_as_they_need(
    processes: int, switches: int, on_the_way: int
) -> None:
    there = network(processes).topology
    named = [node for node in there.nodes if node.name.startswith("s") and not node.name.startswith("server")]
    path = route(there).path(there, 0, min(processes, 32) - 1)

    assert len(named) == switches
    assert len(path) - 1 == on_the_way + (2 if processes > 32 else 0)


@pytest.mark.parametrize("processes", [8, 16, 32, 64])
def test_a_way_takes_two_hosts_its_switches_and_the_links_between_them(processes: int) -> None:
    there = network(processes, STILL)
    last = min(processes, 32) - 1
    path = route(there.topology).path(there.topology, 0, last)
    switches = {8: 1, 16: 3, 32: 5, 64: 5}[processes]

    assert sum(there.delays[link].base_ns for link in path) == (
        2 * STILL.host_ns + (switches + 1) * STILL.link_ns + switches * STILL.switch_ns
    )
    assert sum(delay.jitter_ns for delay in network(processes).delays if delay.jitter_ns) == (
        2 * processes * TESTBED.host_jitter_ns
    )


def test_the_model_takes_the_stated_time_over_five_switches() -> None:
    there = network(32)
    path = route(there.topology).path(there.topology, 0, 31)

    assert sum(there.delays[link].base_ns + there.delays[link].jitter_ns // 2 for link in path) == 5_350


def test_processes_of_one_server_share_its_clock() -> None:
    schedule = schedule_of(LatencySetting(network=network(64), environment=Environment.B), 10, seed=1)

    assert [schedule.clocks[n] for n in range(32)] == [schedule.clocks[n] for n in range(32, 64)]
    assert len({schedule.clocks[n] for n in range(32)}) > 20


@pytest.mark.parametrize("processes", [0, 33, 48])
def test_processes_that_cannot_be_dealt_out_evenly_are_refused(processes: int) -> None:
    with pytest.raises(BadInput, match=f"processes is {processes}; give 1 to 32, or a multiple of 32"):
        network(processes)


def test_a_row_has_so_many_switches_between_its_ends() -> None:
    there = row(4).topology

    assert len(route(there).path(there, 0, 2)) == 5
    assert len(route(there).path(there, 0, 1)) == 2


def test_latency_without_order_is_that_of_the_way_and_delivery_comes_later() -> None:
    found = measure(LatencySetting(network=network(4, STILL), environment=Environment.B, testbed=STILL), FEW)
    way = 2 * STILL.host_ns + 2 * STILL.link_ns + STILL.switch_ns

    assert set(found.arrival) == {way}
    assert min(found.delivery) >= way
    # With equal clocks and no jitter the next beacon is all there is to wait for.
    assert max(found.delivery) <= way + STILL.beacon_interval_ns + 1


def test_a_detour_costs_its_delay_at_every_switch() -> None:
    setting = LatencySetting(network=network(16, STILL), environment=Environment.B, testbed=STILL)
    direct, round_about = measure(setting, FEW), measure(replace(setting, detour=True), FEW)

    assert min(round_about.delivery) >= min(direct.arrival)
    assert 3 * STILL.detour_ns / 1000 == pytest.approx(round_about.mean_us - direct.mean_us, abs=0.01)


def test_measuring_twice_finds_the_same_and_another_seed_finds_other_times() -> None:
    setting = LatencySetting(network=network(2), environment=Environment.C)

    assert measure(setting, FEW) == measure(setting, FEW)
    assert measure(setting, FEW) != measure(setting, FEW, seed=2)


def test_so_many_messages_are_measured_in_runs_enough_for_the_clocks() -> None:
    setting = LatencySetting(network=network(2), environment=Environment.B)

    assert len(measure(setting, Sample(messages=10, clocks=16)).delivery) == 16
    assert len(measure(setting, Sample(messages=31, clocks=16)).delivery) == 32


def test_losses_hit_packets_of_every_link_at_their_rate() -> None:
    setting = LatencySetting(network=network(8), environment=Environment.B, loss_rate=0.05)
    faults = schedule_of(setting, 200, seed=3).faults
    last = max(fault.index for fault in faults)

    assert {fault.link for fault in faults} == set(range(16))
    assert len(faults) / (16 * last) == pytest.approx(0.05, rel=0.2)
    assert schedule_of(replace(setting, loss_rate=0.0), 200, seed=3).faults == ()


def test_best_effort_messages_that_are_lost_are_counted_and_reliable_ones_are_waited_for() -> None:
    best_effort = LatencySetting(network=network(2), environment=Environment.B, loss_rate=0.2)

    assert measure(best_effort, FEW).lost > 0
    assert measure(replace(best_effort, environment=Environment.D9), FEW).lost == 0


@pytest.mark.parametrize("environment", [Environment.D8, Environment.D9])
def test_to_retx_one_packet_in_a_hundred_lost_costs_less_than_was_published(environment: Environment) -> None:
    """2.5 times; it is simulated time, so that it is the same on any machine."""
    clean = LatencySetting(network=network(16), environment=environment)
    means = [measure(replace(clean, loss_rate=rate), Sample(240, 16)).mean_us for rate in (0.0, 0.01)]

    assert means[0] < means[1] < 2.5 * means[0]


def test_a_run_that_was_cut_is_no_measurement() -> None:
    there = network(2).topology
    header = Header("totalorder", there, {}, {}, Order.GLOBAL, notes=("node 0 failed",))
    ended = dict.fromkeys(schema("totalorder").columns, -1) | {"kind": int(Kind.ENDED)}

    with pytest.raises(CannotRun, match="a run was cut: node 0 failed"):
        collect(Trace(header, [tuple(ended.values())]))


def test_switches_have_their_own_spacing_and_servers_that_join_processes_no_detour() -> None:
    there = network(64)
    make = maker(LatencySetting(network=there, environment=Environment.B, detour=True))
    routes = route(there.topology)
    parameters: dict[str, int | str] = {"environment": "B", "beacon_interval_ns": 3_000}
    names = [node.name for node in there.topology.nodes]
    made = {
        name: type(make(node_config(names.index(name), there.topology, routes, "totalorder", parameters))).__name__
        for name in ("p0", "server0", "s0")
    }

    assert len(set(made.values())) == 3
