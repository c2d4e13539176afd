"""The broadcast stack, as `models` sees it."""

from __future__ import annotations

from scatterproof.models.protocol import ModelsPlugin, Narration, TraceModule, claims_beside


def _narration() -> Narration:
    from scatterproof.models.broadcast.narration import LEGEND, narrate

    return Narration(narrate=narrate, legend=LEGEND)


def _traces() -> TraceModule:
    from scatterproof.models.broadcast.trace_to_tla import reader_of
    from scatterproof.spec.broadcast.messages import REGULAR

    return TraceModule(reader_of=reader_of, actions=REGULAR)


PLUGIN = ModelsPlugin(claims=claims_beside(__name__), narration=_narration, traces=_traces)
