"""Total order, as `models` sees it."""

from __future__ import annotations

from scatterproof.models.protocol import Covered, ModelsPlugin, Narration, TraceModule, claims_beside


def _narration() -> Narration:
    from scatterproof.models.totalorder.telling.narration import LEGEND, narrate

    return Narration(narrate=narrate, legend=LEGEND)


def _covered() -> Covered:
    """The models of environment A, whose runs repeat the behaviour arrival by arrival."""
    from scatterproof.models.totalorder.schedule_of_trace import schedule_of_trace

    return Covered(models=("environment_a", "second_topology", "clock_ahead"), schedule_of=schedule_of_trace)


def _traces() -> TraceModule:
    from scatterproof.models.totalorder.trace_to_tla import reader_of
    from scatterproof.spec.totalorder.messages import REGULAR

    return TraceModule(reader_of=reader_of, actions=REGULAR)


PLUGIN = ModelsPlugin(claims=claims_beside(__name__), narration=_narration, covered=_covered, traces=_traces)
