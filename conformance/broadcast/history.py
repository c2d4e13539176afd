"""What hosts of a real system were handed and delivered, as a run of the broadcast stack.

A host counts as beginning with a message when it is handed over. How the system carries it nobody sees; a message
that a host delivers counts as having come in one packet from its creator, with the contents that were handed over
there. What was never handed over has come in none, and BC-URB-REAL tells.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial

from scatterproof.conformance.adapters.recorded_run import RecordedRun
from scatterproof.conformance.network.topologies import mesh
from scatterproof.conformance.rows import row_of
from scatterproof.conformance.systems.telling import Event, History
from scatterproof.spec.broadcast.messages import PacketKind
from scatterproof.spec.schedule import EVERYBODY
from scatterproof.spec.topology import Link, LinkId, NodeId
from scatterproof.spec.trace import Kind, Order, Row

_DATA = int(PacketKind.DATA)
_row = partial(row_of, "broadcast")
_Message = tuple[NodeId, int]  # creator and number


class Teller:
    def rows(self, history: History) -> list[list[Row]]:
        handed = {(e.sender, e.number): e for events in history.hosts for e in events if e.what == "handed"}
        links = {link: number for number, link in enumerate(mesh(len(history.hosts)).links)}
        # Of each message, by receiver: the packet's link and its number there.
        came: defaultdict[_Message, dict[NodeId, tuple[LinkId, int]]] = defaultdict(dict)
        for host, events in enumerate(history.hosts):
            seen = sorted({(e.sender, e.number) for e in events if e.what == "delivered" and e.sender != host})
            counts: defaultdict[LinkId, int] = defaultdict(int)
            for message in (message for message in seen if message in handed):
                link = links[Link(message[0], host)]
                came[message][host] = link, counts[link]
                counts[link] += 1
        return [_rows(host, events, handed, came) for host, events in enumerate(history.hosts)]

    def run(self, history: History) -> RecordedRun:
        return RecordedRun(
            protocol="broadcast",
            topology=mesh(len(history.hosts)),
            parameters={"level": "fifo", "most_undelivered": history.messages},
            clean=history.settled,
            order=Order.LINK,
            notes=("packets are put in: the system's own are not seen", *history.notes),
        )


def _rows(
    host: NodeId,
    events: tuple[Event, ...],
    handed: dict[_Message, Event],
    came: dict[_Message, dict[NodeId, tuple[LinkId, int]]],
) -> list[Row]:
    rows: list[Row] = []
    arrived: set[_Message] = set()
    for event in events:
        message = event.sender, event.number
        same = {"node": host, "time_ns": event.time_ns, "sender": event.sender, "number": event.number}
        if event.what == "handed":
            rows.append(_row(Kind.SUBMITTED, receiver=EVERYBODY, digest=event.digest, **same))
            rows.append(_row(Kind.BEGUN, receiver=EVERYBODY, digest=event.digest, count=1, **same))
            for receiver, place in came[message].items():
                rows.append(_packet(Kind.SENT, receiver, place, event.digest, same))
            continue
        if host in came[message] and message not in arrived:
            arrived.add(message)
            rows.append(_packet(Kind.ARRIVED, host, came[message][host], handed[message].digest, same))
        rows.append(_row(Kind.DELIVERED, receiver=host, digest=event.digest, **same))
    return rows


def _packet(kind: Kind, receiver: NodeId, place: tuple[LinkId, int], digest: int, same: dict[str, int]) -> Row:
    link, number = place
    own = {"link": link, "link_seq": number, "packet": _DATA, "pseq": number + 1, "count": 1, "flags": 0}
    return _row(kind, receiver=receiver, digest=digest, **own, **same)


TELLER = Teller()
