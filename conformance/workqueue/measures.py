"""Measures of runs: how long calls take, how long groups and messages wait until they are first handed out, and how
long they are held."""

from __future__ import annotations

from collections.abc import Mapping

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import CALLED, CRASHED, DELIVERED
from scatterproof.conformance.checks.step import SILENT, Bins, Check, Outcome, State, Table, TableState, check
from scatterproof.conformance.checks.tables import change, field, find, put, remove
from scatterproof.conformance.measures import BINS, Measure, count_span
from scatterproof.conformance.workqueue.lease_records import DELETE, PUT
from scatterproof.conformance.workqueue.records import CLOSE, FLUSH, NEXT, OK, OPEN, POP_GROUP
from scatterproof.spec.core import Parameter
from scatterproof.spec.trace import Kind, Order

_KINDS = (Kind.CALLED, Kind.RETURNED, Kind.DELIVERED, Kind.CRASHED)
# Of what waits or is held: since when, and whether it was handed out.
_SINCE, _GIVEN = range(2)


def carrier(parameters: Mapping[str, Parameter]) -> str:
    """Which of the two kinds of queue a run with these parameters is of."""
    return "of leases" if parameters.get("leased") == 1 else "of groups"


@check(
    "MEASURE",
    kinds=(Kind.CALLED, Kind.RETURNED, Kind.CRASHED),
    order=Order.NODE,
    ways=(),
    bins=Bins(3 * BINS),
    begun=Table(1, 1),
)
def call_duration(
    kind: int, time_ns: int, node: int, link: int, outcome: int, bins: State, begun: TableState
) -> Outcome:
    """Count how long calls last, by outcome. begun: by client, when it made the call that it is in."""
    slot = find(begun, (node,))
    if kind == CALLED:
        put(begun, (node,), (time_ns,))
    elif slot >= 0 and (kind != CRASHED or link < 0):
        if kind != CRASHED and outcome > 0:
            count_span(bins, outcome - 1, field(begun, slot, 0), time_ns)
        remove(begun, slot)
    return SILENT


@register_jitable
def _give(known: TableState, key: tuple[int, int, int], time_ns: int, bins: State) -> None:
    """It is handed out, for the first time or again."""
    slot = find(known, key)
    if slot >= 0:
        if field(known, slot, _GIVEN) == 0:
            count_span(bins, 0, field(known, slot, _SINCE), time_ns)
        change(known, slot, _SINCE, time_ns)
        change(known, slot, _GIVEN, 1)


@register_jitable
def _done(known: TableState, key: tuple[int, int, int], time_ns: int, bins: State) -> None:
    """It is gone, or of no more interest."""
    slot = find(known, key)
    if slot >= 0:
        if field(known, slot, _GIVEN) == 1:
            count_span(bins, 1, field(known, slot, _SINCE), time_ns)
        remove(known, slot)


@check("MEASURE", kinds=_KINDS, order=Order.LINK, ways=(), bins=Bins(2 * BINS), known=Table(3, 2))
def waiting_and_held(
    kind: int,
    time_ns: int,
    node: int,
    sender: int,
    number: int,
    call: int,
    operation: int,
    outcome: int,
    group: int,
    message: int,
    bins: State,
    known: TableState,
) -> Outcome:
    """Count how long groups wait from their close, and messages from their put, until they are first handed out; and
    how long from the last hand-out to the removal. known: groups as (group, -1, -1), messages by name; a batch counts
    as its first message."""
    if kind == DELIVERED:
        _give(known, (sender, number, max(1, message)), time_ns, bins)
    if kind in (CALLED, CRASHED, DELIVERED) or outcome != OK:
        return SILENT
    if call == CLOSE:
        put(known, (group, -1, -1), (time_ns, 0))
    elif call == PUT:
        put(known, (node, operation, 1), (time_ns, 0))
    elif call == NEXT and group > 0:
        _give(known, (group, -1, -1), time_ns, bins)
    elif call in (POP_GROUP, FLUSH, OPEN):
        _done(known, (group, -1, -1), time_ns, bins)
    elif call == DELETE:
        _done(known, (sender, number, max(1, message)), time_ns, bins)
    return SILENT


def _measure(step: Check, title: str, groups: tuple[str, ...]) -> Measure:
    return Measure(name=step.name, title=title, unit="ns", groups=groups, check=step)


MEASURES = (
    _measure(call_duration, "From a call to its return", ("ok", "refused", "unknown")),
    _measure(
        waiting_and_held,
        "Groups and messages",
        ("from the end or put to the first hand-out", "from the last hand-out to the removal"),
    ),
)
