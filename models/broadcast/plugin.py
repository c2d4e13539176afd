"""The broadcast stack, as `models` sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.protocol import ModelsPlugin, Narration, TraceModule

if TYPE_CHECKING:
    from models.claim import Claim


def _claims() -> tuple[Claim, ...]:
    import models.broadcast
    from models.z3_claims import claims_in

    return claims_in(models.broadcast)


def _narration() -> Narration:
    from models.broadcast.narration import LEGEND, narrate

    return Narration(narrate=narrate, legend=LEGEND)


def _traces() -> TraceModule:
    from models.broadcast.trace_to_tla import ACTIONS, reader_of

    return TraceModule(reader_of=reader_of, actions=ACTIONS)


PLUGIN = ModelsPlugin(claims=_claims, narration=_narration, traces=_traces)
