"""Messages that take all paths at once, as a predicate over a whole trace as in `oracles`: PS-MULTIPATH."""

from __future__ import annotations

from scatterproof.conformance.pubsub.oracles import NAMES, History, Row, look
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Kind, Trace

Message = tuple[int, int]


class _Ways:
    """The messages between appliances, as (position, row). ends: of each link, source and target."""

    def __init__(self, trace: Trace, history: History, appliances: int) -> None:
        links = trace.header.topology.links
        self.ends = [(link.source, link.target) for link in links]
        self.neighbours = {(a, b) for a, b in self.ends if a < appliances and b < appliances}
        of_messages = [
            (at, row)
            for at, row in enumerate(history.rows)
            if row["packet"] == NAMES.packets["message"]
            if self.ends[row["link"]] in self.neighbours
        ]
        self.sent = [(at, row) for at, row in of_messages if row["kind"] == Kind.SENT]
        self.arrived = [(at, row) for at, row in of_messages if row["kind"] == Kind.ARRIVED]

    def went(self, source: NodeId, target: NodeId, message: Message) -> bool:
        return any(self.ends[row["link"]] == (source, target) and _named(row) == message for _, row in self.sent)

    def came(self, source: NodeId, target: NodeId, message: Message) -> bool:
        return any(self.ends[row["link"]] == (source, target) and _named(row) == message for _, row in self.arrived)


def _named(row: Row) -> Message:
    return row["sender"], row["number"]


def first_of_paths_wins(trace: Trace) -> set[int]:
    given = Parameters("pubsub", trace.header.parameters)
    if given["paths"] != "all":
        return set()
    history = look(trace)
    ways = _Ways(trace, history, given.number("appliances"))
    broken: set[int] = set()
    first: dict[tuple[int, Message], Row] = {}
    for at, row in ways.sent:
        before = first.setdefault((row["link"], _named(row)), row)
        # The same serial is the same copy, resent until it is acknowledged.
        if before is not row and (row["serial"] == 0 or row["serial"] != before["serial"]):
            broken.add(at)
    end = history.settled_end()
    return broken | {end} if end is not None and _is_kept_back(ways) else broken


def _is_kept_back(ways: _Ways) -> bool:
    """Whether an appliance got a guaranteed message, and neither passed it on to some neighbour nor got it from that
    one."""
    first: dict[tuple[int, Message], Row] = {}  # by link and message: a later copy may have another level
    for _, row in ways.arrived:
        first.setdefault((row["link"], _named(row)), row)
    for (link, message), came in first.items():
        here = ways.ends[link][1]
        others = [other for at, other in ways.neighbours if at == here]
        to_all = all(ways.went(here, one, message) or ways.came(one, here, message) for one in others)
        if came["level"] >= 1 and not to_all:
            return True
    return False


ORACLES = {"first_of_paths_wins": first_of_paths_wins}
