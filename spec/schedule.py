"""A schedule: everything that decides a simulated run, so that the same schedule gives the same trace, byte for byte.

Times are nanoseconds of true time. The delay of packet k on link l is a function of (seed, l, k) and nothing else, so
that taking one message away leaves all other draws alone; `redraw` has another seed for the later packets of a link.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import msgspec

from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes, write_atomically
from scatterproof.spec.protocol import refuse_network
from scatterproof.spec.topology import NO_LINK, LinkId, NodeId, Role, Routes, Topology, route
from scatterproof.spec.trace import TraceSchema, schema

FORMAT = 1
# Times stay far below the edge of int64, so that sums of a few of them cannot wrap anywhere.
MAX_TIME_NS = 1 << 60
# What a clock is ahead by: real ones count from 1970, and read 2^60 and more.
MAX_OFFSET_NS = 1 << 62
EVERYBODY: NodeId = -1  # as the receiver of a message: all hosts, the one at which it is handed over too


class Clock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A node's local clock: it reads start + offset_ns + true time * (1 + drift_ppb / 1e9)."""

    offset_ns: int = 0
    drift_ppb: int = 0


class Delay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One-way delay of a link: base_ns plus a uniform whole number of 0 to jitter_ns."""

    base_ns: int
    jitter_ns: int = 0


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """receiver: a host, or EVERYBODY."""

    receiver: NodeId
    payload: bytes = b""


class Submission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """At time_ns the application at `node` hands over `messages`, which belong together."""

    time_ns: int
    node: NodeId
    messages: tuple[Message, ...]


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """At time_ns, or when its call before has returned, the application at `node`, a client, calls.

    call: one of those in the protocol's trace.toml.
    arguments, payload: what the protocol gives them to mean.
    """

    time_ns: int
    node: NodeId
    call: str
    arguments: dict[str, Parameter] = {}
    payload: bytes = b""


class FaultKind(StrEnum):
    LOSE = "lose"
    DELAY = "delay"
    DUPLICATE = "duplicate"


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What happens to the packet with this index (from 0) on this link. delay_ns: by how much a delayed one is late; by
    how much the second copy of a duplicated one comes after the first."""

    link: LinkId
    index: int
    kind: FaultKind
    delay_ns: int = 0


class FailureKind(StrEnum):
    CRASH = "crash"  # a node stops
    RESTART = "restart"  # a crashed node begins anew
    CUT = "cut"  # a link loses all packets, those in flight too
    MEND = "mend"  # a cut link carries again
    PAUSE = "pause"  # a node stands still, as under SIGSTOP
    RESUME = "resume"  # a paused node goes on


_OF_LINKS = (FailureKind.CUT, FailureKind.MEND)


class Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """At time_ns a node or (cut, mend) a link fails or comes back, first of all that happens then.

    Submissions and calls at a crashed node do not happen: its application is gone, too. Packets that it sent earlier go
    on. A packet that arrives while it is down is lost. A paused node handles nothing: what arrives waits, in its order,
    its timers are late, and its application stands still, too.
    """

    time_ns: int
    kind: FailureKind
    node: NodeId = -1
    link: LinkId = -1


class Redraw(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Delays that are drawn anew from some packet of each link on.

    kept: one a link: how many packets have the delays of the schedule's own seed.
    seed: for the packets behind them.
    """

    kept: tuple[int, ...]
    seed: int


class Schedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """clocks: one a node.
    delays: one a link.
    redraw: not there where all delays are drawn by `seed`.
    calls: what clients call, in the order of their times.
    end_ns: when to stop, None to stop when all has settled.
    """

    protocol: str
    topology: Topology
    delays: tuple[Delay, ...]
    submissions: tuple[Submission, ...]
    clocks: tuple[Clock, ...] = ()
    parameters: dict[str, Parameter] = {}
    faults: tuple[Fault, ...] = ()
    failures: tuple[Failure, ...] = ()
    calls: tuple[Call, ...] = ()
    seed: int = 0
    end_ns: int | None = None
    format: int = FORMAT
    redraw: Redraw | msgspec.UnsetType = msgspec.UNSET

    def clock(self, node: NodeId) -> Clock:
        return self.clocks[node] if self.clocks else Clock()

    @property
    def last_ns(self) -> int:
        """When the last of its submissions, calls and failures is due, in ns."""
        times = [submission.time_ns for submission in self.submissions] + [call.time_ns for call in self.calls]
        return max([0, *times, *(failure.time_ns for failure in self.failures)])


def validate(schedule: Schedule, name: str = "schedule") -> Schedule:
    """The schedule itself; raises BadInput with one sentence that begins with `name`."""

    def refuse(problem: str) -> BadInput:
        return BadInput(f"{name}: {problem}")

    try:
        routes = route(schedule.topology)
        refuse_network(schedule.protocol, schedule.topology)
        names = schema(schedule.protocol)
    except BadInput as error:
        raise refuse(str(error)) from None
    nodes, links = schedule.topology.nodes, schedule.topology.links
    if schedule.format != FORMAT:
        raise refuse(f"format is {schedule.format}, this version reads {FORMAT}; export the schedule again")
    if len(schedule.delays) != len(links):
        raise refuse(f"delays has {len(schedule.delays)} entries for {len(links)} links; give one a link")
    if schedule.clocks and len(schedule.clocks) != len(nodes):
        raise refuse(f"clocks has {len(schedule.clocks)} entries for {len(nodes)} nodes; give one a node, or none")
    for number, delay in enumerate(schedule.delays):
        if delay.base_ns < 0 or delay.jitter_ns < 0:
            raise refuse(f"delays[{number}] is negative; a packet cannot arrive earlier than it was sent")
        if delay.base_ns + delay.jitter_ns > MAX_TIME_NS:
            raise refuse(f"delays[{number}] is over {MAX_TIME_NS} ns; give a shorter delay")
    kept = schedule.redraw.kept if schedule.redraw else (0,) * len(links)
    if len(kept) != len(links) or not all(0 <= count <= MAX_TIME_NS for count in kept):
        raise refuse(f"redraw.kept is {kept}; give for each of {len(links)} links how many packets, 0 to {MAX_TIME_NS}")
    for number, clock in enumerate(schedule.clocks):
        if abs(clock.drift_ppb) >= 500_000_000 or not -MAX_TIME_NS <= clock.offset_ns <= MAX_OFFSET_NS:
            raise refuse(f"clocks[{number}] is out of range; drift_ppb stays within half of 1e9")
    offsets = [clock.offset_ns for clock in schedule.clocks]
    if offsets and max(offsets) - min(offsets) > MAX_TIME_NS:
        raise refuse(f"clocks are up to {max(offsets) - min(offsets)} ns apart; keep them within {MAX_TIME_NS}")
    for number, submission in enumerate(schedule.submissions):
        _check_submission(f"{name}: submissions[{number}]", submission, schedule.topology, routes)
    for number, call in enumerate(schedule.calls):
        _check_call(f"{name}: calls[{number}]", call, schedule.topology, names)
    _check_faults(name, schedule)
    _check_failures(name, schedule)
    if schedule.end_ns is not None and not 0 <= schedule.end_ns <= MAX_TIME_NS:
        raise refuse(f"end_ns is {schedule.end_ns}; give 0 to {MAX_TIME_NS}, or leave it out")
    return schedule


def _check_faults(name: str, schedule: Schedule) -> None:
    links = len(schedule.topology.links)
    seen: set[tuple[LinkId, int]] = set()
    for number, fault in enumerate(schedule.faults):
        place = f"{name}: faults[{number}]"
        if not 0 <= fault.link < links or fault.index < 0:
            raise BadInput(f"{place} names link {fault.link}, packet {fault.index}; links are 0 to {links - 1}")
        if not 0 <= fault.delay_ns <= MAX_TIME_NS:
            raise BadInput(f"{place} delays by {fault.delay_ns} ns; give 0 to {MAX_TIME_NS}")
        if (fault.link, fault.index) in seen:
            raise BadInput(f"{place} is the second for packet {fault.index} on link {fault.link}; keep one of them")
        seen.add((fault.link, fault.index))


def _check_failures(name: str, schedule: Schedule) -> None:
    """Each node and link fails and comes back in turn, at rising times."""
    states: dict[tuple[bool, int], str] = {}
    before = 0
    for number, failure in enumerate(schedule.failures):
        place = f"{name}: failures[{number}]"
        node = failure.kind not in _OF_LINKS
        what, which, other = ("node", failure.node, failure.link) if node else ("link", failure.link, failure.node)
        there = len(schedule.topology.nodes if node else schedule.topology.links)
        if not 0 <= which < there or other != -1:
            raise BadInput(f"{place} is a {failure.kind} of {what} {which}; {what}s are 0 to {there - 1}, alone")
        if not before <= failure.time_ns <= MAX_TIME_NS:
            raise BadInput(f"{place} is at {failure.time_ns} ns; give {before} to {MAX_TIME_NS}, in rising order")
        before = failure.time_ns
        state = states.get((node, which), "up")
        expected, states[node, which] = _STEPS[failure.kind]
        if state not in expected:
            raise BadInput(f"{place} is a {failure.kind} of {what} {which}, which is {state} then")


# For each kind, the states that it may follow, and the one that it leads to.
_STEPS = {
    FailureKind.CRASH: (("up", "paused"), "down"),
    FailureKind.RESTART: (("down",), "up"),
    FailureKind.CUT: (("up",), "down"),
    FailureKind.MEND: (("down",), "up"),
    FailureKind.PAUSE: (("up",), "paused"),
    FailureKind.RESUME: (("paused",), "up"),
}


def _check_submission(place: str, submission: Submission, topology: Topology, routes: Routes) -> None:
    if not 0 <= submission.time_ns <= MAX_TIME_NS:
        raise BadInput(f"{place} is at {submission.time_ns} ns; give 0 to {MAX_TIME_NS}")
    receivers = [message.receiver for message in submission.messages if message.receiver != EVERYBODY]
    for node in (submission.node, *receivers):
        if not 0 <= node < len(topology.nodes) or topology.nodes[node].role is not Role.HOST:
            raise BadInput(f"{place} names node {node}, which is no host; hosts are {list(topology.hosts())}")
    if not submission.messages:
        raise BadInput(f"{place} has no message; give it at least one receiver")
    if len(set(receivers)) < len(receivers):
        raise BadInput(f"{place} sends to one receiver twice; give each receiver one message")
    for receiver in receivers:
        if routes.next_link[submission.node][receiver] == NO_LINK:
            raise BadInput(f"{place}: host {receiver} cannot be reached from host {submission.node}; choose another")


def _check_call(place: str, call: Call, topology: Topology, names: TraceSchema) -> None:
    if not 0 <= call.time_ns <= MAX_TIME_NS:
        raise BadInput(f"{place} is at {call.time_ns} ns; give 0 to {MAX_TIME_NS}")
    if call.node not in topology.clients():
        raise BadInput(f"{place} names node {call.node}, which is no client; clients are {list(topology.clients())}")
    if call.call not in names.calls:
        there = ", ".join(names.calls) or "none"
        raise BadInput(f"{place} is {call.call!r}, no call of {names.protocol}; those that there are: {there}")


def read(path: Path) -> Schedule:
    """Read and validate a schedule file (JSON)."""
    try:
        schedule = msgspec.json.decode(read_bytes(path, "schedule"), type=Schedule)
    except msgspec.DecodeError as error:
        raise BadInput(f"{path}: not a schedule: {error}") from None
    return validate(schedule, str(path))


def write(path: Path, schedule: Schedule) -> None:
    write_atomically(path, msgspec.json.format(msgspec.json.encode(schedule), indent=1) + b"\n")
