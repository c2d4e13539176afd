"""Several links to one neighbour, of which messages take the best, as a predicate over a whole trace as in `oracles`:
PS-NEIGHBOUR."""

from __future__ import annotations

from collections import Counter

from scatterproof.conformance.pubsub.oracles import NAMES, Row, look
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.trace import Kind, Trace


def rerouting_loses_nothing(trace: Trace) -> set[int]:
    given = Parameters("pubsub", trace.header.parameters)
    if given["paths"] != "best":
        return set()
    ends = [(link.source, link.target) for link in trace.header.topology.links]
    several = {pair for pair, count in Counter(ends).items() if count > 1}
    history = look(trace)

    def of(row: Row) -> tuple[int, int, int, int]:
        return *ends[row["link"]], row["sender"], row["number"]

    def guaranteed(kind: Kind) -> list[tuple[int, Row]]:
        """The rows of this kind in which a message goes out of an appliance that is repeated until it is taken."""
        return [
            (at, row)
            for at, row in enumerate(history.rows)
            if row["kind"] == kind and row["packet"] == NAMES.packets["message"] and row["serial"] != 0
            if ends[row["link"]][0] < given.number("appliances")
        ]

    sent = guaranteed(Kind.SENT)
    # Of one message, what has the serial of its first copy is that copy, repeated; all else is another one.
    broken = {
        at for at, row in sent if row["serial"] != next(other["serial"] for _, other in sent if of(other) == of(row))
    }
    come = {of(row) for _, row in guaranteed(Kind.ARRIVED)}
    lost = any(of(row) not in come and of(row)[:2] in several for _, row in sent)
    end = history.settled_end()
    return broken | {end} if end is not None and lost else broken


ORACLES = {"rerouting_loses_nothing": rerouting_loses_nothing}
