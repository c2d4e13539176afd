"""Hostile frames: the P4 switch takes what the reference switch takes, and refuses what it refuses without a trace."""

from __future__ import annotations

from collections import Counter

import pytest

from scatterproof.impl.totalorder.codec import Malformed, decode
from scatterproof.impl.totalorder.p4.builds import DEFAULT
from scatterproof.impl.totalorder.p4.frames import address, frame, ip_packet, packet_of
from scatterproof.impl.totalorder.p4.tests.twins import Twins
from scatterproof.impl.totalorder.tests.datagrams import Attacker, Dice
from scatterproof.impl.totalorder.tests.test_codec_fuzz import configs
from scatterproof.spec.core import NodeConfig, PacketArrived, TimerFired
from scatterproof.spec.topology import LinkId, Role
from scatterproof.spec.totalorder.messages import Environment, Packet, PacketKind

NODES = 4
EPISODE = 150


def around(datagram: bytes) -> bytes:
    return bytes(12) + b"\x08\x00" + ip_packet(datagram, address(1), address(2), 64)


def bombard(config: NodeConfig, seed: int, outcomes: Counter[str], build: str = DEFAULT) -> list[str]:
    """Give hostile datagrams to a reference switch and a P4 switch; returns where they differ."""
    draw, twins = Dice(seed), Twins(build)
    twin = twins.twin(config)
    attackers: dict[LinkId, Attacker] = {
        link: Attacker(draw, Environment(str(config.parameters["environment"])), NODES) for link in config.ingress
    }
    now = 0
    for _ in range(EPISODE):
        now += draw.below(7)
        deadline = twin.next_deadline()
        if deadline is not None and deadline <= now:
            twin.handle(TimerFired(now))
        link = draw.one_of(config.ingress)
        datagram = attackers[link].datagram()
        packet = decode(datagram)
        if isinstance(packet, Malformed):
            outcomes[packet] += 1
            twin.take_malformed(now, link, around(datagram))
        else:
            outcomes["packet"] += 1
            twin.handle(PacketArrived(now, link, packet))
    return twins.differences[:2]


@pytest.mark.parametrize("environment", Environment)
def test_hostile_frames_are_taken_and_refused_as_by_the_reference(environment: Environment) -> None:
    outcomes = Counter[str]()
    for config in configs(environment):
        if config.role is Role.SWITCH:
            for seed in range(4):
                assert bombard(config, seed, outcomes) == []
    assert outcomes["packet"] > 100
    assert len(outcomes) > 8


PACKET = Packet(int(PacketKind.DATA), 1, 0, 1, 0, 5, 5, b"abc")


def test_other_protocols_and_broken_headers_are_refused() -> None:
    config = next(config for config in configs(Environment.C) if config.role is Role.SWITCH)
    twins = Twins()
    twin = twins.twin(config)
    sound = frame(PACKET)
    damaged = {
        "no IPv4": sound[:12] + b"\x86\xdd" + sound[14:],
        "options in IPv4": sound[:14] + b"\x46" + sound[15:],
        "a fragment": sound[:20] + b"\x20\x00" + sound[22:],
        "TCP": sound[:23] + b"\x06" + sound[24:],
        "a wrong checksum of IPv4": sound[:24] + bytes([sound[24] ^ 1]) + sound[25:],
        "another port": sound[:36] + b"\x00\x07" + sound[38:],
        "a length of UDP that is too short": sound[:38] + b"\x00\x10" + sound[40:],
        "a frame that ends early": sound[:-1],
        "a frame of nothing": b"",
        "headers alone": sound[:42],
    }
    for data in damaged.values():
        twin.take_malformed(1, config.ingress[0], data)
    assert twins.differences == []
    # What Ethernet has filled up is no part of the datagram.
    effects = twin.arrive_frame(1, config.ingress[0], sound + bytes(9))
    assert len(effects) == 1
    assert packet_of(sound) == PACKET
