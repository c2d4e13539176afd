"""Hypothesis strategies for schedules of the broadcast stack: 2 to 5 processes in a full mesh, at each level.

Every value is one that the stack provides for: links lose, delay, reorder and duplicate; processes crash for ever, a
minority mostly, or stand still for a while. Times are small whole numbers of ns, so that ties are common; windows and
thresholds are short enough to be reached. All numbers are the bytes of one draw of fixed size, as in
`scatterproof.fuzz.strategies`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from scatterproof.conformance.case_building import crash, pause
from scatterproof.conformance.network.topologies import mesh
from scatterproof.spec.broadcast.messages import in_words
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import EVERYBODY, Delay, Failure, Fault, FaultKind, Message, Schedule, Submission
from scatterproof.spec.topology import NodeId, Topology

MAX_PROCESSES = 5
MAX_SUBMISSIONS = 5
MAX_MESSAGES = 4
MAX_EMPTY = 24
MAX_FAULTS = 10
MAX_GAP_NS = 24
MAX_DELAY_NS = 8
MAX_LATE_NS = 96

# The higher levels have all that the lower ones have, and are drawn more often.
_LEVELS = ("urb", "pl", "fifo", "fifo", "lcb", "lcb", "lcb", "urb")
_PROCESSES = (2, 3, 3, 4, 3, 4, 5, 3)
_SHORT = (1, 2, 3, 8)
# Without contents: messages of one packet, and how many a process may have begun with and not delivered.
_RUNS = (2, 3, 5, 16)
_UNDELIVERED = (16, 4, 32)
_RESEND_NS = (40, 64, 100, 160)
_KINDS = (FaultKind.LOSE, FaultKind.LOSE, FaultKind.DELAY, FaultKind.DUPLICATE)
_SUBMISSION, _FAULT, _FAILURE = 4, 4, 3
_SHAPE = 7
_SIZE = (
    _SHAPE + MAX_PROCESSES + (1 + _SUBMISSION * MAX_SUBMISSIONS) + 4 + (1 + _FAULT * MAX_FAULTS) + 1 + 2 * _FAILURE + 2
)


def schedules() -> SearchStrategy[Schedule]:
    """Schedules that run until all has settled. They shrink towards two processes at level urb, one message, time 0."""
    return st.binary(min_size=_SIZE, max_size=_SIZE).map(schedule_of)


_mesh = cache(mesh)


def schedule_of(numbers: bytes) -> Schedule:
    """The schedule that these bytes stand for."""
    drawn = iter(numbers)
    level, processes = _LEVELS[next(drawn) % len(_LEVELS)], _PROCESSES[next(drawn) % len(_PROCESSES)]
    parameters: dict[str, Parameter] = {
        "level": level,
        "resend_ns": _RESEND_NS[next(drawn) % len(_RESEND_NS)],
        "window": _SHORT[next(drawn) % len(_SHORT)],
        "most_undelivered": _SHORT[next(drawn) % len(_SHORT)],
    }
    empties = next(drawn)
    empty = empties >= 176
    late = next(drawn)
    depends = [_dependencies(process, next(drawn), processes) for process in range(MAX_PROCESSES)][:processes]
    if level == "lcb":
        parameters["dependencies"] = in_words(depends)
    if empty:
        parameters["most_in_run"] = _RUNS[empties % len(_RUNS)]
        parameters["most_undelivered"] = _UNDELIVERED[empties // 4 % len(_UNDELIVERED)]
    topology = _mesh(processes)
    return Schedule(
        protocol="broadcast",
        topology=topology,
        submissions=tuple(_submissions(drawn, level, processes, empty)),
        delays=_delays(drawn, topology),
        parameters=parameters,
        faults=_faults(drawn, topology, late),
        failures=_failures(drawn, processes),
        seed=next(drawn) * 256 + next(drawn),
    )


def _dependencies(process: NodeId, bits: int, processes: int) -> list[NodeId]:
    """None on few draws; now and then oneself is named, too."""
    return [other for other in range(processes) if bits >> other & 1 and (other != process or bits > 192)]


def _submissions(drawn: Iterator[int], level: str, processes: int, empty: bool) -> Iterator[Submission]:
    now = 0
    count = next(drawn) % MAX_SUBMISSIONS + 1
    for number in range(MAX_SUBMISSIONS):
        gap, node, many, whom = (next(drawn) for _ in range(_SUBMISSION))
        # A third of them follow at once.
        now += gap % (MAX_GAP_NS + 1) if gap >= 80 else 0
        sender = node % processes
        if level == "pl":
            receivers = [other for other in range(processes) if other != sender]
            chosen = receivers if whom >= 192 else receivers[whom % len(receivers) :][:1]
            messages = tuple(Message(receiver, b"" if empty else bytes([number])) for receiver in chosen)
        else:
            places = range(many % (MAX_EMPTY if empty else MAX_MESSAGES) + 1)
            messages = tuple(Message(EVERYBODY, b"" if empty else bytes([number, place])) for place in places)
        if number < count:
            yield Submission(now, sender, messages)


def _delays(drawn: Iterator[int], topology: Topology) -> tuple[Delay, ...]:
    """One pair of base and jitter for all links, or another one for every third."""
    base, jitter, other, more = (next(drawn) for _ in range(4))
    first = Delay(base % (MAX_DELAY_NS + 1), jitter % (4 * MAX_DELAY_NS) if jitter >= 96 else 0)
    second = Delay(other % (8 * MAX_DELAY_NS), more % (4 * MAX_DELAY_NS)) if other >= 128 else first
    return tuple(second if link % 3 == more % 3 else first for link in range(len(topology.links)))


def _faults(drawn: Iterator[int], topology: Topology, late: int) -> tuple[Fault, ...]:
    """On three of four draws up to 10, on the first 8 packets of a link: the first ones most. On a third the first
    packets to one process are late from everybody: it hears of answers before it hears what they answer."""
    many = next(drawn)
    found: dict[tuple[int, int], Fault] = {}
    if late >= 160:
        to = late % len(topology.nodes)
        for link, ends in enumerate(topology.links):
            if ends.target == to:
                found |= {(link, index): Fault(link, index, FaultKind.DELAY, late) for index in range(1 + late % 2)}
    count = many % MAX_FAULTS + 1 if many >= 64 else 0
    for number in range(MAX_FAULTS):
        link, index, kind, late = (next(drawn) for _ in range(_FAULT))
        if number < count:
            place = (link % len(topology.links), index % 8 if index >= 128 else index % 2)
            chosen = _KINDS[kind % len(_KINDS)]
            found[place] = Fault(*place, chosen, 0 if chosen is FaultKind.LOSE else late % (MAX_LATE_NS + 1))
    return tuple(found.values())


def _failures(drawn: Iterator[int], processes: int) -> tuple[Failure, ...]:
    """On half of the draws: a minority crashes, or a process stands still, or both; on a few no majority is left."""
    what = next(drawn)
    found: list[Failure] = []
    minority = (processes - 1) // 2
    for number in range(2):
        node, at, long = (next(drawn) for _ in range(_FAILURE))
        which, time_ns = node % processes, at % 96
        if any(failure.node == which for failure in found):
            continue
        if number == 0 and 128 <= what < 216 and minority:
            found += crash(time_ns, which)
        elif number == 0 and what >= 240:
            found += crash(time_ns, *((which + step) % processes for step in range((processes + 1) // 2)))
        elif number == 1 and (what % 8 == 7 or 216 <= what < 240):
            found += pause(which, time_ns, time_ns + 1 + long)
        elif number == 1 and 200 <= what < 216 and minority > 1:
            found += crash(time_ns, which)
    return tuple(sorted(found, key=lambda failure: failure.time_ns))
