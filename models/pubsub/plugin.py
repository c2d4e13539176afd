"""Publish and subscribe, as `models` sees it."""

from __future__ import annotations

from scatterproof.models.protocol import ModelsPlugin, TraceModule, claims_beside

_LEFT_OUT = dict.fromkeys(
    ("PS-QOS-GD", "PS-SESSION", "PS-PER-PUBLISHER", "PS-PERSISTED", "PS-RETAIN", "PS-EXPIRE", "PS-SHARED"),
    "the module has no sessions and no shared subscriptions, and nothing is kept for who subscribes later",
) | dict.fromkeys(("PS-MULTIPATH", "PS-NEIGHBOUR"), "the module reads no packets with messages")


def _traces() -> TraceModule:
    from scatterproof.models.pubsub.trace_to_tla import ACTIONS, reader_of

    return TraceModule(reader_of=reader_of, actions=ACTIONS, left_out=_LEFT_OUT)


PLUGIN = ModelsPlugin(claims=claims_beside(__name__), traces=_traces)
