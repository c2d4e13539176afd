"""What an observer knows of each process of a broadcast run: how far it has delivered the messages of each creator, and
which have arrived and wait. And how a diagram names rows: c.k is message k of process c."""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.spec.broadcast.messages import PacketKind
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Header, Kind, Row, schema


class View:
    """A packet may carry several messages in a row."""

    def __init__(self, header: Header) -> None:
        columns = schema(header.protocol)
        names = ("kind", "node", "sender", "number", "packet", "count")
        self._at = tuple(columns.index(name) for name in names)
        processes = len(header.topology.nodes)
        self._begun = [0] * processes
        self._waiting: list[dict[tuple[int, int], None]] = [{} for _ in range(processes)]
        self._delivered: list[dict[int, int]] = [{} for _ in range(processes)]
        # What was delivered of each creator: all numbers up to one, and these above it.
        self._prefix: list[dict[int, int]] = [{} for _ in range(processes)]
        self._above: list[set[tuple[int, int]]] = [set() for _ in range(processes)]

    def see(self, row: Row) -> None:
        kind, node, sender, number, packet, count = (row[at] for at in self._at)
        if kind == Kind.BEGUN:
            self._begun[node] += max(1, count)
        elif kind == Kind.ARRIVED and packet == PacketKind.DATA:
            for message in range(number, number + max(1, count)):
                if message > self._prefix[node].get(sender, 0) and (sender, message) not in self._above[node]:
                    self._waiting[node][sender, message] = None
        elif kind == Kind.DELIVERED:
            self._waiting[node].pop((sender, number), None)
            self._delivered[node][sender] = self._delivered[node].get(sender, 0) + 1
            above, last = self._above[node], self._prefix[node].get(sender, 0)
            above.add((sender, number))
            while (sender, last + 1) in above:
                last += 1
                above.remove((sender, last))
            self._prefix[node][sender] = last

    def facts(self, node: NodeId) -> list[tuple[str, str]]:
        counts = self._delivered[node]
        told = [("begun", str(self._begun[node]))]
        if counts:
            told.append(("delivered of", ", ".join(f"{creator}: {counts[creator]}" for creator in sorted(counts))))
        return told

    def mark(self, node: NodeId) -> str:
        return ""

    def buffer(self, node: NodeId) -> list[str]:
        return [f"{creator}.{number}" for creator, number in self._waiting[node]]


def label(row: Mapping[str, int]) -> str:
    """A few words for a row, given by column."""
    first, count = row["number"], row["count"]
    run = f"{row['sender']}.{first}" + (f"-{first + count - 1}" if count > 1 else "")
    match row["kind"]:
        case Kind.SUBMITTED:
            return f"no. {first}" + (f" to {row['receiver']}" if row["receiver"] >= 0 else "")
        case Kind.BEGUN | Kind.DELIVERED:
            return run
    if row["packet"] == PacketKind.DATA:
        return f"{run} #{row['pseq']}" + (" again" if row["flags"] == 1 else "")
    last = f"-{row['pseq'] + count - 1}" if count > 1 else ""
    return f"ack #{row['pseq']}{last}, all to #{first}"
