"""The calls of a product's clients, and what they are handed, as rows: one history for each run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from scatterproof.conformance.adapters.products import CLIENTS
from scatterproof.conformance.adapters.steps import Vocabulary
from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.workqueue.recording import Recorder
from scatterproof.spec.core import Outcome, Parameter, Return
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT, CLEAN, QUIESCENT, Header, Kind, Order, Row, Trace, schema
from scatterproof.spec.workqueue.messages import CallName, Handed

SECOND_NS = 1_000_000_000
_OUTCOME = schema("workqueue").columns.index("outcome")
PARAMETERS: dict[str, Parameter] = {"leased": 1, "window_ns": 300 * SECOND_NS, "margin_ns": SECOND_NS // 10}


def vocabulary(move: type[Enum] | None = None, step: type[Any] | None = None) -> Vocabulary:
    calls: dict[str, dict[str, int]] = {
        CallName.PUT_MESSAGE: {"group": 1, "dedup": 0},
        CallName.RECEIVE: {"most": 1, "lease_ns": 1_000_000 * SECOND_NS},
        CallName.RECEIVE_ASIDE: {"most": 1, "lease_ns": 1_000_000 * SECOND_NS},
        CallName.DELETE: {"newest": 0},
        CallName.EXTEND: {"newest": 0, "lease_ns": 1_000_000 * SECOND_NS},
        CallName.GIVE_BACK: {"newest": 0},
    }
    return Vocabulary(calls, move, step)


class History:
    """Numbers and records the calls of clients 1 to CLIENTS. The body of a message is its name: sender and number."""

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock, self._begun_ns = clock, clock()
        self._recorder = Recorder()
        self._operations: dict[NodeId, int] = {}
        self._open: dict[NodeId, Call] = {}
        self.rows: list[Row] = []

    def now_ns(self) -> int:
        return self._clock() - self._begun_ns

    def called(self, call: Call, since_ns: int | None = None) -> bytes:
        """Record a call; returns the body for a message that it puts. since_ns: when it was called; None for now."""
        number = self._operations[call.node] = self._operations.get(call.node, 0) + 1
        body = b"%d.%d" % (call.node, number)
        call = self._open[call.node] = Call(call.time_ns, call.node, call.call, call.arguments, body)
        self._note(Kind.CALLED, call.node, self._recorder.called(call.node, number, call), since_ns)
        return body

    def handed(self, node: NodeId, body: bytes, receipt: int, group: int = 1) -> Handed:
        """Record a message that is handed to the client's call in progress. receipt: a number no other hand-out has."""
        sender, number = map(int, body.split(b"."))
        handed = Handed(sender, number, group, receipt, body)
        self._note(Kind.DELIVERED, node, self._recorder.delivery(node, handed))
        return handed

    def returned(self, node: NodeId, outcome: Outcome = Outcome.OK, about: Handed | None = None) -> None:
        """Record the return of the client's call. about: the message that the call is about, if any."""
        results: Mapping[str, Parameter] = (
            {} if about is None else {"sender": about.sender, "number": about.number, "receipt": about.receipt}
        )
        call, number = self._open.pop(node), self._operations[node]
        self._note(Kind.RETURNED, node, self._recorder.returned(node, call, Return(number, outcome, results)))

    def last(self) -> int:
        """The index of the last row."""
        return len(self.rows) - 1

    def forget(self, place: int) -> None:
        """Make the outcome of the return in row `place` unknown."""
        row = list(self.rows[place])
        row[_OUTCOME] = int(Outcome.UNKNOWN)
        self.rows[place] = tuple(row)

    def trace(self, seed: int, iut: str, **promised: Parameter) -> Trace:
        """The run as a trace. iut: what is under test, with its version. promised: parameters beside the usual ones."""
        now, topology = self.now_ns(), served(CLIENTS)
        ended = (now, now, ABSENT, int(Kind.ENDED), ABSENT, ABSENT, *self._recorder.ended(CLEAN | QUIESCENT))
        kinds = (Kind.CALLED, Kind.RETURNED, Kind.DELIVERED, Kind.CRASHED, Kind.RESTARTED)
        header = Header(
            protocol="workqueue",
            topology=topology,
            parameters={**PARAMETERS, **promised},
            complete={kind.name.lower(): tuple(range(len(topology.nodes))) for kind in kinds},
            order=Order.LINK,
            iut=iut,
            seed=seed,
        )
        return Trace(header, [*self.rows, ended])

    def _note(self, kind: Kind, node: NodeId, tail: Row, at_ns: int | None = None) -> None:
        now = self.now_ns() if at_ns is None else at_ns
        self.rows.append((now, now, node, int(kind), ABSENT, ABSENT, *tail))
