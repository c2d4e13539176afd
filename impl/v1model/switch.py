"""A switch that runs a program: its tables and state, and the packets that go through it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from random import Random
from struct import Struct

from scatterproof.impl.v1model.control import ByName
from scatterproof.impl.v1model.hashes import ALGORITHMS, to_bytes
from scatterproof.impl.v1model.profiles import ProfileState
from scatterproof.impl.v1model.program import P4Program
from scatterproof.impl.v1model.state import CounterArray, Digest, MeterArray, RegisterArray, Replication, ValueSet
from scatterproof.impl.v1model.tables import MatchKind, SwitchTable
from scatterproof.spec.errors import CannotRun

Sent = list[tuple[int, bytes]]
# A packet that goes round more often than this will not leave.
GREATEST_ROUNDS = 1_000


class Aborted(CannotRun):
    """The program ended itself (assert, assume), or a packet goes round without end; BMv2 would stop or hang."""


class EmbeddedSwitch:
    """One switch: `ports` are those that are connected, `cpu_port` one more."""

    def __init__(
        self,
        program: P4Program,
        *,
        ports: int | Iterable[int],
        cpu_port: int | None = None,
        drop_port: int = 511,
        priority_queues: int = 1,
        seed: int = 0,
    ) -> None:
        self.program = program
        self.ports = frozenset(range(ports) if isinstance(ports, int) else ports) | (
            frozenset() if cpu_port is None else {cpu_port}
        )
        self.cpu_port, self.drop_port, self.queues = cpu_port, drop_port, priority_queues
        told = program.compiled
        self.profiles = ByName({name: ProfileState(spec) for name, spec in program.profiles.items()})
        self.tables = ByName(
            {
                name: SwitchTable(spec, None if spec.profile is None else self.profiles[spec.profile])
                for name, spec in program.tables.items()
            }
        )
        self.registers = ByName(
            {one.name: RegisterArray(one.name, one.size, one.bitwidth) for one in told.register_arrays}
        )
        self.counters = ByName(
            {one.name: CounterArray(one.name, one.size) for one in told.counter_arrays if not one.is_direct}
        )
        self.meters = ByName(
            {
                one.name: MeterArray(one.name, one.size, one.type == "bytes")
                for one in told.meter_arrays
                if not one.is_direct
            }
        )
        self.value_sets = ByName(
            {one.name: ValueSet(one.name, one.compressed_bitwidth, one.max_size) for one in told.parse_vsets}
        )
        self.multicast = Replication("multicast group", 0xFFFF)
        self.clone_sessions = Replication("clone session", 0x7FFF)
        # From here on: what the generated source takes from its environment.
        self.finders: dict[str, Callable[..., object]] = {name: _finder(table) for name, table in self.tables.items()}
        self.groups, self.sessions = self.multicast.groups, self.clone_sessions.groups
        self.later: deque[tuple[object, ...]] = deque()
        self.again: deque[tuple[bytes, int, tuple[int, ...]]] = deque()
        self.digests: deque[tuple[str, tuple[int, ...]]] = deque()
        self.random = Random(seed).randint
        self._ingress, self._egress = self._make()

    def _make(self) -> tuple[Callable[..., None], Callable[..., None]]:
        scope: dict[str, object] = {name: function for name, (function, _) in ALGORITHMS.items()}
        scope |= {"aborted": Aborted, "Struct": Struct, "from_bytes": int.from_bytes, "to_bytes": to_bytes}
        exec(self.program.code, scope)
        make = scope["make"]
        assert callable(make)
        ingress, egress = make(self)
        return ingress, egress

    def process(self, port: int, data: bytes, *, now_us: int = 0) -> Sent:
        """Everything that leaves because of one packet, in order: (port, packet)."""
        out: Sent = []
        self._ingress(out, now_us, port, data)
        if self.later or self.again:
            self._finish(out, now_us, port)
        return out

    def _finish(self, out: Sent, now_us: int, port: int) -> None:
        """Clones made in egress, then packets that come in again, until there are none."""
        later, again = self.later, self.again
        try:
            for _ in range(GREATEST_ROUNDS):
                while later:
                    self._egress(out, *later.popleft())
                    if len(later) > GREATEST_ROUNDS:
                        raise Aborted(
                            f"{self.program.place}: clones of clones without end; let a clone be cloned no more"
                        )
                if not again:
                    return
                packet, instance, kept = again.popleft()
                self._ingress(out, now_us, port, packet, instance, kept)
            raise Aborted(
                f"{self.program.place}: a packet came in again {GREATEST_ROUNDS} times; let it leave at some time"
            )
        finally:
            later.clear()
            again.clear()

    def take_digests(self) -> list[Digest]:
        """The digests since the last call, oldest first."""
        taken = [Digest(name, fields) for name, fields in self.digests]
        self.digests.clear()
        return taken


def _finder(table: SwitchTable) -> Callable[..., object]:
    """How the data plane looks up in a table."""
    match table.spec.kind:
        case MatchKind.EXACT:
            return table.exact.get
        case MatchKind.LPM:
            return table.find_prefix
        case MatchKind.TERNARY:
            return table.find
        case MatchKind.RANGE:
            return table.find_range
