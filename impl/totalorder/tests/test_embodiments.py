"""Switches with two processors and with proxy hosts: they promise, and deliver, as one processor does; and what the
document leaves open between the two processors is seen to break something."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scatterproof.impl.totalorder import RULES, AnyCore, make_core
from scatterproof.impl.totalorder.codec import encode
from scatterproof.impl.totalorder.literal_embodiments import LITERAL
from scatterproof.impl.totalorder.tests.lossy import (
    INTERVAL,
    Run,
    Scenario,
    deliveries,
    play,
    promises,
    random_scenario,
    undelivered,
)
from scatterproof.impl.totalorder.tests.network import TOPOLOGIES, Arrived, Sent
from scatterproof.impl.totalorder.tests.nodes import (
    BEACON,
    DATA,
    arrival,
    beacon,
    host_config,
    refusal,
    sends,
    switch_config,
)
from scatterproof.impl.totalorder.tests.states import state
from scatterproof.spec.core import NodeConfig, Parameter, Refuse, TimerFired, node_config
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import Role, Topology, route
from scatterproof.spec.totalorder import proxies
from scatterproof.spec.totalorder.messages import NO_BARRIER, Packet, PacketKind

HANDED, RETURNED = int(PacketKind.HANDED), int(PacketKind.RETURNED)
SHAPES = ("star", "row")
ENVIRONMENTS = ("B", "D7", "D8")
# The first processor is the slow one, then the second, then a proxy host beside each switch, then one for all.
FORMS = ("slow data", "slow beacons", "proxies", "one proxy")


def parameters(form: str, topology: Topology) -> dict[str, Parameter]:
    if form == "slow data":
        return {"switch": "two", "processor_delay_ns": 3, "forwarding_delay_ns": 15}
    if form == "slow beacons":
        return {"switch": "two", "processor_delay_ns": 25}
    hosts = proxies.nearest(topology)
    if form == "one proxy":
        hosts = dict.fromkeys(hosts, topology.hosts()[-1])
    return {
        "switch": "proxy",
        "processor_delay_ns": 5,
        "forwarding_delay_ns": 9,
        "proxies": proxies.parameter(topology, hosts),
    }


def scenario(shape: str, environment: str, form: str, seed: int) -> Scenario:
    found = random_scenario(shape, environment, seed)
    found.parameters |= parameters(form, TOPOLOGIES[shape])
    found.loss, found.loss_ends, found.ends = (0.0 if environment == "B" else 0.1), 700, 2500
    return found


def early(run: Run) -> list[Sent]:
    """The beacons of switches that promise more than had arrived when they left."""
    reaching = route(run.scenario.topology).reaching
    newest = [0] * len(run.scenario.topology.links)
    found: list[Sent] = []
    for entry in run.log:
        if not isinstance(entry, Sent | Arrived) or entry.packet.kind != BEACON or entry.packet.barrier == NO_BARRIER:
            continue
        if isinstance(entry, Arrived):
            newest[entry.link] = entry.packet.barrier
            continue
        at_switch = run.scenario.topology.nodes[entry.node].role is Role.SWITCH
        if at_switch and entry.packet.barrier > min(newest[link] for link in reaching[entry.link]):
            found.append(entry)
    return found


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_to_sw_path_no_form_of_a_switch_breaks_a_promise_or_keeps_a_message(
    shape: str, form: str, environment: str
) -> None:
    run = play(scenario(shape, environment, form, FORMS.index(form)))
    assert deliveries(run) | promises(run) == set()
    assert undelivered(run) == set()
    assert run.refused == []
    assert early(run) == []


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_to_sw_1_to_6_every_form_of_a_switch_delivers_the_same_in_the_same_order(environment: str) -> None:
    runs = [play(scenario("row", environment, form, 7)) for form in FORMS]
    plain = scenario("row", environment, FORMS[0], 7)
    plain.parameters |= {"switch": "one"}
    expected = play(plain)
    for form, run in zip(FORMS, runs, strict=True):
        for host in plain.topology.hosts():
            assert run.delivered(host) == expected.delivered(host), f"{form}, host {host}"


def test_to_sw_6_a_proxy_host_serves_switches_behind_other_switches() -> None:
    run = play(scenario("row", "B", "one proxy", 1))
    passed = [entry for entry in run.log if isinstance(entry, Sent) and entry.packet.kind in (HANDED, RETURNED)]

    # Host 2 is at switch 4; switch 3 reaches it over switch 4 alone.
    assert {(entry.node, entry.packet.kind, entry.packet.sender) for entry in passed} == {
        (3, HANDED, 3),
        (4, HANDED, 3),
        (4, HANDED, 4),
        (2, RETURNED, 2),
        (4, RETURNED, 2),
    }


# What the document leaves open, as it may turn out.


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_to_sw_path_a_beacon_that_overtakes_waiting_data_breaks_the_promise_of_its_link(environment: str) -> None:
    found = scenario("row", environment, "slow data", 0)
    found.make = LITERAL["beacons overtake data"]
    assert "TO-BAR-LINK" in promises(play(found))


@pytest.mark.parametrize("environment", ["D7", "D8"])
def test_to_lossctr_a_late_beacon_with_early_values_hides_what_was_greatest(environment: str) -> None:
    found = scenario("star", environment, "slow beacons", 0)
    found.make = LITERAL["beacons leave as made"]
    assert "TO-SWLOSS" in promises(play(found))


def test_to_sw_path_beacons_that_return_out_of_order_break_the_promise_of_their_link() -> None:
    found = scenario("star", "B", "proxies", 0)
    found.make = LITERAL["beacons return out of order"]
    assert "TO-BAR-RISE" in promises(play(found))


def test_to_sw_path_a_switch_on_the_way_to_a_proxy_must_not_aggregate() -> None:
    found = scenario("row", "B", "one proxy", 0)
    found.make = LITERAL["beacons are aggregated on the way"]
    assert early(play(found)) != []


# One switch, by hand. Links 1, 2, 3 come in, 20 and 21 lead out; 21 is reached by 2 and 3 alone.


def bare(timestamp: int, link_seq: int) -> Packet:
    return Packet(DATA, 5, 0, 1, link_seq, timestamp, NO_BARRIER, b"payload")


def two(processor_delay_ns: int, forwarding_delay_ns: int) -> AnyCore:
    config = switch_config(environment="B")
    delays: dict[str, Parameter] = {
        "switch": "two",
        "processor_delay_ns": processor_delay_ns,
        "forwarding_delay_ns": forwarding_delay_ns,
    }
    return make_core(replace(config, parameters={**config.parameters, **delays}))


def test_to_sw_2_a_beacon_waits_for_data_that_came_before_it() -> None:
    switch = two(0, 5)
    for link in (1, 2, 3):
        switch.handle(arrival(link, beacon(10, 0), now=0))
    assert switch.handle(arrival(1, bare(10, 1), now=20)) == []
    # Beacons of 50 on all three links: the minimum rises at once, and waits for the message.
    for link in (1, 2, 3):
        assert [entry for entry in sends(switch.handle(arrival(link, beacon(50, 2), now=21))) if entry[0] == 20] == []
    sent = sends(switch.handle(TimerFired(25)))

    assert [(link, packet.kind) for link, packet in sent if link == 20] == [(20, DATA), (20, BEACON)]
    assert [packet.link_seq for link, packet in sent if link == 20] == [1, 2]


def test_to_sw_2_the_second_processor_makes_its_beacons_later() -> None:
    switch = two(7, 0)
    for link in (1, 2, 3):
        assert switch.handle(arrival(link, beacon(10, 0), now=3)) == []
    assert switch.next_deadline() == 10
    # Data need not wait for it.
    assert [packet.kind for _, packet in sends(switch.handle(arrival(1, bare(10, 1), now=5)))] == [DATA]
    assert {(link, packet.barrier) for link, packet in sends(switch.handle(TimerFired(10)))} == {(20, 10), (21, 10)}


def star_parameters() -> dict[str, Parameter]:
    return {"environment": "B", "beacon_interval_ns": INTERVAL, **parameters("proxies", TOPOLOGIES["star"])}


def in_star(node: int) -> NodeConfig:
    topology = TOPOLOGIES["star"]
    return node_config(node, topology, route(topology), "totalorder", star_parameters())


def returned(barrier: int, link_seq: int, *, sender: int = 0, number: int = 1, payload: bytes | None = None) -> Packet:
    """What host 0 returns to switch 3, whose links from and to host 0 are 0 and 1."""
    inner = encode(Packet(BEACON, 3, 0, 0, 0, 0, barrier, b"")) if payload is None else payload
    return Packet(RETURNED, sender, 3, number, link_seq, 0, NO_BARRIER, inner)


@pytest.mark.parametrize(
    ("link", "packet", "reason"),
    [
        (0, returned(30, 1, sender=1), "not the proxy host"),
        (2, returned(30, 0), "not the proxy host"),
        (0, returned(30, 1, number=0), "no egress link"),
        (0, returned(19, 1), "TO-SW-PATH"),
        (0, returned(30, 0), "FIFO"),
        (0, returned(30, 1, payload=b""), "no beacon"),
        (0, returned(30, 1, payload=encode(Packet(BEACON, 3, 0, 0, 0, 0, 30, b"", 29))), "of this environment"),
        (0, replace(returned(30, 1), receiver=4), "not on the way"),
        (0, Packet(HANDED, 4, 0, 0, 1, 0, NO_BARRIER, returned(30, 0).payload), "not on the way"),
    ],
)
def test_to_sw_6_a_switch_refuses_what_its_proxy_host_cannot_have_sent(link: int, packet: Packet, reason: str) -> None:
    switch = make_core(in_star(3))
    assert [found.barrier for _, found in sends(switch.handle(arrival(0, returned(20, 0))))] == [20]
    before = state(switch)

    assert reason in refusal(switch.handle(arrival(link, packet)))
    assert state(switch) == before


@pytest.mark.parametrize(
    ("link", "packet", "reason"),
    [
        (1, Packet(HANDED, 3, 1, 0, 1, 0, NO_BARRIER, returned(30, 0).payload), "none is due"),
        (1, Packet(HANDED, 4, 0, 0, 1, 0, NO_BARRIER, returned(30, 0).payload), "none is due"),
        (1, Packet(HANDED, 3, 0, 1, 1, 0, NO_BARRIER, returned(30, 0).payload), "no ingress link"),
        (1, Packet(HANDED, 3, 0, 0, 0, 0, NO_BARRIER, returned(30, 0).payload), "FIFO"),
        (1, Packet(HANDED, 3, 0, 0, 1, 0, NO_BARRIER, b"?"), "no beacon"),
        (
            1,
            Packet(HANDED, 3, 0, 0, 1, 0, NO_BARRIER, encode(Packet(BEACON, 3, 0, 0, 0, 0, 30, b"", 29))),
            "no beacon of",
        ),
        (1, returned(30, 1), "does not exist"),
    ],
)
def test_to_sw_6_a_proxy_host_refuses_what_no_switch_has_handed_over(link: int, packet: Packet, reason: str) -> None:
    host = make_core(in_star(0))
    handed = Packet(HANDED, 3, 0, 0, 0, 0, NO_BARRIER, returned(10, 0).payload)
    assert not any(isinstance(effect, Refuse) for effect in host.handle(arrival(1, handed)))
    before = state(host)

    assert reason in refusal(host.handle(arrival(link, packet)))
    assert state(host) == before


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"switch": "three"}, "give one of one, two, proxy"),
        ({"switch": "two", "environment": "C"}, "choose environment B, D7 or D8"),
        ({"switch": "proxy"}, "proxies names none"),
        ({"switch": "two", "environment": "D8", "failure_timeout_ns": 50}, "one processor alone"),
        ({"switch": "proxy", "proxies": "3:0"}, "no list of proxies"),
        ({"switch": "two", "processor_delay_ns": -1}, "processor_delay_ns is -1"),
        ({"switch": "two", "forwarding_delay_ns": "2"}, "forwarding_delay_ns is '2'"),
        (
            {
                "switch": "proxy",
                "proxies": '[{"switch":9,"host":0,"there":[20],"back":[1],"ingress":[],"egress":[],"reaching":[]}]',
            },
            "other links",
        ),
    ],
)
def test_parameters_that_no_switch_can_follow_are_refused(changed: dict[str, Parameter], sentence: str) -> None:
    config = switch_config(environment="B")
    with pytest.raises(BadInput, match=sentence):
        make_core(replace(config, parameters={**config.parameters, **changed}))


def test_a_host_that_is_no_proxy_is_what_it_is_elsewhere() -> None:
    plain = make_core(host_config(environment="B"))
    assert type(make_core(in_star(1))) is type(plain)
    assert type(make_core(host_config(environment="B", switch="two"), RULES)) is type(plain)
