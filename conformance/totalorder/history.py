"""What hosts of a real system delivered, as a run of total order: there is one order if the sequences of all hosts can
be merged into one. The sequence of the first host is taken for it: a message's place there is its timestamp, and
whoever delivers in another order delivers timestamps that fall (TO-ORDER). What the first host has not delivered has no
place, and is left out, as are submissions and packets."""

from __future__ import annotations

from scatterproof.conformance.adapters.recorded_run import RecordedRun
from scatterproof.conformance.network.topologies import star
from scatterproof.conformance.rows import row_of
from scatterproof.conformance.systems.telling import SystemHistory
from scatterproof.spec.trace import Kind, Order, Row


class Teller:
    def rows(self, history: SystemHistory) -> list[list[Row]]:
        places = _places(history)
        return [
            [
                row_of(
                    "totalorder",
                    Kind.DELIVERED,
                    time_ns=event.time_ns,
                    node=host,
                    sender=event.sender,
                    receiver=host,
                    number=event.number,
                    digest=event.digest,
                    timestamp=places[event.sender, event.number],
                )
                for event in events
                if event.what == "delivered" and (event.sender, event.number) in places
            ]
            for host, events in enumerate(history.hosts)
        ]

    def run(self, history: SystemHistory) -> RecordedRun:
        places, hosts = _places(history), tuple(range(len(history.hosts)))
        others = {(event.sender, event.number) for events in history.hosts for event in events} - set(places)
        left_out = (f"{len(others)} messages that the first host did not deliver are left out",) if others else ()
        return RecordedRun(
            protocol="totalorder",
            topology=star(len(hosts)),
            parameters={"environment": "A", "beacon_interval_ns": 1},
            clean=history.settled,
            order=Order.LINK,
            complete={"delivered": hosts},
            notes=(*history.notes, *left_out),
        )


def _places(history: SystemHistory) -> dict[tuple[int, int], int]:
    """The place of each message, by sender and number, in the first host's sequence, from 1. A message that comes again
    keeps its first place."""
    places: dict[tuple[int, int], int] = {}
    for event in history.hosts[0]:
        if event.what == "delivered":
            places.setdefault((event.sender, event.number), len(places) + 1)
    return places


TELLER = Teller()
