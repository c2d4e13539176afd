"""Processes of a small full mesh, for tests that hand them events one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scatterproof.impl.broadcast import RULES, Rules, Stack, make_core
from scatterproof.impl.broadcast.link import Out
from scatterproof.spec.broadcast.messages import Beginning, Packet, PacketKind
from scatterproof.spec.core import (
    Began,
    Deliver,
    NodeConfig,
    PacketArrived,
    Parameter,
    Refuse,
    Send,
    Submitted,
    TimerFired,
)
from scatterproof.spec.schedule import EVERYBODY
from scatterproof.spec.topology import NodeId, Role

DATA, ACK = int(PacketKind.DATA), int(PacketKind.ACK)
RESEND_NS = 1_600
ACK_DELAY_NS = RESEND_NS // 16


def config(node: NodeId, processes: int, **parameters: Parameter) -> NodeConfig:
    """The link from process p is p, the link to it is `processes` + p."""
    peers = [peer for peer in range(processes) if peer != node]
    return NodeConfig(
        node=node,
        role=Role.HOST,
        protocol="broadcast",
        ingress=tuple(peers),
        egress=tuple(processes + peer for peer in peers),
        next_link=tuple((peer, processes + peer) for peer in peers),
        reaching=((),) * len(peers),
        parameters={"resend_ns": RESEND_NS, **parameters},
    )


def process(node: NodeId, processes: int, rules: Rules = RULES, **parameters: Parameter) -> Stack:
    return make_core(config(node, processes, **parameters), rules)


def hand(core: Stack, *payloads: bytes, now: int = 0, receiver: NodeId = EVERYBODY) -> list[Out]:
    """The effects of one submission."""
    return list(core.handle(Submitted(now, tuple((receiver, payload) for payload in payloads))))


def arrive(core: Stack, packet: Packet, now: int = 0) -> list[Out]:
    return list(core.handle(PacketArrived(now, packet.source, packet)))


def wake(core: Stack, now: int) -> list[Out]:
    return list(core.handle(TimerFired(now)))


def data(
    source: NodeId,
    receiver: NodeId,
    creator: NodeId,
    first: int,
    pseq: int,
    count: int = 1,
    payload: bytes = b"",
    clock: tuple[int, ...] = (),
) -> Packet:
    return Packet(DATA, source, receiver, creator, first, count, pseq, False, payload, clock)


def ack(source: NodeId, receiver: NodeId, prefix: int, first: int, count: int = 1) -> Packet:
    return Packet(ACK, source, receiver, source, prefix, count, first)


def sent(effects: Iterable[Out], kind: int = DATA) -> list[Packet]:
    return [effect.packet for effect in effects if isinstance(effect, Send) and effect.packet.kind == kind]


def delivered(effects: Iterable[Out]) -> list[tuple[NodeId, int]]:
    return [(effect.message.creator, effect.message.number) for effect in effects if isinstance(effect, Deliver)]


def begun(effects: Iterable[Out]) -> list[Beginning]:
    return [effect.message for effect in effects if isinstance(effect, Began)]


def refusals(effects: Iterable[Out]) -> list[str]:
    return [effect.reason for effect in effects if isinstance(effect, Refuse)]


def settle(cores: Sequence[Stack], effects: Iterable[Out], now: int, without: frozenset[NodeId] = frozenset()) -> None:
    """Hand all packets over until nothing is in flight, nothing is lost, and all is acknowledged; time goes on by no
    more than the acknowledgements' delay. Processes in `without` take nothing."""
    waiting = [effect.packet for effect in effects if isinstance(effect, Send)]
    while True:
        while waiting:
            packet = waiting.pop(0)
            if packet.receiver not in without:
                found = arrive(cores[packet.receiver], packet, now)
                assert not refusals(found)
                waiting += [effect.packet for effect in found if isinstance(effect, Send)]
        now += ACK_DELAY_NS
        for node, core in enumerate(cores):
            deadline = core.next_deadline()
            if node not in without and deadline is not None and deadline <= now:
                waiting += [effect.packet for effect in wake(core, now) if isinstance(effect, Send)]
        if not waiting:
            return
