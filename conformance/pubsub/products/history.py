"""The history of a run at a broker: the clients' calls and deliveries, as rows of a trace."""

from __future__ import annotations

import time
from collections.abc import Sequence

from scatterproof.conformance.network.topologies import attached
from scatterproof.conformance.pubsub.recording import Recorder
from scatterproof.spec.core import Outcome, Parameter, Return
from scatterproof.spec.pubsub.messages import Delivery
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT, CLEAN, QUIESCENT, Header, Kind, Order, Row, Trace

SECOND_NS = 1_000_000_000
BROKER: NodeId = 0
_KINDS = (Kind.CALLED, Kind.RETURNED, Kind.DELIVERED, Kind.CRASHED, Kind.RESTARTED)


class History:
    """Numbers and records the calls of clients 1 to `clients`. A message's payload names its sender and number, so that
    no two messages of a run have the same."""

    def __init__(self, clients: int, grammar: str, topics: Sequence[str], filters: Sequence[str]) -> None:
        self._begun_ns, self._recorder, self._clients = time.monotonic_ns(), Recorder(), clients
        self._topics = {text: number for number, text in enumerate(topics, 1)}
        self._parameters: dict[str, Parameter] = {
            "grammar": grammar,
            "sessions": 1,
            "topics": "\n".join(topics),
            "filters": "\n".join(filters),
        }
        self._operations: dict[NodeId, int] = {}
        self._open: dict[NodeId, Call] = {}
        self.rows: list[Row] = []

    def called(self, call: Call) -> bytes:
        """Record a call; returns the payload for what it publishes."""
        number = self._operations[call.node] = self._operations.get(call.node, 0) + 1
        body = b"%d.%d" % (call.node, number)
        call = self._open[call.node] = Call(call.time_ns, call.node, call.call, call.arguments, body)
        self._note(Kind.CALLED, call.node, self._recorder.called(call.node, number, call))
        return body

    def returned(self, node: NodeId, outcome: Outcome) -> None:
        call, number = self._open.pop(node), self._operations[node]
        self._note(Kind.RETURNED, node, self._recorder.returned(node, call, Return(number, outcome, {})))

    def delivered(self, node: NodeId, topic: str, body: bytes, level: int, again: bool, retain: bool) -> None:
        """Record a delivery. A payload that names no message is recorded as one that nobody published."""
        sender, _, number = body.partition(b".")
        named = sender.isdigit() and number.isdigit() and 1 <= int(sender) <= self._clients
        of = (int(sender), int(number)) if named else (ABSENT, ABSENT)
        got = Delivery(*of, self._topics.get(topic, ABSENT), level, again, body, retain)
        self._note(Kind.DELIVERED, node, self._recorder.delivery(node, got))

    def killed(self) -> None:
        self._note(Kind.CRASHED, BROKER, self._recorder.ended(ABSENT))

    def restarted(self) -> None:
        self._note(Kind.RESTARTED, BROKER, self._recorder.ended(ABSENT))

    def trace(self, seed: int, iut: str) -> Trace:
        """The run as a trace that has settled. iut: the implementation under test, with its version."""
        now, topology = self._now_ns(), attached(1, [], [BROKER] * self._clients)
        ended = (now, now, ABSENT, int(Kind.ENDED), ABSENT, ABSENT, *self._recorder.ended(CLEAN | QUIESCENT))
        header = Header(
            protocol="pubsub",
            topology=topology,
            parameters=self._parameters,
            complete={kind.name.lower(): tuple(range(len(topology.nodes))) for kind in _KINDS},
            order=Order.LINK,
            iut=iut,
            seed=seed,
        )
        return Trace(header, [*self.rows, ended])

    def _now_ns(self) -> int:
        return time.monotonic_ns() - self._begun_ns

    def _note(self, kind: Kind, node: NodeId, tail: Row) -> None:
        now = self._now_ns()
        self.rows.append((now, now, node, int(kind), ABSENT, ABSENT, *tail))
