"""The traces of publish and subscribe that TLC cannot read: its module has no sessions, so that a client which connects
and goes is none of its own."""

from __future__ import annotations

from scatterproof.models.trace_validation import Judgement
from scatterproof.spark.tests.agreement import Differences, Otherwise, traces_of
from scatterproof.spec.trace import schema

_CONNECT = schema("pubsub").calls["connect"]
_UNREAD = Otherwise(why="a client connects, and the module has no sessions", judgement=Judgement.CANNOT_RUN)

DIFFERENCES = Differences(
    otherwise={name: _UNREAD for name, (_, trace) in traces_of("pubsub").items() if _CONNECT in trace.column("call")}
)
