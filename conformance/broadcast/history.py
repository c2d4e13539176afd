"""What hosts of a real system were handed and delivered, as a run of the broadcast stack.

A host counts as beginning with a message when it is handed over. Nobody sees how the system carries it: a message that
a host delivers counts as one packet from its creator, with the contents that were handed over there. A message that was
never handed over came in no packet, and breaks BC-URB-REAL.
"""

from __future__ import annotations

from functools import partial

from scatterproof.conformance.adapters.recorded_run import RecordedRun
from scatterproof.conformance.network.topologies import mesh
from scatterproof.conformance.rows import row_of
from scatterproof.conformance.systems.telling import LogEvent, SystemHistory
from scatterproof.spec.broadcast.messages import PacketKind
from scatterproof.spec.schedule import EVERYBODY
from scatterproof.spec.topology import Link, LinkId, NodeId
from scatterproof.spec.trace import Kind, Order, Row

_DATA = int(PacketKind.DATA)
_row = partial(row_of, "broadcast")


class Teller:
    def rows(self, history: SystemHistory) -> list[list[Row]]:
        handed = {(e.sender, e.number): e.digest for events in history.hosts for e in events if e.what == "handed"}
        ways = [_Way(at, link, history, handed) for at, link in enumerate(mesh(len(history.hosts)).links)]
        return [_rows(host, events, ways) for host, events in enumerate(history.hosts)]

    def run(self, history: SystemHistory) -> RecordedRun:
        return RecordedRun(
            protocol="broadcast",
            topology=mesh(len(history.hosts)),
            parameters={"level": "fifo", "most_undelivered": history.messages},
            clean=history.settled,
            order=Order.LINK,
            notes=("packets are put in: the system's own are not seen", *history.notes),
        )


class _Way:
    """A link, and the messages that came over it, each in a packet of its own, in their order."""

    def __init__(
        self, number: LinkId, link: Link, history: SystemHistory, handed: dict[tuple[NodeId, int], int]
    ) -> None:
        self.ends, self._number = link, number
        told = {e.number for e in history.hosts[link.target] if e.what == "delivered" and e.sender == link.source}
        came = sorted(number for number in told if (link.source, number) in handed)
        self.came = {number: (place, handed[link.source, number]) for place, number in enumerate(came)}

    def packet(self, kind: Kind, event: LogEvent, same: dict[str, int]) -> Row:
        place, digest = self.came[event.number]
        own = {"link": self._number, "link_seq": place, "packet": _DATA, "pseq": place + 1, "count": 1, "flags": 0}
        return _row(kind, receiver=self.ends.target, digest=digest, **own, **same)


def _rows(host: NodeId, events: tuple[LogEvent, ...], ways: list[_Way]) -> list[Row]:
    rows: list[Row] = []
    arrived: set[tuple[NodeId, int]] = set()
    for event in events:
        same = {"node": host, "time_ns": event.time_ns, "sender": event.sender, "number": event.number}
        on = [way for way in ways if way.ends.source == event.sender and event.number in way.came]
        if event.what == "handed":
            rows.append(_row(Kind.SUBMITTED, receiver=EVERYBODY, digest=event.digest, **same))
            rows.append(_row(Kind.BEGUN, receiver=EVERYBODY, digest=event.digest, count=1, **same))
            rows += [way.packet(Kind.SENT, event, same) for way in on]
            continue
        if (event.sender, event.number) not in arrived:
            arrived.add((event.sender, event.number))
            rows += [way.packet(Kind.ARRIVED, event, same) for way in on if way.ends.target == host]
        rows.append(_row(Kind.DELIVERED, receiver=host, digest=event.digest, **same))
    return rows


TELLER = Teller()
