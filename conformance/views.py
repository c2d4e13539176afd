"""What an observer knows of each node while the rows of a run go by: what every protocol has, and what a protocol's
own `ProtocolView` adds to it. A view is plain data with methods, so that it can be copied by pickling."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from scatterproof.conformance.protocol import load
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Header, Kind, Row, schema

LATEST = 12  # deliveries and messages of a buffer that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """facts: name and value, such as a barrier; those that a reader looks for first.
    buffer: what has arrived and was not delivered yet, at most `LATEST`, of `buffered`.
    deliveries: the latest, of `delivered`, the last one first.
    """

    status: str
    facts: tuple[tuple[str, str], ...]
    buffer: tuple[str, ...]
    buffered: int
    deliveries: tuple[str, ...]
    delivered: int


@dataclass(slots=True)
class _Common:
    """What is counted at each node, whatever the protocol."""

    status: str = "up"
    submitted: int = 0
    sent: int = 0
    arrived: int = 0
    delivered: int = 0
    called: int = 0
    returned: int = 0
    latest: deque[Row] = field(default_factory=lambda: deque(maxlen=LATEST))


_STATUS = {Kind.CRASHED: "crashed", Kind.RESTARTED: "up", Kind.PAUSED: "paused", Kind.RESUMED: "up"}


class RowView:
    """All nodes at one row."""

    def __init__(self, header: Header) -> None:
        self._nodes = [_Common() for _ in header.topology.nodes]
        own = load(header.protocol).view
        self._own = None if own is None else own(header)
        self._protocol = header.protocol
        columns = schema(header.protocol)
        self._kind, self._node, self._link = (columns.index(name) for name in ("kind", "node", "link"))

    def see(self, row: Row) -> None:
        kind = row[self._kind]
        if kind == Kind.ENDED:
            return
        node = self._nodes[row[self._node]]
        if kind == Kind.SENT:
            node.sent += 1
        elif kind == Kind.ARRIVED:
            node.arrived += 1
        elif kind == Kind.DELIVERED:
            node.delivered += 1
            node.latest.appendleft(row)
        elif kind == Kind.SUBMITTED:
            node.submitted += 1
        elif kind == Kind.CALLED:
            node.called += 1
        elif kind == Kind.RETURNED:
            node.returned += 1
            node.latest.appendleft(row)
        elif kind in _STATUS and row[self._link] < 0:
            node.status = _STATUS[Kind(kind)]
        if self._own is not None:
            self._own.see(row)

    def mark(self, node: NodeId) -> str:
        return "" if self._own is None else self._own.mark(node)

    def state(self, node: NodeId) -> NodeState:
        common = self._nodes[node]
        facts = [] if self._own is None else self._own.facts(node)
        buffer = [] if self._own is None else self._own.buffer(node)
        counts = [("submitted", common.submitted), ("called", common.called), ("returned", common.returned)]
        counts += [("sent", common.sent), ("arrived", common.arrived)]
        return NodeState(
            status=common.status,
            facts=(*facts, *((name, str(count)) for name, count in counts if count)),
            buffer=tuple(buffer[:LATEST]),
            buffered=len(buffer),
            deliveries=tuple(label_of(self._protocol, row) for row in common.latest),
            delivered=common.delivered,
        )


def label_of(protocol: str, row: Row) -> str:
    """The protocol's label of the row; empty where it has none."""
    plugin = load(protocol)
    told: Mapping[str, int] = dict(zip(plugin.columns, row, strict=True))
    if schema(protocol).events[told["kind"]].named or (told["link"] >= 0 and told["kind"] in _PACKETS):
        return plugin.label(told)
    return ""


_PACKETS = (Kind.SENT, Kind.ARRIVED, Kind.LOST, Kind.REFUSED)


def marks(header: Header, rows: Iterable[Row], view: RowView | None = None, first: int = 0) -> dict[int, str]:
    """By position, the mark that a diagram shows where a node's mark changes. view: the nodes' state before the first
    of the rows, which is at position `first`; None where the run begins there."""
    found: dict[int, str] = {}
    view = RowView(header) if view is None else view
    at = schema(header.protocol).index("node")
    told = [view.mark(node) for node in range(len(header.topology.nodes))]
    for position, row in enumerate(rows, first):
        view.see(row)
        node = row[at]
        if 0 <= node < len(told) and (mark := view.mark(node)) != told[node]:
            told[node] = found[position] = mark
    return found
