"""Is there an order of the queue's calls that the machine explains?

A history cannot be judged by parts, one a correlation (P-compositionality): which group comes next rests on the
priorities of all correlations, and cleaning and starts of receivers are about all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from scatterproof.conformance.linear.search import CallBox, find_order
from scatterproof.conformance.workqueue.linear.history import TimedCall, boxes
from scatterproof.conformance.workqueue.linear.machine import MachineState, carried_out, may_refuse
from scatterproof.spec.core import Outcome
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.trace import Trace


def order_of(trace: Trace, *, by_rows: bool = False) -> list[int] | None:
    """The rows of the calls that took effect, or were refused, in an order that explains all; None where there is none.
    by_rows: also take rows at one moment in their order. Raises BadInput for a history with more places than can be
    tried."""
    calls = boxes(trace)
    begin = MachineState(most_tries=Parameters("workqueue", trace.header.parameters).number("most_tries"))
    found = find_order(
        [_box(call, by_rows) for call in calls], begin, lambda state, number: _after(state, calls[number])
    )
    return None if found.stuck is not None else [calls[number].row for number in found.calls]


def _box(call: TimedCall, by_rows: bool) -> CallBox:
    """by_rows: positions of rows stand for times, as rows are in the order of their times."""
    called, returned = (call.row, call.returned) if by_rows else (call.called_ns, call.returned_ns)
    return CallBox(call.client, called, None if call.outcome is Outcome.UNKNOWN else returned)


def _after(state: MachineState, call: TimedCall) -> Iterator[MachineState]:
    if call.outcome is Outcome.REFUSED:
        if may_refuse(state, call):
            yield state
    else:
        yield from carried_out(state, call)
