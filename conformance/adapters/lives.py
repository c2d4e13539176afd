"""Nodes that crash and begin anew: every life leaves a log of its own, and counts its packets from 0. In a trace a node
is one, and the packets of a link are counted on."""

from __future__ import annotations

from collections.abc import Sequence

from scatterproof.spec.topology import LinkId, Topology
from scatterproof.spec.trace import ABSENT, Kind, Row, schema

# By node, and then by life: the rows of its log.
Lives = Sequence[Sequence[Sequence[Row]]]
# By life, the rows of the packets that it sent on one link.
_Sent = list[list[Row]]


def joined(lives: Lives, befell: Sequence[Row], protocol: str, topology: Topology) -> list[list[Row]]:
    """The rows of each node: its lives one after the other, between them that it crashed and began anew; those of what
    befell links as one log more."""
    names = schema(protocol)
    node_at, kind_at, link_at, seq_at = (names.index(name) for name in ("node", "kind", "link", "link_seq"))
    counted = [[list(rows) for rows in own] for own in lives]
    for node, own in enumerate(counted):
        if len(own) == 1:
            continue
        for link in topology.egress(node):
            sent = [[row for row in rows if row[kind_at] == Kind.SENT and row[link_at] == link] for rows in own]
            _count_arrivals_on(counted[topology.links[link].target], link, sent, (kind_at, link_at, seq_at))
            offset = 0
            for life, rows in enumerate(own):
                for at, row in enumerate(rows):
                    if row[kind_at] == Kind.SENT and row[link_at] == link:
                        rows[at] = _numbered(row, seq_at, row[seq_at] + offset)
                offset += len(sent[life])
    logs = [
        _in_turn(own, [row for row in befell if row[node_at] == node and row[link_at] == ABSENT])
        for node, own in enumerate(counted)
    ]
    return [*logs, [row for row in befell if row[link_at] != ABSENT and row[seq_at] == ABSENT]]


def _in_turn(own: Sequence[Sequence[Row]], failures: Sequence[Row]) -> list[Row]:
    """A node's lives with its failures: it crashes, begins anew, crashes, ..."""
    rows = list(own[0])
    for number, failure in enumerate(failures):
        rows.append(failure)
        life = number // 2 + 1
        if number % 2 and life < len(own):
            rows += own[life]
    return rows


def _count_arrivals_on(target: list[list[Row]], link: LinkId, sent: _Sent, at: tuple[int, int, int]) -> None:
    """Number what arrived over a link as its source's lives together have sent it. Links are FIFO, and equal numbers of
    two lives are told apart by what the packets say."""
    kind_at, link_at, seq_at = at
    life, before = 0, -1
    for rows in target:
        for place, row in enumerate(rows):
            if row[kind_at] != Kind.ARRIVED or row[link_at] != link:
                continue
            seq = row[seq_at]
            able = [n for n in range(life, len(sent)) if 0 <= seq < len(sent[n]) and (n > life or seq > before)]
            if not able:
                continue  # nobody sent it: the checks will tell
            tail = row[seq_at + 1 :]
            life, before = next((n for n in able if sent[n][seq][seq_at + 1 :] == tail), able[0]), seq
            rows[place] = _numbered(row, seq_at, seq + sum(map(len, sent[:life])))


def _numbered(row: Row, at: int, number: int) -> Row:
    return (*row[:at], number, *row[at + 1 :])
