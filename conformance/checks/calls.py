"""What checks of calls share: what a trace must say of calls, and when each of them began.

A call takes effect at one moment between its two rows. One call is known to take effect ahead of another only where it
returned at a time strictly below the other's beginning. A check compares `time_ns`, never positions, so that its
verdict holds for every order that the recorded times allow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED, CALLED, CRASHED, ENDED, SENT
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Cell,
    Check,
    Outcome,
    PerNode,
    State,
    check,
    derive,
    settled,
    violated,
)
from scatterproof.spec.trace import ABSENT, Kind, Order


@check(
    "PREMISE",
    kinds=(Kind.CALLED, Kind.RETURNED, Kind.CRASHED),
    order=Order.LINK,
    ways=(
        "time_ns of a call of {node} is {found} behind a row of {expected}; record calls in the order of their times",
        "{node} calls number {found} where {expected} is the next; number a client's calls from 1 as they are made",
        "{node} calls number {found} while it is in call {expected}; make two clients of those that call at once",
        "call {found} of {node} returns, and it is not in it; record each call once, and its return once",
        "call {found} of {node} returns without an outcome; say ok, refused or unknown",
    ),
    latest_ns=Cell(-(1 << 63)),
    made=PerNode(0),
    made_at=PerNode(-1),
)
def calls_return_once(
    position: int,
    time_ns: int,
    kind: int,
    node: int,
    link: int,
    operation: int,
    outcome: int,
    latest_ns: State,
    made: State,
    made_at: State,
) -> Outcome:
    """Rows of calls are in the order of their times. A client's calls are numbered as they are made, one after the
    other. Each returns once at the most, with an outcome; one in which its client crashes is over.

    latest_ns: the time of the last such row.
    made: by client, the number of its last call.
    made_at: by client, the row of the call that it is in, or -1.
    """
    if kind == CRASHED:
        if link < 0:  # otherwise a link was cut
            made_at[node] = -1
        return SILENT
    if time_ns < latest_ns[0]:
        return violated(0, latest_ns[0], time_ns)
    latest_ns[0] = time_ns
    if kind == CALLED:
        if operation != made[node] + 1:
            return violated(1, made[node] + 1, operation)
        if made_at[node] >= 0:
            return violated(2, made[node], operation, made_at[node])
        made[node] += 1
        made_at[node] = position
        return HOLDS
    if operation != made[node] or made_at[node] < 0:
        return violated(3, -1, operation)
    if outcome == ABSENT:
        return violated(4, -1, operation, made_at[node])
    made_at[node] = -1
    return HOLDS


@derive("called_ns", "called_at", kinds=(Kind.CALLED, Kind.RETURNED), begun_ns=PerNode(0), begun_at=PerNode(-1))
def beginning(position: int, kind: int, node: int, time_ns: int, begun_ns: State, begun_at: State) -> tuple[int, int]:
    """called_ns: when the row's call began. called_at: the row in which it did."""
    if kind == CALLED:
        begun_ns[node], begun_at[node] = time_ns, position
    return begun_ns[node], begun_at[node]


class Answering(NamedTuple):
    """A row's columns, and by client:

    came: its latest call whose request came.
    answered: its latest call that was answered.
    """

    kind: int
    packet: int
    sender: int
    operation: int
    flags: int
    node_count: int
    came: State
    answered: State


def check_of_answers(clause: str) -> Callable[[Callable[..., Outcome]], Check]:
    """Declare a check that every call is answered whose request came; its step calls `latest_answered`."""
    return check(
        clause,
        kinds=(Kind.SENT, Kind.ARRIVED, Kind.ENDED),
        order=Order.LINK,
        ways=("a request of call {found} of {expected_node} came, and was never answered",),
        came=PerNode(0),
        answered=PerNode(0),
    )


@register_jitable
def latest_answered(row: Answering, request: int, answer: int) -> Outcome:
    """At the end of a run that settled, whether each client's latest call was answered, of those whose request came.
    request, answer: the codes of these packets."""
    if row.kind == ENDED:
        asked = False
        for client in range(row.node_count if settled(row.flags) else 0):
            asked = asked or row.came[client] > 0
            if row.answered[client] < row.came[client]:
                return violated(0, client, row.came[client])
        return HOLDS if asked else SILENT
    if 0 <= row.sender < row.node_count:
        if row.kind == ARRIVED and row.packet == request:
            row.came[row.sender] = max(row.came[row.sender], row.operation)
        elif row.kind == SENT and row.packet == answer:
            row.answered[row.sender] = max(row.answered[row.sender], row.operation)
    return SILENT
