"""The broadcast stack, as `models` sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scatterproof.models.protocol import ModelsPlugin, Narration, TraceModule

if TYPE_CHECKING:
    from scatterproof.models.claim import Claim


def _claims() -> tuple[Claim, ...]:
    import scatterproof.models.broadcast
    from scatterproof.models.z3_claims import claims_in

    return claims_in(scatterproof.models.broadcast)


def _narration() -> Narration:
    from scatterproof.models.broadcast.narration import LEGEND, narrate

    return Narration(narrate=narrate, legend=LEGEND)


def _traces() -> TraceModule:
    from scatterproof.models.broadcast.trace_to_tla import ACTIONS, reader_of

    return TraceModule(reader_of=reader_of, actions=ACTIONS)


PLUGIN = ModelsPlugin(claims=_claims, narration=_narration, traces=_traces)
