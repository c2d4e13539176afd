"""The cores for loss, in environments A, B and C: they behave as the bare cores do, and the variants that need them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scatterproof.impl.totalorder import AnyCore, Host, ReliableHost, ReliableSwitch, Rules, Switch, make_core
from scatterproof.impl.totalorder.rules import RULES
from scatterproof.impl.totalorder.tests.lossy import broken, play, random_scenario, undelivered
from scatterproof.impl.totalorder.tests.network import TOPOLOGIES, Network, Sent
from scatterproof.impl.totalorder.tests.nodes import (
    DATA,
    arrival,
    bare,
    beacon,
    beacons,
    host_config,
    scatter,
    sends,
    switch_config,
)
from scatterproof.spec.core import NodeConfig, Parameter, TimerFired
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_BARRIER

ENVIRONMENTS = ("A", "B", "C")
LOSSY = ("D5", "D6", "D7", "D8", "D9")


def reliable(config: NodeConfig, rules: Rules) -> AnyCore:
    return ReliableHost(config, rules) if config.role is Role.HOST else ReliableSwitch(config, rules)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_without_loss_both_kinds_of_cores_do_the_same(topology: str, environment: str) -> None:
    for seed in range(4):
        bare = Network(TOPOLOGIES[topology], environment, RULES, seed)
        full = Network(TOPOLOGIES[topology], environment, RULES, seed, reliable)
        bare.run(400)
        full.run(400)
        assert full.log == bare.log, f"seed {seed}"
        assert isinstance(bare.cores[0], Host)
        assert isinstance(full.cores[0], ReliableHost)


@pytest.mark.parametrize(
    "more", [{"causal": 1}, {"every_beacon": 1}, {"fill_barrier": 1}, {"adjustment_interval_ns": 9}, {"host_flags": 1}]
)
def test_what_goes_beyond_the_bare_rules_gets_cores_that_know_it(more: dict[str, int]) -> None:
    assert isinstance(make_core(host_config()), Host)
    assert isinstance(make_core(switch_config()), Switch)
    config = host_config()
    assert isinstance(make_core(replace(config, parameters={**config.parameters, **more})), ReliableHost)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retransmit_timeout_ns", 0),
        ("retransmit_timeout_ns", "soon"),
        ("retransmit_doublings", 4),
        ("host_flags", 2),
        ("fill_barrier", -1),
        ("every_beacon", "yes"),
        ("adjustment_interval_ns", -1),
        ("causal", 7),
    ],
)
def test_a_parameter_out_of_range_is_named(name: str, value: Parameter) -> None:
    config = host_config(environment="D9")
    with pytest.raises(BadInput, match=f"node 0: parameter {name} is {value!r}; give"):
        make_core(replace(config, parameters={**config.parameters, name: value}))


@pytest.mark.parametrize(
    ("doublings", "resent"), [(0, [65, 125, 185, 245, 305]), (1, [65, 185, 305]), (3, [65, 185, 425, 905, 1385])]
)
def test_to_retx_the_time_out_doubles_as_often_as_is_said(doublings: int, resent: list[int]) -> None:
    core = make_core(host_config(environment="D9", retransmit_timeout_ns=60, retransmit_doublings=doublings))
    core.handle(scatter(5, 1))
    found = []
    for now in range(5, resent[-1] + 1, 5):
        found += [now for _, packet in sends(core.handle(TimerFired(now))) if packet.resent]
    assert found == resent


@pytest.mark.parametrize("environment", ["A", "C", "D5", "D6", "D9"])
def test_to_bar_fill_the_first_switch_fills_what_hosts_leave_empty(environment: str) -> None:
    run = play(random_scenario("row", environment, 1, fill_barrier=1))
    data = [entry for entry in run.log if isinstance(entry, Sent) and entry.packet.kind == DATA]
    first = [e.packet for e in data if e.packet.sender == e.node and not e.packet.resent]

    assert {packet.barrier for packet in first} == {NO_BARRIER}
    assert all(e.packet.barrier != NO_BARRIER for e in data if e.packet.sender != e.node or e.packet.resent)
    assert broken(run) == {f"TO-FMT-{environment}"}, "the format that is meant is the empty one"
    assert run.refused == []
    assert environment in ("A", "D5") or undelivered(run) == set()


def test_to_bar_fill_a_barrier_that_will_be_filled_counts_as_promised() -> None:
    """Otherwise a clock that steps back could stamp below it; here on another link, after one packet."""
    core = make_core(host_config(environment="D9", fill_barrier=1))
    ((_, packet),) = sends(core.handle(scatter(50, 1)))
    ((_, later),) = sends(core.handle(scatter(20, 2)))
    assert (packet.barrier, packet.timestamp, later.timestamp) == (NO_BARRIER, 50, 51)


@pytest.mark.parametrize("environment", ["B", "C", *LOSSY])
@pytest.mark.parametrize("shape", ["star", "row"])
def test_to_beacon_min_beacons_that_say_nothing_new_change_nothing_but_their_number(
    shape: str, environment: str
) -> None:
    scenario = random_scenario(shape, environment, 2, every_beacon=1)
    run = play(scenario)
    assert broken(run) == set()
    assert run.refused == []
    assert environment == "D5" or undelivered(run) == set()


def test_to_beacon_min_every_beacon_leaves_each_interval_and_without_it_none_that_is_stale() -> None:
    config = switch_config(environment="C")
    assert make_core(config).next_deadline() is None
    chatty = make_core(replace(config, parameters={**config.parameters, "every_beacon": 1}))
    assert chatty.handle(TimerFired(13)) == []
    assert chatty.next_deadline() == 20
    for link, barrier in ((1, 5), (2, 6), (3, 7)):
        assert chatty.handle(arrival(link, beacon(barrier, 0), 15)) == []
    assert beacons(chatty.handle(TimerFired(20))) == [(20, 5), (21, 6)]
    assert beacons(chatty.handle(TimerFired(30))) == [(20, 5), (21, 6)]


def test_to_causal_a_reply_is_stamped_strictly_above_what_was_delivered() -> None:
    """The clock of host 0 is far behind. Without the clamp its reply would come before what it replies to."""
    stamps = []
    for causal in (0, 1):
        core = make_core(host_config(environment="B", ingress=(100,), causal=causal))
        core.handle(arrival(100, bare(500, 0), now=3))
        delivered = core.handle(arrival(100, beacon(501, 1), now=4))
        assert len(delivered) == 1
        ((_, reply),) = sends(core.handle(scatter(5, 2)))
        stamps.append(reply.timestamp)
    assert stamps == [5, 501]
