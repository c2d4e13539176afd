"""The sending side of a host: timestamps, barriers, beacons."""

from __future__ import annotations

import pytest

from scatterproof.impl.totalorder import make_core
from scatterproof.impl.totalorder.limits import MAX_PAYLOAD_BYTES
from scatterproof.impl.totalorder.tests.nodes import (
    DATA,
    beacons,
    host,
    host_config,
    scatter,
    sends,
)
from scatterproof.spec.core import LocalProtocolError, NodeConfig, Submitted, TimerFired
from scatterproof.spec.errors import BadInput
from scatterproof.spec.totalorder.messages import NO_BARRIER, Packet


def test_to_scatter_messages_of_a_scattering_have_one_timestamp_and_their_own_contents() -> None:
    found = sends(host().handle(scatter(7, 2, 0, 1)))

    assert found == [
        (11, Packet(DATA, 0, 2, 1, 0, 7, 7, b"to 2")),
        (10, Packet(DATA, 0, 0, 1, 0, 7, 7, b"to 0")),
        (10, Packet(DATA, 0, 1, 1, 1, 7, 7, b"to 1")),
    ]


def test_to_scatter_numbers_count_each_receivers_messages_and_link_numbers_each_links_packets() -> None:
    core = host()
    core.handle(scatter(7, 0, 2))
    core.handle(TimerFired(30))
    found = sends(core.handle(scatter(40, 0, 1)))

    assert [(packet.receiver, packet.number, packet.link_seq) for _, packet in found] == [(0, 2, 2), (1, 1, 3)]


@pytest.mark.parametrize("environment", ["A", "B", "C"])
@pytest.mark.parametrize(
    ("clocks", "timestamps"),
    [
        ((5, 6, 20), [5, 6, 20]),
        ((5, 5, 5, 20), [5, 6, 7, 20]),  # the clock stands still
        ((20, 10, 11, 30), [20, 21, 22, 30]),  # the clock steps back
        ((0, -3), [1, 2]),  # 0 stands for "has not spoken"
    ],
)
def test_to_mono_timestamps_rise_and_are_the_clock_where_it_is_high_enough(
    environment: str, clocks: tuple[int, ...], timestamps: list[int]
) -> None:
    core = host(environment=environment)
    assert [sends(core.handle(scatter(clock, 1)))[0][1].timestamp for clock in clocks] == timestamps


def test_to_bar_host_a_data_message_carries_its_timestamp_as_barrier() -> None:
    core = host()
    for clock in (5, 5, 4):
        ((_, packet),) = sends(core.handle(scatter(clock, 1)))
        assert packet.barrier == packet.timestamp


def test_to_bar_host_a_beacon_carries_the_clock() -> None:
    assert beacons(host().handle(TimerFired(3))) == [(10, 3), (11, 3)]


def test_to_bar_host_a_beacon_carries_the_last_timestamp_while_the_clock_lags_behind_it() -> None:
    core = host(environment="B")
    for _ in range(100):
        core.handle(scatter(5, 1))

    assert beacons(core.handle(TimerFired(10))) == [(10, 104), (11, 104)]


def test_to_bar_host_a_timestamp_is_at_or_above_every_beacon_even_when_the_clock_steps_back() -> None:
    core = host()
    core.handle(TimerFired(25))
    found = [sends(core.handle(scatter(clock, 1)))[0][1].timestamp for clock in (20, 21, 25)]

    assert found == [25, 26, 27]


def test_to_bar_rise_a_clock_that_stood_still_or_stepped_back_sends_no_beacon() -> None:
    core = host(environment="B")
    assert beacons(core.handle(TimerFired(25))) == [(10, 25), (11, 25)]
    for clock in (25, 3, 29):
        assert core.handle(TimerFired(clock)) == ()

    assert beacons(core.handle(TimerFired(30))) == [(10, 30), (11, 30)]


def test_to_bar_rise_a_beacon_that_would_say_nothing_new_is_not_sent() -> None:
    core = host(environment="B")
    for _ in range(100):
        core.handle(scatter(5, 1))
    core.handle(TimerFired(10))

    assert sends(core.handle(TimerFired(20))) == []
    assert core.next_deadline() == 30


def test_to_env_a_barriers_travel_on_data_only() -> None:
    core = host(environment="A")
    assert core.next_deadline() is None
    assert core.handle(TimerFired(100)) == ()
    assert sends(core.handle(scatter(101, 1)))[0][1].barrier == 101


def test_to_env_b_data_carry_no_barrier_and_do_not_hold_a_beacon_back() -> None:
    core = host(environment="B")
    assert sends(core.handle(scatter(9, 1)))[0][1].barrier == NO_BARRIER
    assert core.next_deadline() == 0
    assert beacons(core.handle(TimerFired(10))) == [(10, 10), (11, 10)]
    assert core.next_deadline() == 20


def test_to_env_b_an_idle_host_sends_a_beacon_at_every_interval() -> None:
    core = host(environment="B")
    times = []
    for clock in range(50):
        if sends(core.handle(TimerFired(clock))):
            times.append(clock)
    assert times == [10, 20, 30, 40]


def test_to_env_c_a_beacon_leaves_only_the_links_without_data_for_the_interval() -> None:
    core = host()
    core.handle(TimerFired(10))
    core.handle(scatter(15, 1))

    # The source document's timer is the host's; link 11 would be silent while link 10 is busy.
    assert beacons(core.handle(TimerFired(20))) == [(11, 20)]
    assert beacons(core.handle(TimerFired(30))) == [(10, 30), (11, 30)]


def test_to_env_c_a_beacon_is_due_exactly_at_the_interval() -> None:
    core = host()
    core.handle(scatter(10, 1, 2))
    assert beacons(core.handle(TimerFired(20))) == [(10, 20), (11, 20)]
    core.handle(scatter(21, 1, 2))
    assert sends(core.handle(TimerFired(30))) == []


def test_a_timer_that_fires_early_changes_nothing() -> None:
    core = host()
    core.handle(TimerFired(10))
    assert core.handle(TimerFired(19)) == ()
    assert core.next_deadline() == 20


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        (((7, b""),), "no route to host 7"),
        (((1, b""), (7, b"")), "no route to host 7"),
        (((1, b""), (1, b"")), "one message for each receiver"),
        ((), "at least one message"),
        (((1, b""), (2, bytes(MAX_PAYLOAD_BYTES + 1))), "at most 65435"),
    ],
)
def test_a_scattering_that_cannot_be_sent_raises_and_changes_nothing(
    messages: tuple[tuple[int, bytes], ...], sentence: str
) -> None:
    core, twin = host(), host()
    with pytest.raises(LocalProtocolError, match=sentence):
        core.handle(Submitted(50, messages))

    assert core.handle(scatter(5, 1, 2)) == twin.handle(scatter(5, 1, 2))
    assert core.handle(TimerFired(20)) == twin.handle(TimerFired(20))


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (host_config(environment="D"), "node 0: parameter environment is 'D'; give one of A, B, C"),
        (host_config(beacon_interval_ns=0), "node 0: parameter beacon_interval_ns is 0; give a whole number"),
        (host_config(beacon_interval_ns="10"), "node 0: parameter beacon_interval_ns is '10'"),
        (host_config(node=-1), "node -1: -1 is no node's number"),
        (host_config(ingress=(4, 4)), "node 0: ingress names a link twice"),
        (host_config(ingress=(10,)), r"node 0: links \[10\] are both ingress and egress"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused_in_one_sentence(config: NodeConfig, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        make_core(config)


def test_an_interval_is_needed_in_every_environment() -> None:
    config = host_config(environment="A")
    del config.parameters["beacon_interval_ns"]
    with pytest.raises(BadInput, match="beacon_interval_ns is None"):
        make_core(config)
