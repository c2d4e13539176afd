"""The work queue, as `models` sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scatterproof.models.protocol import ModelsPlugin, Narration, TraceModule

if TYPE_CHECKING:
    from scatterproof.models.claim import Claim


def _claims() -> tuple[Claim, ...]:
    import scatterproof.models.workqueue
    from scatterproof.models.z3_claims import claims_in

    return claims_in(scatterproof.models.workqueue)


def _narration() -> Narration:
    from scatterproof.models.workqueue.narration import LEGEND, narrate

    return Narration(narrate=narrate, legend=LEGEND)


def _traces() -> TraceModule:
    from scatterproof.models.calls_to_tla import ACTIONS, PART
    from scatterproof.models.workqueue.trace_to_tla import reader_of

    return TraceModule(reader_of=reader_of, actions=(*ACTIONS, PART))


PLUGIN = ModelsPlugin(claims=_claims, narration=_narration, traces=_traces)
