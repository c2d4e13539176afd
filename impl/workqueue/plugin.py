"""The queue with correlated message groups, as `impl` sees it."""

from __future__ import annotations

from scatterproof.impl.packed import CallRecords, Malformed, decoder, encode, out_of_range
from scatterproof.impl.protocol import ImplPlugin, MakeCore
from scatterproof.impl.workqueue import make_core
from scatterproof.spec.workqueue.messages import COLUMNS, CallName, Packet


def _twin(_: str) -> MakeCore:
    """A store that uses every freedom that the clauses leave."""
    from scatterproof.impl.workqueue import twin

    return twin.make_core


def _flaw(packet: Packet) -> Malformed | None:
    if packet.call not in set(CallName):
        return Malformed.UNKNOWN_KIND
    fits = 0 <= packet.client < 1 << 32 and 0 < packet.operation < 1 << 63 and 0 <= packet.outcome <= 2
    return out_of_range(fits, (getattr(packet, name) for name in COLUMNS))


PLUGIN = ImplPlugin(
    make_core=make_core,
    encode=encode,
    decode=decoder(Packet, _flaw),
    flaw=_flaw,
    records=lambda: CallRecords(
        {"sender": "client", "operation": "operation"}, ("sender", "number", "group", "receipt")
    ),
    further={"twin": _twin},
)
