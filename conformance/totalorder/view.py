"""What an observer knows of each node of a total-order run: its barriers, as the packets on its ingress links carry
them, and at hosts the receive buffer."""

from __future__ import annotations

from scatterproof.spec.topology import NodeId, Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, NO_LOSS, PacketKind
from scatterproof.spec.trace import Header, Kind, Row, schema

NONE_YET = "none yet"  # some link has carried no barrier so far


class View:
    """By node: the least barrier and ack barrier that its ingress links carried last (TO-BAR-MIN, TO-ACK-MIN), the
    greatest loss record and, at hosts, the receive buffer."""

    def __init__(self, header: Header) -> None:
        self._columns = schema(header.protocol).columns
        nodes, links = header.topology.nodes, header.topology.links
        self._hosts = [node.role is Role.HOST for node in nodes]
        self._ingress = [[n for n, link in enumerate(links) if link.target == node] for node in range(len(nodes))]
        self._barrier = [NO_BARRIER] * len(links)
        self._ack_barrier = [NO_BARRIER] * len(links)
        self._loss_record = [NO_LOSS] * len(links)
        self._clock = [NO_BARRIER] * len(nodes)
        self._buffers: list[dict[tuple[int, int], int]] = [{} for _ in nodes]
        self._delivered: list[dict[int, int]] = [{} for _ in nodes]  # by sender the last number

    def see(self, row: Row) -> None:
        told = dict(zip(self._columns, row, strict=True))
        kind, node, link, sender, number = (told[name] for name in ("kind", "node", "link", "sender", "number"))
        self._clock[node] = told["clock_ns"]
        if kind == Kind.ARRIVED:
            self._barrier[link] = max(self._barrier[link], told["barrier"])
            self._ack_barrier[link] = max(self._ack_barrier[link], told["ack_barrier"])
            self._loss_record[link] = max(self._loss_record[link], told["loss_record"])
            is_message = told["packet"] == PacketKind.DATA and told["receiver"] == node
            if is_message and number > self._delivered[node].get(sender, 0):
                self._buffers[node][sender, number] = told["timestamp"]
        elif kind == Kind.DELIVERED:
            self._buffers[node].pop((sender, number), None)
            self._delivered[node][sender] = number
        elif kind == Kind.CRASHED and link < 0:
            self._buffers[node].clear()

    def facts(self, node: NodeId) -> list[tuple[str, str]]:
        links = self._ingress[node]
        told = [("barrier", _least([self._barrier[link] for link in links]))]
        acks = [self._ack_barrier[link] for link in links]
        if any(ack != NO_BARRIER for ack in acks):
            told.append(("ack barrier", _least(acks)))
        loss = max([NO_LOSS, *(self._loss_record[link] for link in links)])
        if loss > NO_LOSS:
            told.append(("loss record", str(loss)))
        if self._clock[node] != NO_BARRIER:
            told.append(("clock", str(self._clock[node])))
        return told

    def mark(self, node: NodeId) -> str:
        least = _least([self._barrier[link] for link in self._ingress[node]])
        return "" if least == NONE_YET else f"barrier {least}"

    def buffer(self, node: NodeId) -> list[str]:
        held = self._buffers[node]
        return [f"{sender}@{held[sender, number]}" for sender, number in sorted(held, key=lambda k: (held[k], k))]


def _least(values: list[int]) -> str:
    return str(min(values)) if values and min(values) != NO_BARRIER else NONE_YET
