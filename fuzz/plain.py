"""Shrinking beyond the 1-minimal of `scatterproof.fuzz.shrink`, so that failures of one cause become alike: whatever
the failure does not need of the network and the parameters is taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from scatterproof.fuzz.shrink import Shrunk, all_routed, shrink
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.topology import LinkId, Topology

# What intervals are brought to, from below too: runs grow as these shrink.
PLAIN_NS = 10


def shrink_plainly(
    schedule: Schedule,
    fails: Callable[[Schedule], bool],
    sound: Callable[[Schedule], bool],
    *,
    max_runs: int,
) -> Shrunk:
    """As `shrink`, by the steps of `plainer` as well.

    sound: whether a correct implementation can keep every clause on the schedule. Some things must stay though the
        failure does not need them: without its time-out, for example, nobody resends. So a step counts only when its
        result is sound. Where the schedule itself is not sound, these steps are not taken.
    """
    if not sound(schedule):
        return shrink(schedule, fails, max_runs=max_runs)

    def still_fails(candidate: Schedule) -> bool:
        try:
            return fails(candidate) and sound(candidate)
        except BadInput:  # it cannot be run at all
            return False

    runs = 0
    while True:
        before = schedule
        candidates = plainer(schedule)
        while (candidate := next(candidates, None)) is not None and runs < max_runs:
            runs += 1
            if still_fails(candidate):
                schedule, candidates = candidate, plainer(candidate)
        small = shrink(schedule, still_fails, max_runs=max_runs - runs, shortest=PLAIN_NS)
        schedule, runs = small.schedule, runs + small.runs
        if not small.minimal or schedule == before:
            return Shrunk(schedule, runs, small.minimal)


def plainer(schedule: Schedule) -> Iterator[Schedule]:
    """The schedule without one of its parameters, which then has its usual value; with one interval that is plain;
    without one of its links; and with payloads that tell submissions apart and nothing else."""
    for name, value in schedule.parameters.items():
        rest = {other: kept for other, kept in schedule.parameters.items() if other != name}
        yield replace(schedule, parameters=rest)
        if name.endswith("_ns") and isinstance(value, int) and value != PLAIN_NS:
            yield replace(schedule, parameters={**schedule.parameters, name: PLAIN_NS})
    for link in reversed(range(len(schedule.topology.links))):
        smaller = without_link(schedule, link)
        if smaller is not None:
            yield smaller
    told_apart = tuple(
        replace(one, messages=tuple(replace(message, payload=bytes([number % 256])) for message in one.messages))
        for number, one in enumerate(schedule.submissions)
    )
    if told_apart != schedule.submissions:
        yield replace(schedule, submissions=told_apart)


def without_link(schedule: Schedule, link: LinkId) -> Schedule | None:
    """The schedule without this link; None where something would have no route."""
    topology = schedule.topology
    smaller = Topology(topology.nodes, topology.links[:link] + topology.links[link + 1 :])
    if not all_routed(smaller, schedule.submissions):
        return None
    return replace(
        schedule,
        topology=smaller,
        delays=schedule.delays[:link] + schedule.delays[link + 1 :],
        faults=tuple(
            replace(fault, link=fault.link - (fault.link > link)) for fault in schedule.faults if fault.link != link
        ),
        failures=tuple(
            replace(failure, link=failure.link - (failure.link > link))
            for failure in schedule.failures
            if failure.link != link
        ),
    )
