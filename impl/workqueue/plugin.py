"""The queue with correlated message groups, as `impl` sees it."""

from __future__ import annotations

from scatterproof.impl.protocol import ImplPlugin
from scatterproof.impl.workqueue import make_core, wire

PLUGIN = ImplPlugin(make_core=make_core, encode=wire.encode, decode=wire.decode, flaw=wire.flaw, records=wire.Records)
