"""Whether calls are answered, and clients return what they were answered, as a predicate over a whole trace as in
`oracles`: PS-ANSWER."""

from __future__ import annotations

from scatterproof.conformance.oracles import calls
from scatterproof.conformance.pubsub.oracles import NAMES, look
from scatterproof.spec.core import Outcome
from scatterproof.spec.trace import ABSENT, Kind, Trace


def latest_is_answered(trace: Trace) -> set[int]:
    history = look(trace)
    rows = list(enumerate(history.rows))

    def came(packet: str, client: int, until: int) -> list[tuple[int, int]]:
        """The call and the outcome of each such packet of the client's calls that arrived ahead of this row."""
        return [
            (row["operation"], row["outcome"])
            for at, row in rows
            if at < until and row["kind"] == Kind.ARRIVED and row["packet"] == NAMES.packets[packet]
            if row["sender"] == client and (packet == "request" or row["node"] == client)
        ]

    broken: set[int] = set()
    within: dict[int, tuple[int, int]] = {}
    for at, row in rows:
        client, call = row["node"], row["operation"]
        if row["kind"] == Kind.CALLED:
            within[client] = at, call
        elif row["kind"] == Kind.RETURNED or (row["kind"] == Kind.CRASHED and row["link"] == ABSENT):
            within.pop(client, None)
        if row["kind"] != Kind.RETURNED:
            continue
        if all(asked < call for asked, _ in came("request", client, at)):
            continue
        heard = came("answer", client, at)
        said = [outcome for answered, outcome in heard if answered == call == max(heard)[0]]
        if row["outcome"] != (said[0] if said else Outcome.UNKNOWN):
            broken.add(at)
    sent = {
        (row["node"], row["operation"]): at
        for at, row in rows
        if row["kind"] == Kind.SENT and row["packet"] == NAMES.packets["request"] and row["sender"] == row["node"]
    }
    end = history.settled_end()
    if end is not None and any(sent.get((client, call), -1) > at for client, (at, call) in within.items()):
        broken.add(end)
    return broken | calls.latest_is_answered(trace)


ORACLES = {"latest_is_answered": latest_is_answered}
