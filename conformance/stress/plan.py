"""Which programs are paused, ended and killed, and when: a plan made from the seed before anything starts."""

from __future__ import annotations

import math
from collections.abc import Collection
from enum import StrEnum
from random import Random

import msgspec

from scatterproof.spec.errors import BadInput


class Act(StrEnum):
    PAUSE = "pause"  # SIGSTOP
    RESUME = "resume"  # SIGCONT
    TERMINATE = "terminate"  # SIGTERM: it ends, and writes what it has
    KILL = "kill"  # SIGKILL: it ends, and may leave a line half written


class PlannedStep(msgspec.Struct, frozen=True):
    """At `time_s` after the start, `act` happens to `process` (from 0)."""

    time_s: float
    act: Act
    process: int


ENDINGS = frozenset({Act.TERMINATE, Act.KILL})
_EARLIEST_S = 0.05


def plan(
    *, seed: int, processes: int, kills: int, pauses: int, active_s: float, spared: Collection[int] = ()
) -> tuple[PlannedStep, ...]:
    """`kills` processes, none of `spared`, end for ever, each by SIGTERM or SIGKILL; `pauses` times some process stands
    still for a while. All of it happens within `active_s`, most of it early, while programs are busy."""
    most = (processes - 1) // 2
    if not 0 <= kills <= most:
        raise BadInput(f"{kills} of {processes} processes cannot be killed: a majority stays; give 0 to {most}")
    if pauses < 0:
        raise BadInput(f"{pauses} pauses cannot be made; give 0 or more")
    random = Random(f"kills {seed}")
    candidates = [process for process in range(processes) if process not in spared]
    victims = random.sample(candidates, min(kills, len(candidates)))
    endings = {
        process: PlannedStep(_early(random, active_s), random.choice((Act.TERMINATE, Act.KILL)), process)
        for process in victims
    }
    random = Random(f"pauses {seed}")
    steps = list(endings.values())
    for process, start, end in _pauses(random, processes, pauses, active_s):
        last = endings[process].time_s if process in endings else math.inf
        if end < last:
            steps += [PlannedStep(start, Act.PAUSE, process), PlannedStep(end, Act.RESUME, process)]
        elif start < last:
            steps.append(PlannedStep(start, Act.PAUSE, process))
    return tuple(sorted(steps, key=lambda step: step.time_s))


def _pauses(random: Random, processes: int, pauses: int, active_s: float) -> list[tuple[int, float, float]]:
    """Process, start and end; those of one process do not overlap."""
    drawn = []
    for _ in range(pauses):
        start = _early(random, active_s)
        drawn.append((random.randrange(processes), start, start + random.uniform(0.1, max(0.2, active_s / 4))))
    found: list[tuple[int, float, float]] = []
    for process, start, end in sorted(drawn):
        if found and found[-1][0] == process and start <= found[-1][2]:
            found[-1] = (process, found[-1][1], max(end, found[-1][2]))
        else:
            found.append((process, start, end))
    return found


def _early(random: Random, active_s: float) -> float:
    """A time whose logarithm is uniform."""
    latest = max(active_s, _EARLIEST_S)
    return _EARLIEST_S * math.exp(random.random() * math.log(latest / _EARLIEST_S))
