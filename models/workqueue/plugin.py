"""The work queue, as `models` sees it."""

from __future__ import annotations

from scatterproof.models.protocol import ModelsPlugin, Narration, TraceModule, claims_beside


def _narration() -> Narration:
    from scatterproof.models.workqueue.narration import LEGEND, narrate

    return Narration(narrate=narrate, legend=LEGEND)


def _traces() -> TraceModule:
    from scatterproof.models.calls_to_tla import ACTIONS, PART
    from scatterproof.models.workqueue.trace_to_tla import reader_of

    left_out = {"Q-ANSWER": "packets are not read: spec/workqueue/TRACES.md"}
    return TraceModule(reader_of=reader_of, actions=(*ACTIONS, PART), left_out=left_out)


PLUGIN = ModelsPlugin(claims=claims_beside(__name__), narration=_narration, traces=_traces)
