"""A trace as boxes: the calls in the order of their rows, each with what it is about, when it was called, how it ended
and what it returned (spec/workqueue/trace.toml)."""

from __future__ import annotations

from dataclasses import dataclass

from scatterproof.spec.core import Outcome
from scatterproof.spec.trace import ABSENT, Kind, Trace, schema
from scatterproof.spec.workqueue.messages import ABOUT_GROUPS, CallName

_SCHEMA = schema("workqueue")
_NAMES = {code: CallName(name) for name, code in _SCHEMA.calls.items()}


@dataclass(slots=True, kw_only=True, eq=False)
class TimedCall:
    """One call.

    row, returned: the positions of its rows. client: the node.
    called_ns, returned_ns: the box; the latter says nothing where the outcome is unknown.
    group, token, message: what it is about, 0 where that is nothing.
    given, told: its rows' columns; told is empty unless it returned ok.
    outcome: unknown, too, where it never returns or its client crashes in it.
    """

    row: int
    client: int
    name: CallName
    called_ns: int
    given: dict[str, int]
    group: int = 0
    token: int = 0
    message: int = 0
    outcome: Outcome = Outcome.UNKNOWN
    returned: int = 0
    returned_ns: int = 0
    told: dict[str, int]


@dataclass(slots=True)
class _Client:
    """group, token, message: in hand. within: the call that it is in."""

    group: int = 0
    token: int = 0
    message: int = 0
    within: TimedCall | None = None

    def calls(self, row: int, given: dict[str, int]) -> TimedCall | None:
        """Begin a call and return its box; None for a call of unknown name."""
        name = _NAMES.get(given["call"])
        if name is None:
            return None
        box = TimedCall(row=row, client=given["node"], name=name, called_ns=given["time_ns"], given=given, told={})
        if name in ABOUT_GROUPS:
            box.group = given["group"] if given["group"] != ABSENT else self.group
            box.token = given["token"] if given["token"] != ABSENT else self.token
            box.message = given["message"] if given["message"] != ABSENT else self.message
        self.within = box
        return box

    def returns(self, row: int, told: dict[str, int]) -> None:
        box, self.within = self.within, None
        if box is None:
            return
        box.returned, box.returned_ns, box.outcome = row, told["time_ns"], Outcome(told["outcome"])
        if box.outcome is not Outcome.OK:
            return
        box.told = told
        if box.name in (CallName.OPEN_GROUP, CallName.NEXT_GROUP):
            some = told["group"] > 0
            self.group, self.token, self.message = (told["group"], told["token"], 0) if some else (0, 0, 0)
        elif box.name is CallName.READ_MESSAGE:
            self.message = max(0, told["message"])


def boxes(trace: Trace) -> list[TimedCall]:
    found: list[TimedCall] = []
    clients = {node: _Client() for node in trace.header.topology.clients()}
    for position, values in enumerate(trace.rows):
        row = dict(zip(_SCHEMA.columns, values, strict=True))
        client = clients.get(row["node"])
        if client is None:
            continue  # what the store keeps outlives its crashes (Q-DURABLE), and the end says nothing of calls
        if row["kind"] == Kind.CALLED:
            box = client.calls(position, row)
            found += [] if box is None else [box]
        elif row["kind"] == Kind.RETURNED:
            client.returns(position, row)
        elif row["kind"] == Kind.CRASHED and row["link"] == ABSENT:
            clients[row["node"]] = _Client()
    return found
