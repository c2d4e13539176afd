"""Whether calls are answered, and clients return what they were answered: PS-ANSWER."""

from __future__ import annotations

from scatterproof.conformance.checks.calls import Answering, latest_answered
from scatterproof.conformance.checks.kinds import ARRIVED, CALLED, CRASHED, ENDED, RETURNED, SENT
from scatterproof.conformance.checks.step import NO_WITNESS, SILENT, Outcome, PerNode, State, check, settled, violated
from scatterproof.conformance.pubsub.records import ANSWER, REQUEST, UNKNOWN
from scatterproof.spec.trace import Kind, Order


@check(
    "PS-ANSWER",
    kinds=(Kind.CALLED, Kind.SENT, Kind.ARRIVED, Kind.RETURNED, Kind.CRASHED, Kind.ENDED),
    order=Order.LINK,
    ways=(
        "a request of call {found} of {expected_node} came, and was never answered",
        "{node} returns with outcome {found}, and the answer that came by then, or that none came, says {expected}",
        "call {found} of {expected_node} never returned",
    ),
    came=PerNode(0),
    answered=PerNode(0),
    heard=PerNode(0),
    said=PerNode(0),
    heard_at=PerNode(-1),
    within=PerNode(0),
    within_at=PerNode(-1),
    asked=PerNode(0),
)
def latest_is_answered(
    row: Answering,
    position: int,
    node: int,
    link: int,
    outcome: int,
    heard: State,
    said: State,
    heard_at: State,
    within: State,
    within_at: State,
    asked: State,
) -> Outcome:
    """By client: heard: its latest call of which an answer came to it; said: the outcome in it; heard_at: its row.
    within: the call that it is in, 0 for none; within_at: the row in which that began; asked: 1 where it has sent a
    request of that, so that who records no packets is not accused."""
    if row.kind in (CALLED, CRASHED) and link < 0:  # no link was cut
        within[node], within_at[node], asked[node] = row.operation if row.kind == CALLED else 0, position, 0
        return SILENT
    if row.kind == SENT and row.packet == REQUEST and row.sender == node and row.operation == within[node]:
        asked[node] = 1
    if row.kind == RETURNED:
        within[node] = 0
        if row.came[node] < row.operation:
            return SILENT
        if heard[node] == row.operation:
            return violated(1, said[node], outcome, heard_at[node]) if outcome != said[node] else SILENT
        return violated(1, UNKNOWN, outcome, NO_WITNESS) if outcome != UNKNOWN else SILENT
    if row.kind == ARRIVED and row.packet == ANSWER and row.sender == node and row.operation > heard[node]:
        heard[node], said[node], heard_at[node] = row.operation, outcome, position
    if row.kind == ENDED and settled(row.flags):
        for client in range(row.node_count):
            if within[client] > 0 and asked[client] == 1 and row.answered[client] >= row.came[client]:
                return violated(2, client, within[client], within_at[client])
    return latest_answered(row, REQUEST, ANSWER)


HERE = (latest_is_answered,)
