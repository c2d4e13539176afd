"""Publish and subscribe, as `impl` sees it."""

from __future__ import annotations

from scatterproof.impl.packed import CallRecords, Malformed, decoder, encode, out_of_range
from scatterproof.impl.protocol import ImplPlugin, MakeCore
from scatterproof.impl.pubsub import make_core
from scatterproof.spec.pubsub.messages import CallName, Packet, PacketName


def _twin(_: str) -> MakeCore:
    """Nodes that use every freedom that the clauses leave."""
    from scatterproof.impl.pubsub import twin

    return twin.make_core


def _flaw(packet: Packet) -> Malformed | None:
    if packet.kind not in set(PacketName) or packet.call not in {"", *CallName}:
        return Malformed.UNKNOWN_KIND
    fits = 0 <= packet.hop < 1 << 32 and 0 <= packet.serial < 1 << 63 and 0 <= packet.outcome <= 2
    return out_of_range(fits, (packet.sender, packet.number, packet.topic, packet.filter, packet.level))


PLUGIN = ImplPlugin(
    make_core=make_core,
    encode=encode,
    decode=decoder(Packet, _flaw),
    flaw=_flaw,
    records=lambda: CallRecords({"sender": "sender", "number": "number"}, ("sender", "number", "topic", "level")),
    further={"twin": _twin},
)
