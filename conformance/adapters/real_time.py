"""A schedule as it can be played in real time: slow enough for processes on a busy machine."""

from __future__ import annotations

from math import lcm

import msgspec

from scatterproof.conformance.protocol import load
from scatterproof.spec.schedule import Delay, FailureKind, Schedule
from scatterproof.spec.topology import Role

LEAST_INTERVAL_NS = 40_000_000  # what processes on a busy machine can keep up with
LEAST_TIMEOUT_NS = 300_000_000  # how long they may seem dead on one, where the dead are given up
HOP_NS = 20_000_000  # what a hop may take there, beside its delay
_LONGEST_ROUND_NS = 2_000_000_000


def why_not(schedule: Schedule) -> str | None:
    """Why the schedule cannot be played over real sockets, or None."""
    for failure in schedule.failures:
        if failure.kind in (FailureKind.PAUSE, FailureKind.RESUME):
            return "nodes be paused; what comes to them meanwhile cannot be told from what is lost"
        if failure.kind is FailureKind.RESTART and schedule.topology.nodes[failure.node].role is Role.HOST:
            return "a host begin anew; it would count what is handed over anew, too"
    return None


def stretch_of(schedule: Schedule) -> int:
    """The factor that makes the times among the parameters long enough: those whose names end in _interval_ns, and
    where nodes fail those that end in _timeout_ns."""
    factor = _factor(LEAST_INTERVAL_NS, _times(schedule, "_interval_ns"))
    return max(factor, _factor(LEAST_TIMEOUT_NS, _times(schedule, "_timeout_ns"))) if schedule.failures else factor


def stretched(schedule: Schedule, factor: int) -> Schedule:
    """The schedule in slow motion, without what cannot be imitated: clocks that drift."""
    replace = msgspec.structs.replace
    least = min((clock.offset_ns for clock in schedule.clocks), default=0)  # when clocks begin is no matter of pace
    return replace(
        schedule,
        delays=tuple(Delay(delay.base_ns * factor, delay.jitter_ns * factor) for delay in schedule.delays),
        submissions=tuple(replace(one, time_ns=one.time_ns * factor) for one in schedule.submissions),
        calls=tuple(replace(one, time_ns=one.time_ns * factor) for one in schedule.calls),
        clocks=tuple(
            replace(clock, offset_ns=least + (clock.offset_ns - least) * factor, drift_ppb=0)
            for clock in schedule.clocks
        ),
        parameters={
            name: value * factor if name.endswith("_ns") and isinstance(value, int) else value
            for name, value in schedule.parameters.items()
        },
        faults=tuple(replace(fault, delay_ns=fault.delay_ns * factor) for fault in schedule.faults),
        failures=tuple(replace(failure, time_ns=failure.time_ns * factor) for failure in schedule.failures),
        end_ns=None,
    )


def with_slack(schedule: Schedule) -> Schedule:
    """The schedule with delays that hops may really have: for how long to wait, not to be played."""
    delays = tuple(Delay(delay.base_ns + delay.jitter_ns + HOP_NS) for delay in schedule.delays)
    return msgspec.structs.replace(schedule, delays=delays)


def settle_ns(schedule: Schedule) -> int:
    """When all is delivered, or never will be, in a run of the schedule as it is played."""
    return load(schedule.protocol).horizon_ns(with_slack(schedule))


def lull_ns(schedule: Schedule) -> int | None:
    """For how long nothing but beacons may move in a run of the schedule that is not over; None: for as long as it may
    take."""
    lull = load(schedule.protocol).lull_ns
    return lull(with_slack(schedule)) if lull is not None and schedule.failures else None


def longest_s(schedule: Schedule) -> float:
    """How long a run of the schedule, not stretched yet, may take; of one that ends at a lull, how long is likely."""
    played = stretched(schedule, stretch_of(schedule))
    longest = settle_ns(played)
    if (lull := lull_ns(played)) is not None:
        longest = min(longest, played.last_ns + 2 * lull)  # nodes go on for about as long as they may then rest
    return longest / 1e9


def round_ns(schedule: Schedule) -> int:
    """A time after which all that nodes do at intervals begins at the same phase again: schedules begin at a multiple
    of it, as simulated ones do. 1 when it would be too long to wait for."""
    found = lcm(*(time for time in _times(schedule, "_ns")))
    return found if found <= _LONGEST_ROUND_NS else 1


def patience_ns(schedule: Schedule) -> int:
    """How long nodes may wait for the processor in a run that says anything of their times."""
    interval = min(_times(schedule, "_interval_ns"), default=LEAST_INTERVAL_NS)
    timeouts = _times(schedule, "_timeout_ns") if schedule.failures else []
    return min([2 * interval, *(timeout // 2 for timeout in timeouts)])


def longest_timeout_ns(schedule: Schedule) -> int:
    """The longest time-out that nodes go by, among them those that the schedule leaves at their defaults."""
    chosen = load(schedule.protocol).parameters(schedule.parameters)
    return max((value for name, value in chosen.items() if name.endswith("_timeout_ns")), default=0)


def _times(schedule: Schedule, ending: str) -> list[int]:
    """The parameters of this kind of name that are times above 0."""
    items = schedule.parameters.items()
    return [value for name, value in items if name.endswith(ending) and isinstance(value, int) and value > 0]


def _factor(least_ns: int, times: list[int]) -> int:
    return max(1, -(-least_ns // min(times, default=least_ns)))
