"""The switches of `scatterproof.impl.totalorder.p4` on BMv2: what `--iut bmv2` runs. One `simple_switch_grpc` a switch.

`Noting` stands between a node and its target, and notes all that passes as the steps of a recording.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from scatterproof.impl.bmv2.recording import OK, ControlRequest, Fresh, RecordedPacket, Step, ask
from scatterproof.impl.bmv2.session import find
from scatterproof.impl.bmv2.switch import Bmv2Switch
from scatterproof.impl.totalorder.p4.builds import FRAME_CLOCK, build_with_clock, compiled, p4info
from scatterproof.impl.totalorder.p4.chip import Target
from scatterproof.impl.totalorder.p4.core import MakeCore, with_switches
from scatterproof.impl.totalorder.p4.embedded import REFUSALS
from scatterproof.impl.totalorder.p4.entries import Entries
from scatterproof.impl.totalorder.p4.frames import CPU_PORT
from scatterproof.spec.errors import CannotRun

NOTHING = Entries(tables=(), groups=(), clone_session=0)
One = TypeVar("One")


class Idle:
    """Switches with one build that are not in use. Starting one takes seconds, resetting one does not. They end with
    this process."""

    def __init__(self, build_name: str) -> None:
        self._build_name = build_name
        self._switches: dict[int, list[Bmv2Switch]] = {}

    def take(self, size: int) -> Bmv2Switch:
        """A switch with that many ports, to which nothing was written."""
        while waiting := self._switches.get(size):
            switch = waiting.pop()
            try:
                switch.reset()
            except CannotRun:
                # It ended in an earlier run, which has said so.
                switch.close()
            else:
                return switch
        return Bmv2Switch(
            compiled(self._build_name, size), p4info=p4info(self._build_name, size), ports=size, cpu_port=CPU_PORT
        )

    def give_back(self, switch: Bmv2Switch) -> None:
        self._switches.setdefault(len(switch.ports), []).append(switch)


class Bmv2Target:
    """One switch. What was written is kept, so that only what changes goes over P4Runtime."""

    def __init__(self, idle: Idle, size: int) -> None:
        self._idle = idle
        self.switch = idle.take(size)
        self._written = NOTHING

    def write(self, entries: Entries) -> None:
        for step in changes(self._written, entries):
            if (answer := ask(step, self.switch)) != OK:
                raise CannotRun(
                    f"BMv2 refused what the controller writes: {answer} to {step}; compile the program anew"
                )
        self._written = entries

    def process(self, port: int, data: bytes, tick: int) -> Sequence[tuple[int, bytes]]:
        return self.switch.process(port, data)

    def refusals(self) -> Sequence[int]:
        return [cell.packets for cell in self.switch.counters[REFUSALS].values()]

    def close(self) -> None:
        self._idle.give_back(self.switch)


class Noting:
    """A target whose steps are noted; `why`: what the recording says begins here."""

    def __init__(self, target: Target, why: str) -> None:
        self._target = target
        self._written = NOTHING
        self.steps: list[Step] = [Fresh(why=why)]

    def write(self, entries: Entries) -> None:
        self._target.write(entries)
        self.steps += changes(self._written, entries)
        self._written = entries

    def process(self, port: int, data: bytes, tick: int) -> Sequence[tuple[int, bytes]]:
        self.steps.append(RecordedPacket(port=port, data=data.hex()))
        return self._target.process(port, data, tick)

    def refusals(self) -> Sequence[int]:
        return self._target.refusals()

    def close(self) -> None:
        """There is nothing to close in what notes."""


def changes(before: Entries, after: Entries) -> Iterator[ControlRequest]:
    """The requests that lead from one set of entries to another. Deletions come first, since an entry with another
    action has the same match."""
    for entry in _only(before.tables, after.tables):
        yield ControlRequest(verb="delete", table=entry.table, match=_hex(entry.match))
    for entry in _only(after.tables, before.tables):
        yield ControlRequest(
            verb="add",
            table=entry.table,
            match=_hex(entry.match),
            action=entry.action_name,
            params=_hex(entry.params),
        )
    for group in _only(before.groups, after.groups):
        if group.replicas:
            yield ControlRequest(verb="multicast", number=group.number)
    for group in _only(after.groups, before.groups):
        if group.replicas:  # a group without any is a group that is not there
            yield ControlRequest(verb="multicast", number=group.number, replicas=list(group.replicas))
    if after.clone_session != before.clone_session:
        yield ControlRequest(verb="clone_session", number=after.clone_session, replicas=[(CPU_PORT, 0)])


def _only(these: Iterable[One], others: Sequence[One]) -> list[One]:
    """What is among these and not among the others."""
    return [one for one in these if one not in others]


def _hex(values: Mapping[str, int]) -> dict[str, str]:
    return {name: hex(value) for name, value in values.items()}


def with_bmv2_switches(build_name: str = FRAME_CLOCK) -> MakeCore:
    """A factory of nodes whose switches run this build on BMv2. BadInput: a build that is unknown, or has no clock in
    frames; CannotRun: no BMv2."""
    build_with_clock(build_name)
    find()
    idle = Idle(build_name)
    return with_switches(lambda size: Bmv2Target(idle, size), clock_in_frame=True)
