"""Publish and subscribe, as `impl` sees it."""

from __future__ import annotations

from scatterproof.impl.protocol import ImplPlugin, MakeCore
from scatterproof.impl.pubsub import make_core, wire


def _twin(_: str) -> MakeCore:
    """Nodes that use every freedom that the clauses leave."""
    from scatterproof.impl.pubsub import twin

    return twin.make_core


PLUGIN = ImplPlugin(
    make_core=make_core,
    encode=wire.encode,
    decode=wire.decode,
    flaw=wire.flaw,
    records=wire.Records,
    further={"twin": _twin},
)
