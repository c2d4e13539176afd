"""What oracles of protocols with calls have in common."""

from __future__ import annotations

from scatterproof.conformance.oracles.whole import says_settled
from scatterproof.spec.trace import Kind, Trace, schema


def latest_is_answered(trace: Trace) -> set[int]:
    """The last row of a run that settled, where the latest request that came from some client has no answer."""
    packets, last = schema(trace.header.protocol).packets, len(trace.rows) - 1
    rows = list(zip(*map(trace.column, ("kind", "packet", "sender", "operation")), strict=True))
    clients = range(len(trace.header.topology.nodes))
    if not rows or trace.column("kind")[last] != Kind.ENDED or not says_settled(trace.column("flags")[last]):
        return set()

    def latest(kind: Kind, packet: str, client: int) -> int:
        of = (operation for *told, operation in rows if told == [kind, packets[packet], client])
        greatest: int = max((0, *of))
        return greatest

    behind = (latest(Kind.SENT, "answer", one) < latest(Kind.ARRIVED, "request", one) for one in clients)
    return {last} if any(behind) else set()
