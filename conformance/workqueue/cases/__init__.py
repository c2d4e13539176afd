"""The conformance cases of the queue, as cases.toml says them: at least one a clause, with what an implementation with
that mistake gets wrong. Times are ns of true time."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec

from scatterproof.conformance.case_building import case_of, crash, duplicate, lose
from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.workqueue.cases import building
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Call, Delay, Failure, Fault, Schedule
from scatterproof.spec.topology import NodeId

_LINKS = {"asks": building.asks, "answers": building.answers}


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """id: CLAUSE/what.
    also: clauses that are at stake beside the case's own; of groups Q-CALL-ONCE always is.
    calls: a line each: when, by which client, a function of `building`, and what that is given.
    lost, twice: asks or answers of which client, which packets of that link (from 0), by how long.
    crashed: when, who. down: who, from when to when.
    """

    id: str
    stimulus: str
    duty: str
    calls: str
    also: tuple[str, ...] = ()
    lost: tuple[tuple[str, NodeId, tuple[int, ...]], ...] = ()
    twice: tuple[tuple[str, NodeId, tuple[int, ...], int], ...] = ()
    crashed: tuple[tuple[int, ...], ...] = ()
    down: tuple[tuple[NodeId, int, int], ...] = ()
    set: dict[str, Parameter] = {}

    def case(self) -> Case:
        made = building.spread([call for line in self.calls.splitlines() for call in _made(line)], building.PAUSE_NS)
        network = served(max(one.node for one in made))
        schedule = Schedule(
            protocol="workqueue",
            topology=network,
            delays=(Delay(building.HOP_NS),) * len(network.links),
            submissions=(),
            calls=made,
            parameters={"retry_ns": building.RETRY_NS, "tries": 3, **self.set},
            faults=tuple(self._faults()),
            failures=tuple(self._failures()),
            seed=1,
        )
        also = self.also if self.set.get("leased") else (*self.also, "Q-CALL-ONCE")
        return case_of(self.id, self.stimulus, self.duty, schedule, also)

    def _faults(self) -> Iterator[Fault]:
        for way, client, packets in self.lost:
            yield from lose(_LINKS[way](client), *packets)
        for way, client, packets, by_ns in self.twice:
            yield from duplicate(_LINKS[way](client), by_ns, *packets)

    def _failures(self) -> Iterator[Failure]:
        for when, *nodes in self.crashed:
            yield from crash(when, *nodes)
        for node, from_ns, to_ns in self.down:
            yield from building.down_and_up(node, from_ns, to_ns)


def _made(line: str) -> tuple[Call, ...]:
    """The calls of a line: `1_000 2 sends a "b c"`, or `3_000 1 cleans senders=all`."""
    when, client, name, *words = shlex.split(line)
    named = {key: _value(value) for key, _, value in (word.partition("=") for word in words if "=" in word)}
    given = [int(word) if name == "works" else word.encode() for word in words if "=" not in word]
    made = getattr(building, name)(int(when), int(client), *given, **named)
    return (made,) if isinstance(made, Call) else tuple(made)


def _value(word: str) -> int:
    return building.ALL if word == "all" else int(word)


_FILE = Path(__file__).with_name("cases.toml")
CASES = tuple(said.case() for said in msgspec.toml.decode(_FILE.read_bytes(), type=dict[str, list[Said]])["case"])
