"""The broadcast stack, as `impl` sees it."""

from __future__ import annotations

from scatterproof.impl.broadcast import codec, make_core
from scatterproof.impl.broadcast.records import Records
from scatterproof.impl.protocol import ImplPlugin, MakeCore


def _twin(_: str) -> MakeCore:
    """Processes that use every freedom that the clauses leave."""
    from scatterproof.impl.broadcast import twin

    return twin.make_core


PLUGIN = ImplPlugin(
    make_core=make_core,
    encode=codec.encode,
    decode=codec.decode,
    flaw=codec.flaw,
    records=Records,
    further={"twin": _twin},
    program="-m scatterproof.impl.broadcast.program --id {id} --hosts {hosts} --output {output} {config}",
)
