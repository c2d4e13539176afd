"""The broadcast stack, as `models` sees it."""

from __future__ import annotations

from scatterproof.models.broadcast.narration import LEGEND, narrate
from scatterproof.models.broadcast.trace_to_tla import reader_of
from scatterproof.models.protocol import ModelsPlugin, Narration, TraceModule, claims_beside
from scatterproof.spec.broadcast.messages import REGULAR

PLUGIN = ModelsPlugin(
    claims=claims_beside(__name__),
    narration=lambda: Narration(narrate=narrate, legend=LEGEND),
    traces=lambda: TraceModule(reader_of=reader_of, actions=REGULAR),
)
