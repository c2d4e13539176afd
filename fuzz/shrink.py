"""Makes a failing schedule small: no single step of `simpler` can be taken without losing the failure (1-minimal).

The steps: take away a host or switch, a submission, a message, a fault, all clocks, all jitter; lower a time (of a
submission, a delay, a jitter, an offset, a drift, a fault, a failure, the end, the seed) by all of it, by half,
by a quarter, ..., by 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from msgspec.structs import replace

from scatterproof.conformance.protocol import load
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.protocol import refuse_network
from scatterproof.spec.schedule import EVERYBODY, Clock, Delay, Schedule, Submission
from scatterproof.spec.topology import NO_LINK, Link, NodeId, Topology, route

Item = TypeVar("Item")
OnRun: TypeAlias = Callable[[int, Schedule], None]
MAX_RUNS = 4000


@dataclass(frozen=True, slots=True)
class Shrunk:
    """minimal: every step from `schedule` was tried and lost the failure; else its runs, or its time, were used up."""

    schedule: Schedule
    runs: int
    minimal: bool


def shrink(
    schedule: Schedule,
    fails: Callable[[Schedule], bool],
    *,
    max_runs: int = MAX_RUNS,
    shortest: int | None = None,
    is_over: Callable[[], bool] = lambda: False,
    on_run: OnRun = lambda runs, smallest: None,
) -> Shrunk:
    """The schedule made smaller as long as `fails` says true of it; it must say true of `schedule` itself. shortest:
    as of `simpler`. is_over: whether to stop with the smallest so far. on_run(runs, smallest) is called after each."""
    candidates = list(simpler(schedule, shortest))
    # Go round the steps, on from the one that was taken last, until a whole round has taken none.
    runs = at = missed = 0
    while missed < len(candidates):
        if runs == max_runs or is_over():
            return Shrunk(schedule, runs, False)
        candidate = candidates[at % len(candidates)]
        runs += 1
        if fails(candidate):
            schedule, missed = candidate, 0
            candidates = list(simpler(schedule, shortest))
        else:
            at, missed = at + 1, missed + 1
        on_run(runs, schedule)
    return Shrunk(schedule, runs, True)


def simpler(schedule: Schedule, shortest: int | None = None) -> Iterator[Schedule]:
    """Every valid schedule that is one step simpler, the larger steps first. shortest: whole parameters are lowered,
    too, but no further than this; None leaves them alone, as most are intervals: runs grow as these shrink."""
    for node in reversed(range(len(schedule.topology.nodes))):
        smaller = without_node(schedule, node)
        if smaller is not None:
            yield smaller
    for rest in _but_one(schedule.submissions):
        yield replace(schedule, submissions=rest)
    for called in _but_one(schedule.calls):
        yield replace(schedule, calls=called)
    for fewer in _but_one(schedule.faults):
        yield replace(schedule, faults=fewer)
    for begun in range(len(schedule.failures)):
        # What comes after a failure may depend on it.
        yield replace(schedule, failures=schedule.failures[:begun])
    if schedule.clocks:
        yield replace(schedule, clocks=())
    for number, submission in enumerate(schedule.submissions):
        if len(submission.messages) > 1:
            for messages in _but_one(submission.messages):
                yield _with_submission(schedule, number, replace(submission, messages=messages))
    if any(delay.jitter_ns for delay in schedule.delays):
        yield replace(schedule, delays=tuple(Delay(delay.base_ns) for delay in schedule.delays))
    yield from _lower_times(schedule)
    if shortest is not None:
        yield from _lower_parameters(schedule, shortest)


def _lower_times(schedule: Schedule) -> Iterator[Schedule]:
    for number, submission in enumerate(schedule.submissions):
        for time_ns in lower(submission.time_ns):
            yield _with_submission(schedule, number, replace(submission, time_ns=time_ns))
    # All the later ones at once, so that what depends on their distance alone can move too.
    for number in range(len(schedule.submissions)):
        yield from _earlier_from(schedule, number)
    for number, call in enumerate(schedule.calls):
        for time_ns in lower(call.time_ns):
            yield replace(schedule, calls=_put(schedule.calls, number, replace(call, time_ns=time_ns)))
    for number, delay in enumerate(schedule.delays):
        for base_ns in lower(delay.base_ns):
            yield replace(schedule, delays=_put(schedule.delays, number, Delay(base_ns, delay.jitter_ns)))
        for jitter_ns in lower(delay.jitter_ns):
            yield replace(schedule, delays=_put(schedule.delays, number, Delay(delay.base_ns, jitter_ns)))
    for number, clock in enumerate(schedule.clocks):
        for offset_ns in lower(clock.offset_ns):
            yield replace(schedule, clocks=_put(schedule.clocks, number, Clock(offset_ns, clock.drift_ppb)))
        for drift_ppb in lower(clock.drift_ppb):
            yield replace(schedule, clocks=_put(schedule.clocks, number, Clock(clock.offset_ns, drift_ppb)))
    for number, fault in enumerate(schedule.faults):
        for delay_ns in lower(fault.delay_ns):
            yield replace(schedule, faults=_put(schedule.faults, number, replace(fault, delay_ns=delay_ns)))
    for number, failure in enumerate(schedule.failures):
        earliest = schedule.failures[number - 1].time_ns if number else 0
        for time_ns in lower(failure.time_ns, least=earliest):
            yield replace(schedule, failures=_put(schedule.failures, number, replace(failure, time_ns=time_ns)))
    for end_ns in lower(schedule.end_ns or 0):
        yield replace(schedule, end_ns=end_ns)
    if schedule.seed:
        yield replace(schedule, seed=0)


def _lower_parameters(schedule: Schedule, shortest: int) -> Iterator[Schedule]:
    for name, value in schedule.parameters.items():
        for parameter in lower(value, least=shortest) if isinstance(value, int) else ():
            parameters: dict[str, Parameter] = {**schedule.parameters, name: parameter}
            yield replace(schedule, parameters=parameters)


def lower(value: int, least: int = 0) -> Iterator[int]:
    """Values nearer to `least`, in steps that halve down to 1: that itself first, value - 1 last. A negative value
    comes nearer to 0 in the same way."""
    if value < 0:
        yield from (-nearer for nearer in lower(-value))
        return
    step = value - least
    while step > 0:
        yield value - step
        step //= 2


def without_node(schedule: Schedule, node: NodeId) -> Schedule | None:
    """The schedule without this node, its links and whatever it submits, receives or calls; None where something would
    then have no route."""
    topology = schedule.topology
    kept = [number for number, link in enumerate(topology.links) if node not in (link.source, link.target)]
    place = {link: number for number, link in enumerate(kept)}

    def moved(other: NodeId) -> NodeId:
        return other - (other > node)

    links = tuple(Link(moved(link.source), moved(link.target)) for link in (topology.links[at] for at in kept))
    smaller = Topology(topology.nodes[:node] + topology.nodes[node + 1 :], links)
    submissions = []
    for submission in schedule.submissions:
        messages = tuple(
            replace(message, receiver=moved(message.receiver))
            for message in submission.messages
            if message.receiver != node
        )
        if submission.node != node and messages:
            submissions.append(replace(submission, node=moved(submission.node), messages=messages))
    if not (_is_allowed(schedule.protocol, smaller) and all_routed(smaller, submissions)):
        return None
    return replace(
        schedule,
        topology=smaller,
        parameters=load(schedule.protocol).without_node(schedule.parameters, node),
        delays=tuple(schedule.delays[link] for link in kept),
        clocks=schedule.clocks[:node] + schedule.clocks[node + 1 :],
        submissions=tuple(submissions),
        calls=tuple(replace(call, node=moved(call.node)) for call in schedule.calls if call.node != node),
        faults=tuple(replace(fault, link=place[fault.link]) for fault in schedule.faults if fault.link in place),
        failures=tuple(
            replace(failure, node=moved(failure.node), link=place.get(failure.link, failure.link))
            for failure in schedule.failures
            if failure.node != node and (failure.link < 0 or failure.link in place)
        ),
    )


def _is_allowed(protocol: str, topology: Topology) -> bool:
    try:
        refuse_network(protocol, topology)
    except BadInput:
        return False
    return True


def all_routed(topology: Topology, submissions: Sequence[Submission]) -> bool:
    try:
        table = route(topology).next_link
    except BadInput:
        return False
    return all(
        table[submission.node][message.receiver] != NO_LINK
        for submission in submissions
        for message in submission.messages
        if message.receiver != EVERYBODY
    )


def _earlier_from(schedule: Schedule, first: int) -> Iterator[Schedule]:
    """The submissions from number `first` on, all earlier by the same."""
    head, tail = schedule.submissions[:first], schedule.submissions[first:]
    earliest = min(submission.time_ns for submission in tail)
    for time_ns in lower(earliest):
        by = earliest - time_ns
        moved = tuple(replace(submission, time_ns=submission.time_ns - by) for submission in tail)
        yield replace(schedule, submissions=head + moved)


def _with_submission(schedule: Schedule, number: int, submission: Submission) -> Schedule:
    return replace(schedule, submissions=_put(schedule.submissions, number, submission))


def _put(items: tuple[Item, ...], number: int, item: Item) -> tuple[Item, ...]:
    return (*items[:number], item, *items[number + 1 :])


def _but_one(items: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
    """All of them but one, once for each, the last first."""
    for number in reversed(range(len(items))):
        yield items[:number] + items[number + 1 :]


def size(schedule: Schedule) -> tuple[int, int, int, int]:
    """Nodes, submissions and calls, messages, and all times together: what shrinking lowers."""
    times = sum(submission.time_ns for submission in schedule.submissions)
    times += sum(call.time_ns for call in schedule.calls)
    times += sum(delay.base_ns + delay.jitter_ns for delay in schedule.delays)
    times += sum(abs(clock.offset_ns) + abs(clock.drift_ppb) for clock in schedule.clocks)
    times += sum(fault.delay_ns for fault in schedule.faults)
    return (
        len(schedule.topology.nodes),
        len(schedule.submissions) + len(schedule.calls),
        sum(len(submission.messages) for submission in schedule.submissions),
        times,
    )


def size_in_words(schedule: Schedule) -> str:
    """How small a schedule is, in words."""
    nodes, submissions, messages, _ = size(schedule)
    called = f"{len(schedule.calls)} calls, " if schedule.calls else ""
    return (
        f"{nodes} nodes, {submissions - len(schedule.calls)} submissions, {called}{messages} messages, "
        f"{len(schedule.faults)} faults"
    )
