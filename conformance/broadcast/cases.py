"""The conformance cases of the broadcast stack, as cases.toml says them. Times are ns of true time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from scatterproof.conformance.case_building import between, case_of, clause_of, crash, delay, duplicate, lose, pause
from scatterproof.conformance.network.topologies import mesh
from scatterproof.conformance.protocol import Case
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import EVERYBODY, Delay, Failure, Fault, Message, Schedule, Submission
from scatterproof.spec.topology import NodeId

_RESEND_NS = 20_000
_HOP_NS = 1_000


class _Turns(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """So many times the next of the processes `by` hands over messages for the next of those of `to`, or for everybody;
    the first has the byte of the turn's number, the second two of them, and so on."""

    times: int
    every_ns: int
    by: tuple[NodeId, ...]
    to: tuple[NodeId, ...] = (EVERYBODY,)
    messages: int = 1


class _Everywhere(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Faults on each link. lost_of: of link n the packet n modulo it. twice, late: which packet, and by how long."""

    lost_of: int
    twice: tuple[int, int] | None = None
    late: tuple[int, int] | None = None


class _Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """id: CLAUSE/what. The level is that of the clause, unless it is `set`, as other parameters are.
    also: clauses that are at stake beside the case's own and BC-PL-RELIABLE: the run must settle.
    to_all: when, by which process, with which contents; N stands for N empty messages. to_one: when, by, for whom.
    lost, late, twice: from, to, which packets of that link (from 0), by how long.
    crashed: when, who. paused: who, from when to when.
    """

    id: str
    stimulus: str
    duty: str
    processes: int
    also: tuple[str, ...] = ()
    in_turn: _Turns | None = None
    to_all: tuple[tuple[int | str, ...], ...] = ()
    to_one: tuple[tuple[int, NodeId, NodeId, str], ...] = ()
    jitter_ns: int = 0
    everywhere: _Everywhere | None = None
    lost: tuple[tuple[NodeId, NodeId, tuple[int, ...]], ...] = ()
    late: tuple[tuple[NodeId, NodeId, tuple[int, ...], int], ...] = ()
    twice: tuple[tuple[NodeId, NodeId, tuple[int, ...], int], ...] = ()
    crashed: tuple[tuple[int, ...], ...] = ()
    paused: tuple[tuple[NodeId, int, int], ...] = ()
    set: dict[str, Parameter] = {}

    def case(self) -> Case:
        network = mesh(self.processes)
        schedule = Schedule(
            protocol="broadcast",
            topology=network,
            delays=tuple(Delay(_HOP_NS, self.jitter_ns) for _ in network.links),
            submissions=tuple(self._submissions()),
            parameters={"level": clause_of(self.id).split("-")[1].lower(), "resend_ns": _RESEND_NS, **self.set},
            faults=tuple(self._faults()),
            failures=tuple(self._failures()),
            seed=1,
        )
        return case_of(self.id, self.stimulus, self.duty, schedule, (*self.also, "BC-PL-RELIABLE"))

    def _submissions(self) -> Iterator[Submission]:
        if turns := self.in_turn:
            for n in range(turns.times):
                to = turns.to[n % len(turns.to)]
                messages = tuple(Message(to, bytes([n]) * size) for size in range(1, turns.messages + 1))
                yield Submission(turns.every_ns * n, turns.by[n % len(turns.by)], messages)
        for when, by, *contents in self.to_all:
            payloads = [b""] * contents[0] if isinstance(contents[0], int) else [str(one).encode() for one in contents]
            yield Submission(int(when), int(by), tuple(Message(EVERYBODY, payload) for payload in payloads))
        for when, by, receiver, content in self.to_one:
            yield Submission(when, by, (Message(receiver, content.encode()),))

    def _faults(self) -> Iterator[Fault]:
        network = mesh(self.processes)
        if given := self.everywhere:
            for link in range(len(network.links)):
                yield from lose(link, link % given.lost_of)
                yield from duplicate(link, given.twice[1], given.twice[0]) if given.twice else ()
                yield from delay(link, given.late[1], given.late[0]) if given.late else ()
        for source, target, packets in self.lost:
            yield from lose(between(network, source, target), *packets)
        for source, target, packets, by_ns in self.late:
            yield from delay(between(network, source, target), by_ns, *packets)
        for source, target, packets, by_ns in self.twice:
            yield from duplicate(between(network, source, target), by_ns, *packets)

    def _failures(self) -> Iterator[Failure]:
        for when, *nodes in self.crashed:
            yield from crash(when, *nodes)
        for node, since, until in self.paused:
            yield from pause(node, since, until)


_FILE = Path(__file__).with_suffix(".toml")
CASES = tuple(said.case() for said in msgspec.toml.decode(_FILE.read_bytes(), type=dict[str, list[_Said]])["case"])
