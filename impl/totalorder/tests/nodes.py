"""Small words for the tests of the cores: configurations, packets and effects."""

from __future__ import annotations

from collections.abc import Sequence

from scatterproof.impl.totalorder import Host, Rules, Switch
from scatterproof.impl.totalorder.host import Out
from scatterproof.impl.totalorder.rules import RULES
from scatterproof.spec.core import Deliver, NodeConfig, PacketArrived, Parameter, Refuse, Send, Submitted
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, Delivery, Packet, PacketKind

DATA, BEACON, ACK = int(PacketKind.DATA), int(PacketKind.BEACON), int(PacketKind.ACK)
PARAMETERS: dict[str, Parameter] = {"beacon_interval_ns": 10}


def host_config(
    *, node: int = 0, environment: str = "C", ingress: tuple[int, ...] = (100, 101), **parameters: Parameter
) -> NodeConfig:
    """A host with links 10, towards hosts 0 and 1, and 11, towards host 2."""
    return NodeConfig(
        node=node,
        role=Role.HOST,
        protocol="totalorder",
        ingress=ingress,
        egress=(10, 11),
        next_link=((0, 10), (1, 10), (2, 11)),
        reaching=((), ()),
        parameters={**PARAMETERS, "environment": environment, **parameters},
    )


def host(*, rules: Rules = RULES, environment: str = "C", ingress: tuple[int, ...] = (100, 101)) -> Host:
    return Host(host_config(environment=environment, ingress=ingress), rules)


def switch_config(*, environment: str = "C") -> NodeConfig:
    """The second example's right half: links 1, 2, 3 come in; link 20 leads to host 0 and is reached by all, link 21
    leads to host 1 and is reached by 2 and 3 alone."""
    return NodeConfig(
        node=9,
        role=Role.SWITCH,
        protocol="totalorder",
        ingress=(1, 2, 3),
        egress=(20, 21),
        next_link=((0, 20), (1, 21)),
        reaching=((1, 2, 3), (2, 3)),
        parameters={**PARAMETERS, "environment": environment},
    )


def switch(*, rules: Rules = RULES, environment: str = "C") -> Switch:
    return Switch(switch_config(environment=environment), rules)


def scatter(now: int, *receivers: int) -> Submitted:
    return Submitted(now, tuple((receiver, b"to %d" % receiver) for receiver in receivers))


def data(
    timestamp: int, link_seq: int, *, sender: int = 5, receiver: int = 0, barrier: int | None = None, number: int = 1
) -> Packet:
    """A data message whose barrier is its timestamp, unless given."""
    return Packet(
        DATA, sender, receiver, number, link_seq, timestamp, timestamp if barrier is None else barrier, b"payload"
    )


def bare(timestamp: int, link_seq: int, *, sender: int = 5, receiver: int = 0) -> Packet:
    """A data message without a barrier, as in environment B."""
    return data(timestamp, link_seq, sender=sender, receiver=receiver, barrier=NO_BARRIER)


def beacon(barrier: int, link_seq: int) -> Packet:
    return Packet(BEACON, 9, 0, 0, link_seq, 0, barrier, b"")


def arrival(link: int, packet: Packet, now: int = 0) -> PacketArrived[Packet]:
    return PacketArrived(now, link, packet)


def sends(effects: Sequence[Out]) -> list[tuple[int, Packet]]:
    """(link, packet) of what was sent; nothing else may have happened."""
    found: list[tuple[int, Packet]] = []
    for effect in effects:
        assert isinstance(effect, Send)
        found.append((effect.link, effect.packet))
    return found


def beacons(effects: Sequence[Out]) -> list[tuple[int, int]]:
    """(link, barrier) of the beacons sent; nothing else may have happened."""
    assert all(packet.kind == BEACON for _, packet in sends(effects))
    return [(link, packet.barrier) for link, packet in sends(effects)]


def deliveries(effects: Sequence[Out]) -> list[tuple[int, int]]:
    """(timestamp, sender) of what was delivered; nothing else may have happened."""
    found: list[Delivery] = []
    for effect in effects:
        assert isinstance(effect, Deliver)
        found.append(effect.message)
    return [(delivery.timestamp, delivery.sender) for delivery in found]


def refusal(effects: Sequence[Out]) -> str:
    """The reason of the one refusal; nothing else may have happened."""
    (effect,) = effects
    assert isinstance(effect, Refuse)
    return effect.reason
