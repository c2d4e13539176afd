"""Exports a window of a run: as a schedule that leads up to it, where the run's schedule is known, and always as an
excerpt of the trace."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from scatterproof.spec.schedule import MAX_TIME_NS, Schedule
from scatterproof.spec.trace import Header, Row, Trace, schema


def schedule_up_to(schedule: Schedule, time_ns: int) -> Schedule:
    """The schedule without anything strictly after this time, at which its run ends; the run is the same up to there.
    The beginning stays, as what a window shows depends on everything before it."""
    end = min(max(time_ns, 0), MAX_TIME_NS)
    if schedule.end_ns is not None:
        end = min(end, schedule.end_ns)
    return replace(
        schedule,
        submissions=tuple(one for one in schedule.submissions if one.time_ns <= end),
        calls=tuple(one for one in schedule.calls if one.time_ns <= end),
        failures=tuple(one for one in schedule.failures if one.time_ns <= end),
        end_ns=end,
    )


def excerpt(header: Header, rows: Sequence[Row], first: int) -> Trace:
    """The rows as a trace of their own. It claims to record nothing completely: earlier rows are missing, so that no
    clause passes or fails in it."""
    last = first + len(rows) - 1
    note = f"an excerpt: rows {first} to {last} of a longer trace"
    return Trace(replace(header, complete={}, notes=(*header.notes, note)), list(rows))


def time_of(header: Header, row: Row) -> int:
    return row[schema(header.protocol).index("time_ns")]
