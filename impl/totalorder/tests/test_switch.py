"""A switch: forwarding, minimums, beacons. Links 1, 2, 3 lead to link 20, links 2 and 3 alone to link 21."""

from __future__ import annotations

import msgspec
import pytest

from scatterproof.impl.totalorder import Switch, make_core
from scatterproof.impl.totalorder.tests.nodes import (
    arrival,
    bare,
    beacon,
    beacons,
    data,
    refusal,
    scatter,
    sends,
    switch,
    switch_config,
)
from scatterproof.spec.core import LocalProtocolError, TimerFired
from scatterproof.spec.errors import BadInput
from scatterproof.spec.totalorder.messages import NO_BARRIER, Packet


def test_to_bar_min_worked_example_1_barriers_1_and_4_leave_as_1_on_both_egress_links() -> None:
    config = msgspec.structs.replace(switch_config(), ingress=(1, 2), reaching=((1, 2), (1, 2)))
    core = Switch(config)
    assert beacons(core.handle(arrival(1, beacon(1, 0)))) == []
    assert beacons(core.handle(arrival(2, beacon(4, 0)))) == [(20, 1), (21, 1)]


def test_to_bar_part_worked_example_2_links_that_do_not_reach_a_receiver_do_not_count() -> None:
    core = switch()
    assert beacons(core.handle(arrival(1, beacon(1, 0)))) == []
    assert beacons(core.handle(arrival(2, beacon(2, 0)))) == []
    assert beacons(core.handle(arrival(3, beacon(3, 0)))) == [(20, 1), (21, 2)]


def test_to_bar_min_the_minimum_is_of_the_newest_barriers_not_of_all_ever_received() -> None:
    core = switch()
    for link in (1, 2, 3):
        core.handle(arrival(link, beacon(1, 0), now=10))
    found = [beacons(core.handle(arrival(link, beacon(7, 1), now=20))) for link in (1, 2, 3)]

    assert found == [[], [], [(20, 7), (21, 7)]]


def test_to_bar_min_a_link_that_has_not_spoken_holds_the_minimum_down() -> None:
    core = switch()
    core.handle(arrival(2, beacon(8, 0)))
    ((link, packet),) = sends(core.handle(arrival(2, data(9, 1))))

    assert (link, packet.barrier) == (20, 0)


def test_to_bar_min_data_leave_with_the_egress_links_minimum_and_a_link_number_of_their_own() -> None:
    core = switch(environment="A")
    for link, barrier in ((1, 4), (2, 6), (3, 7)):
        core.handle(arrival(link, data(barrier, 0)))
    found = sends(core.handle(arrival(2, data(9, 5, sender=8, receiver=1, number=3))))

    assert found == [(21, data(9, 0, sender=8, receiver=1, number=3, barrier=7))]
    (towards_0,) = sends(core.handle(arrival(2, data(10, 6))))
    assert towards_0 == (20, data(10, 3, barrier=4))


def test_to_bar_rise_a_beacon_leaves_only_when_it_says_something_new() -> None:
    core = switch()
    for link in (1, 2, 3):
        core.handle(arrival(link, beacon(5, 0), now=10))
    assert beacons(core.handle(arrival(2, beacon(8, 1), now=30))) == []
    assert beacons(core.handle(arrival(2, beacon(8, 2), now=30))) == []
    assert beacons(core.handle(arrival(3, beacon(7, 1), now=30))) == [(21, 7)]


def test_to_env_c_a_link_carries_one_beacon_an_interval_however_often_the_minimum_rises() -> None:
    core = switch()
    for link in (1, 2, 3):
        core.handle(arrival(link, beacon(5, 0), now=100))
    for number, barrier in enumerate((6, 7, 8), 1):
        for link in (1, 2, 3):
            assert beacons(core.handle(arrival(link, beacon(barrier, number), now=100 + number))) == []
    assert core.next_deadline() == 110
    assert beacons(core.handle(TimerFired(110))) == [(20, 8), (21, 8)]


def test_to_env_a_a_switch_sends_no_beacon() -> None:
    core = switch(environment="A")
    for link in (1, 2, 3):
        assert len(sends(core.handle(arrival(link, data(5, 0))))) == 1
    assert core.next_deadline() is None
    assert core.handle(TimerFired(1000)) == ()


def test_to_env_b_data_pass_without_a_barrier_and_hold_no_beacon_back() -> None:
    core = switch(environment="B")
    for link in (1, 2, 3):
        core.handle(arrival(link, beacon(5, 0)))
    ((_, packet),) = sends(core.handle(arrival(1, bare(6, 1), now=100)))
    core.handle(arrival(1, beacon(7, 2), now=100))
    core.handle(arrival(2, beacon(7, 1), now=100))

    assert packet.barrier == NO_BARRIER
    assert beacons(core.handle(arrival(3, beacon(7, 1), now=100))) == [(20, 7), (21, 7)]


def busy_switch() -> Switch:
    """Link 20 carried data at 100; its minimum is 12, link 21's 12, which 21 has sent already."""
    core = switch()
    for link in (1, 2, 3):
        core.handle(arrival(link, beacon(10, 0), now=90))
    core.handle(arrival(1, data(11, 1), now=100))
    core.handle(arrival(1, beacon(12, 2), now=101))
    core.handle(arrival(2, beacon(12, 1), now=101))
    assert beacons(core.handle(arrival(3, beacon(12, 1), now=102))) == [(21, 12)]
    return core


def test_to_env_c_a_beacon_waits_until_its_link_was_without_data_for_the_interval() -> None:
    core = busy_switch()
    assert core.next_deadline() == 110
    assert core.handle(TimerFired(109)) == ()
    assert beacons(core.handle(TimerFired(110))) == [(20, 12)]
    assert core.next_deadline() is None


def test_to_env_c_data_that_carry_the_news_make_the_waiting_beacon_needless() -> None:
    core = busy_switch()
    ((link, packet),) = sends(core.handle(arrival(1, data(13, 3), now=105)))
    assert (link, packet.barrier) == (20, 12)
    assert sends(core.handle(TimerFired(110))) == []
    assert core.next_deadline() is None


def test_to_env_c_data_put_a_waiting_beacon_with_newer_news_off() -> None:
    core = busy_switch()
    core.handle(arrival(1, data(13, 3), now=105))
    core.handle(arrival(2, beacon(13, 2), now=106))
    core.handle(arrival(3, beacon(13, 2), now=106))
    assert beacons(core.handle(TimerFired(112))) == [(21, 13)]
    assert core.next_deadline() == 115
    assert beacons(core.handle(TimerFired(115))) == [(20, 13)]


def test_to_env_c_a_clock_that_steps_back_delays_a_beacon_and_does_not_lose_it() -> None:
    core = busy_switch()
    assert core.handle(TimerFired(50)) == ()
    assert core.next_deadline() == 110
    assert beacons(core.handle(TimerFired(111))) == [(20, 12)]


def test_to_bar_link_data_leave_behind_no_barrier_above_their_timestamp() -> None:
    core = switch()
    sent: dict[int, int] = {}
    events = [(1, beacon(3, 0)), (2, data(4, 0, receiver=1)), (3, data(4, 0)), (1, data(3, 1)), (2, beacon(9, 1))]
    events += [(3, data(5, 1, receiver=1)), (1, data(6, 2)), (3, beacon(9, 2)), (2, data(9, 2)), (3, data(9, 3))]
    for now, (link, packet) in enumerate(events):
        for egress, out in sends(core.handle(arrival(link, packet, now=now * 20))):
            if out.timestamp:
                assert out.timestamp >= sent.get(egress, 0)
            sent[egress] = max(sent.get(egress, 0), out.barrier)
    assert sent == {20: 6, 21: 9}


@pytest.mark.parametrize(
    ("link", "packet", "reason"),
    [
        (1, data(20, 1, receiver=1), "there is no route from link 1 to receiver 1"),  # would pass link 21's barrier
        (2, data(20, 1, receiver=7), "there is no route from link 2 to receiver 7"),
        (4, data(20, 1), "there is no route from link 4 to receiver 0"),
        (4, beacon(20, 1), "link 4 is no ingress link of this node"),
        (2, beacon(20, 0), "link number 0 came again or late; 1 is the next"),
        (2, beacon(9, 1), "barrier 9 is below the link's barrier 10 (TO-BAR-RISE)"),
        (2, data(9, 1, barrier=10), "timestamp 9 is strictly below the link's barrier 10 (TO-BAR-LINK)"),
        (2, bare(20, 1), "the barrier is absent"),
        (2, Packet(3, 9, 0, 0, 1, 0, 20, b""), "packet kind 3 does not exist"),
    ],
)
def test_a_refused_packet_changes_nothing(link: int, packet: Packet, reason: str) -> None:
    core, twin = switch(), switch()
    for node in (core, twin):
        for ingress in (1, 2, 3):
            node.handle(arrival(ingress, beacon(10, 0)))

    assert reason in refusal(core.handle(arrival(link, packet)))
    for event in (arrival(2, data(11, 1)), arrival(1, beacon(30, 1)), arrival(3, beacon(30, 1), now=50)):
        assert core.handle(event) == twin.handle(event)
    assert core.next_deadline() == twin.next_deadline()


def test_a_switch_takes_no_submission() -> None:
    with pytest.raises(LocalProtocolError, match="only hosts take submissions"):
        switch().handle(scatter(1, 0))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"reaching": ((1, 2, 3),)}, "node 9: reaching has 1 entries for 2 egress links"),
        ({"reaching": ((1, 2, 3), (4,))}, r"node 9: reaching of link 21 is \[4\]"),
        ({"next_link": ((0, 20), (1, 22))}, "node 9: next_link leads to host 1 over link 22"),
        ({"next_link": ((0, 20), (0, 21))}, "node 9: next_link names a host twice"),
    ],
)
def test_a_configuration_that_contradicts_itself_is_refused_in_one_sentence(
    changes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence):
        make_core(msgspec.structs.replace(switch_config(), **changes))
