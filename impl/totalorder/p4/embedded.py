"""The program on the embedded target: what is compiled and committed, executed in this process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from scatterproof.impl.totalorder.p4.builds import compiled
from scatterproof.impl.totalorder.p4.entries import TABLES, Entries
from scatterproof.impl.totalorder.p4.frames import CPU_PORT
from scatterproof.impl.v1model import ControlEntry, EmbeddedSwitch, P4Program, load

REFUSALS = "refusals"


@cache
def program(build: str, size: int) -> P4Program:
    """The compiled program. Raises BadInput for a build that does not exist."""
    return load(compiled(build, size), place=f"{build} of the P4 switch, {size} ports")


class EmbeddedTarget:
    """One switch on the embedded target."""

    def __init__(self, build: str, size: int) -> None:
        self.switch = EmbeddedSwitch(program(build, size), ports=size, cpu_port=CPU_PORT)
        self._groups: tuple[int, ...] = ()

    def write(self, entries: Entries) -> None:
        switch = self.switch
        for name in TABLES:
            switch.tables[name].clear()
        for entry in entries.tables:
            switch.tables[entry.table].add(ControlEntry(entry.match, entry.action_name, entry.params))
        for number in self._groups:
            switch.multicast.delete(number)
        for group in entries.groups:
            switch.multicast.set(group.number, group.replicas)
        self._groups = tuple(group.number for group in entries.groups)
        switch.clone_sessions.set(entries.clone_session, [(CPU_PORT, 0)])

    def process(self, port: int, data: bytes, tick: int) -> Sequence[tuple[int, bytes]]:
        return self.switch.process(port, data, now_us=tick)

    def refusals(self) -> Sequence[int]:
        counters = self.switch.counters[REFUSALS]
        return [counters[reason].packets for reason in range(16)]

    def close(self) -> None:
        """Nothing was started."""
