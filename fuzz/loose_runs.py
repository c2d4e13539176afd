"""What small drawn runs of protocols with packets have in common: rows in the order of one time, links that are FIFO or
not, and packets on their way, which arrive as they were sent, or are lost. What the packets say is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from scatterproof.conformance.rows import row_of
from scatterproof.fuzz.damages import damaged, draw_edit
from scatterproof.spec.core import Parameter
from scatterproof.spec.topology import LinkId, NodeId, Topology
from scatterproof.spec.trace import ABSENT, CLEAN, QUIESCENT, Header, Kind, Order, Row, Trace, schema

_LONGEST = 200  # rows: oracles are slow on long runs


class LooseRun:
    """rows: what has been written.
    on_link: by link, what is on its way: the packets' columns from `link_seq` on.
    """

    def __init__(self, protocol: str, topology: Topology, draw: Random, *, is_fifo: bool) -> None:
        self.draw, self.topology, self.is_fifo = draw, topology, is_fifo
        self.rows: list[Row] = []
        self.now = draw.choice((0, 0, 1, 5))
        self.on_link: list[list[dict[str, int]]] = [[] for _ in topology.links]
        self._protocol = protocol
        self._ahead = [draw.choice((0, 0, 1, 2)) for _ in topology.nodes]
        self._unread = draw.choice((0.0, 0.0, 0.2))
        self._sent = [0] * len(topology.links)

    def near(self, value: int, often: float = 0.12) -> int:
        """The value or, seldom, another one: next to it, or small."""
        if self.draw.random() >= often:
            return value
        return self.draw.choice((value - 1, value + 1, value - 1, value + 1, self.draw.randint(-1, 4), self.now))

    def clock(self, node: NodeId) -> int:
        return self.now + self._ahead[node]

    def write(self, kind: Kind, node: NodeId, **known: int) -> None:
        clock = -1 if self.draw.random() < self._unread else self.clock(node)
        known = {"time_ns": self.now, "clock_ns": clock, "node": node, **known}
        self.rows.append(row_of(self._protocol, kind, **known))

    def begin_anew(self, node: NodeId) -> None:
        self.write(Kind.RESTARTED, node)
        self._ahead[node] = self.draw.choice((-2, 0, 1))

    def put(self, link: LinkId, **packet: int) -> None:
        packet = {"link_seq": self._sent[link], **packet}
        self._sent[link] += 1
        self.on_link[link].append(packet)
        self.write(Kind.SENT, self.topology.links[link].source, link=link, **packet)

    def take(self, link: LinkId) -> dict[str, int]:
        """A packet off the link, which need not be lost: the caller writes what becomes of it."""
        at = 0 if self.is_fifo else self.draw.randrange(len(self.on_link[link]))
        return self.on_link[link].pop(at)

    def busy_links(self) -> list[LinkId]:
        """Those with something on its way."""
        return [link for link, packets in enumerate(self.on_link) if packets]

    def lose_one(self) -> None:
        links = self.busy_links()
        if links:
            self.lose(self.draw.choice(links))

    def lose(self, link: LinkId) -> None:
        self.write(Kind.LOST, self.topology.links[link].source, link=link, **self.take(link))

    def trace(self, parameters: Mapping[str, Parameter], gaps: float = 0.0) -> Trace:
        """The run, which has come to its end, and is damaged in up to two places. gaps: how often it does not record
        all that one node sent, or lost, or all that came to it."""
        settled = CLEAN if any(self.on_link) else CLEAN | QUIESCENT
        flags = self.draw.choice((settled, settled, CLEAN))
        node, clock_ns = self.draw.choice(((ABSENT, ABSENT), (0, ABSENT), (0, self.now), (ABSENT, 0)))
        end = {"time_ns": self.now + self.draw.choice((0, 0, 1, 20)), "clock_ns": clock_ns, "node": node}
        rows = [*self.rows[:_LONGEST], row_of(self._protocol, Kind.ENDED, flags=flags, **end)]
        nodes = tuple(range(len(self.topology.nodes)))
        complete = dict.fromkeys(schema(self._protocol).kinds, nodes)
        if gaps and self.draw.random() < gaps:
            kind, node = self.draw.choice((Kind.SENT, Kind.ARRIVED, Kind.LOST)), self.draw.choice(nodes)
            complete[kind.name.lower()] = tuple(one for one in nodes if one != node)
            what = list(map(schema(self._protocol).columns.index, ("kind", "node")))
            rows = [row for row in rows if [row[at] for at in what] != [kind, node] or self.draw.random() < 0.7]
        order = self.draw.choice((Order.GLOBAL, Order.GLOBAL, Order.LINK))
        trace = Trace(Header(self._protocol, self.topology, dict(parameters), complete, order), rows)
        for _ in range(self.draw.choice((0, 0, 0, 1, 2))):
            trace = damaged(trace, draw_edit(trace, self.draw))
        return trace
