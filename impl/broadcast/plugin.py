"""The broadcast stack, as `impl` sees it."""

from __future__ import annotations

from scatterproof.impl.broadcast import codec, make_core, twin
from scatterproof.impl.broadcast.records import Records
from scatterproof.impl.protocol import ImplPlugin

PLUGIN = ImplPlugin(
    make_core=make_core,
    encode=codec.encode,
    decode=codec.decode,
    flaw=codec.flaw,
    records=Records,
    further={"twin": lambda _: twin.make_core},
    program="-m scatterproof.impl.broadcast.program --id {id} --hosts {hosts} --output {output} {config}",
)
