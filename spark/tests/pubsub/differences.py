"""The traces of publish and subscribe that TLC cannot read: its module has no sessions, so clients cannot connect and
go, nobody shares a subscription, and it keeps nothing for who subscribes later."""

from __future__ import annotations

from scatterproof.models.trace_validation import Judgement
from scatterproof.spark.tests.agreement import Differences, Otherwise, traces_of
from scatterproof.spec.trace import Trace, schema

_CONNECT = schema("pubsub").calls["connect"]
_UNREAD = Otherwise(why="the module has no sessions, no groups, and keeps nothing", judgement=Judgement.CANNOT_RUN)


def _is_read(trace: Trace) -> bool:
    is_shared = any(group > 0 for group in trace.column("group"))
    return _CONNECT not in trace.column("call") and 1 not in trace.column("retain") and not is_shared


DIFFERENCES = Differences(
    otherwise={name: _UNREAD for name, (_, trace) in traces_of("pubsub").items() if not _is_read(trace)}
)
