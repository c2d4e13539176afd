"""Publish and subscribe, as `models` sees it."""

from __future__ import annotations

from scatterproof.models.protocol import ModelsPlugin, TraceModule, claims_beside


def _traces() -> TraceModule:
    from scatterproof.models.pubsub.trace_to_tla import ACTIONS, reader_of

    return TraceModule(reader_of=reader_of, actions=ACTIONS)


PLUGIN = ModelsPlugin(claims=claims_beside(__name__), traces=_traces)
