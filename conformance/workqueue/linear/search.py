"""The search for an order, in the manner of Wing and Gong: of the calls that may be next one is carried out, and so on,
and what was tried once from the same calls and the same state is not tried again.

Two calls are in order where the first ended ok or refused, and is of the same client or returned strictly below the
time at which the other was called. One of unknown outcome may be carried out at any moment from its beginning on, or
never.

A history cannot be judged by parts, one a correlation (P-compositionality): which group comes next rests on the
priorities of all correlations, and cleaning and starts of receivers are about all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from scatterproof.conformance.workqueue.linear.history import TimedCall, boxes
from scatterproof.conformance.workqueue.linear.machine import MachineState, carried_out, may_refuse
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import BadInput
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.trace import Trace

MOST = 1_000_000  # places: what was carried out, and the state after it


def order_of(trace: Trace, *, by_rows: bool = False) -> list[int] | None:
    """The rows of the calls that took effect, or were refused, in an order that explains all; None where there is none.
    by_rows: rows at one moment are in their order, too. Raises BadInput for a history with more places than can be
    tried."""
    calls = boxes(trace)
    ahead = [_ahead(calls, call, by_rows) for call in calls]
    needed = _mask(number for number, call in enumerate(calls) if call.outcome is not Outcome.UNKNOWN)
    begin = MachineState(most_tries=Parameters("workqueue", trace.header.parameters).number("most_tries"))
    tried = {(0, begin)}
    # By place: what was carried out, the state, and the rows in their order.
    places: list[tuple[int, MachineState, tuple[int, ...]]] = [(0, begin, ())]
    while places:
        done, state, rows = places.pop()
        if done & needed == needed:
            return list(rows)
        for number, call in enumerate(calls):
            bit = 1 << number
            if done & bit or ahead[number] & ~done:
                continue
            for after in _after(state, call):
                if (done | bit, after) not in tried:
                    tried.add((done | bit, after))
                    places.append((done | bit, after, (*rows, call.row)))
        if len(tried) > MOST:
            raise BadInput(f"the history has {len(calls)} calls and too many orders to try; give one with fewer")
    return None


def _after(state: MachineState, call: TimedCall) -> Iterator[MachineState]:
    if call.outcome is Outcome.REFUSED:
        if may_refuse(state, call):
            yield state
    else:
        yield from carried_out(state, call)


def _ahead(calls: list[TimedCall], call: TimedCall, by_rows: bool) -> int:
    """The calls that are known to take effect first."""
    return _mask(
        number
        for number, other in enumerate(calls)
        if other.outcome is not Outcome.UNKNOWN
        and (
            other.row < call.row
            if other.client == call.client
            else other.returned_ns < call.called_ns or (by_rows and other.returned < call.row)
        )
    )


def _mask(numbers: Iterator[int]) -> int:
    return sum(1 << number for number in numbers)
