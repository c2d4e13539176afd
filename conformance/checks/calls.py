"""What is common to checks of calls: what a trace must say of them, and when each of them began.

A call takes effect at one moment between its two rows. Another is known to take effect earlier only where it returned
at a time strictly below: a check compares `time_ns`, never positions, so that its verdict holds for every order that
the recorded times allow.
"""

from __future__ import annotations

from scatterproof.conformance.checks.kinds import CALLED, RESTARTED
from scatterproof.conformance.checks.step import HOLDS, SILENT, Cell, Outcome, PerNode, State, check, derive, violated
from scatterproof.spec.trace import Kind, Order


@check(
    "PREMISE",
    kinds=(Kind.CALLED, Kind.RETURNED, Kind.RESTARTED),
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
    other, and return once at the most, with an outcome. made_at: the row of the call that it is in, or -1."""
    if kind == RESTARTED:
        made_at[node] = -1 if link < 0 else made_at[node]
        return SILENT
    if time_ns < latest_ns[0]:
        return violated(0, latest_ns[0], time_ns, -1)
    latest_ns[0] = time_ns
    if kind == CALLED:
        if operation != made[node] + 1:
            return violated(1, made[node] + 1, operation, -1)
        if made_at[node] >= 0:
            return violated(2, made[node], operation, made_at[node])
        made[node] += 1
        made_at[node] = position
        return HOLDS
    if operation != made[node] or made_at[node] < 0:
        return violated(3, -1, operation, -1)
    if outcome < 1:
        return violated(4, -1, operation, made_at[node])
    made_at[node] = -1
    return HOLDS


@derive("called_ns", "called_at", kinds=(Kind.CALLED, Kind.RETURNED), begun_ns=PerNode(0), begun_at=PerNode(-1))
def beginning(position: int, kind: int, node: int, time_ns: int, begun_ns: State, begun_at: State) -> tuple[int, int]:
    """called_ns: when the row's call began. called_at: the position of its row `called`."""
    if kind == CALLED:
        begun_ns[node], begun_at[node] = time_ns, position
    return begun_ns[node], begun_at[node]
