"""State that outlives a packet: registers, counters, meters, replication, parser value sets, digests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from scatterproof.impl.v1model.control import Code, ControlError, fits


class CounterValue(NamedTuple):
    """What a counter has counted."""

    packets: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Digest:
    """A message to the control plane: the name of its list of fields, and their values in order."""

    name: str
    fields: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeterConfig:
    """Committed and peak rates in bytes (or packets) a second, burst sizes in bytes (or packets)."""

    cir: int
    cburst: int
    pir: int
    pburst: int


class Meter:
    """Two rates, three colours, colour-blind: 0 green, 1 yellow, 2 red; green while it is not configured.

    As in BMv2 the peak bucket is asked first, whole tokens only, and both are filled by the time since the start.
    """

    __slots__ = ("_buckets", "_bytes")

    def __init__(self, in_bytes: bool) -> None:
        self._bytes = in_bytes
        # Colour, tokens a second, burst, tokens, tokens given so far.
        self._buckets: list[list[int]] = []

    def configure(self, config: MeterConfig) -> None:
        """Start with full buckets."""
        if config.cir > config.pir:
            raise ControlError(Code.INVALID_ARGUMENT, f"cir {config.cir} is above pir {config.pir}; exchange them")
        self._buckets = [
            [2, config.pir, config.pburst, config.pburst, 0],
            [1, config.cir, config.cburst, config.cburst, 0],
        ]

    def execute(self, now_us: int, length: int) -> int:
        """The colour of a packet of `length` bytes that came at `now_us`."""
        cost = length if self._bytes else 1
        for bucket in self._buckets:
            colour, rate, burst, tokens, given = bucket
            earned = now_us * rate // 1_000_000
            tokens = min(tokens + earned - given, burst)
            bucket[4] = earned
            if tokens < cost:
                bucket[3] = tokens
                return colour
            bucket[3] = tokens - cost
        return 0


class Attached:
    """What belongs to one entry of a table."""

    __slots__ = ("bytes", "meter", "packets")

    def __init__(self, meter: Meter | None) -> None:
        self.packets = 0
        self.bytes = 0
        self.meter = meter


class RegisterArray:
    """The cells of a register; `cells` is what the data plane reads and writes."""

    def __init__(self, name: str, size: int, width: int) -> None:
        self.name, self.width = name, width
        self.cells = [0] * size

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[int]:
        return iter(self.cells)

    def __getitem__(self, index: int) -> int:
        return self.cells[_index(index, len(self.cells), self.name)]

    def __setitem__(self, index: int, value: int) -> None:
        where = _index(index, len(self.cells), self.name)
        self.cells[where] = fits(value, self.width, f"{self.name}[{index}]")


class CounterArray:
    """The cells of an indirect counter."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.packets = [0] * size
        self.bytes = [0] * size

    def __len__(self) -> int:
        return len(self.packets)

    def __getitem__(self, index: int) -> CounterValue:
        where = _index(index, len(self.packets), self.name)
        return CounterValue(self.packets[where], self.bytes[where])


class MeterArray:
    """The cells of an indirect meter."""

    def __init__(self, name: str, size: int, in_bytes: bool) -> None:
        self.name = name
        self.cells = [Meter(in_bytes) for _ in range(size)]

    def __len__(self) -> int:
        return len(self.cells)

    def set(self, index: int, config: MeterConfig) -> None:
        """Configure one cell; its buckets are full."""
        self.cells[_index(index, len(self.cells), self.name)].configure(config)


Replica = tuple[int, int]


class Replication:
    """Groups of (port, instance), by number: multicast groups, or clone sessions."""

    def __init__(self, what: str, greatest: int) -> None:
        self._what, self._greatest = what, greatest
        self.groups: dict[int, tuple[Replica, ...]] = {}

    def set(self, number: int, replicas: Iterable[Replica]) -> None:
        """Make or replace a group. Number 0 means "none" in a program, so no multicast group has it."""
        if not 1 <= number <= self._greatest:
            raise ControlError(
                Code.INVALID_ARGUMENT, f"{self._what} {number} cannot be; take a number from 1 to {self._greatest}"
            )
        listed = sorted((instance, port) for port, instance in replicas)
        if len(set(listed)) < len(listed):
            raise ControlError(Code.INVALID_ARGUMENT, f"{self._what} {number} has a replica twice; give it once")
        self.groups[number] = tuple((port, instance) for instance, port in listed)

    def delete(self, number: int) -> None:
        """Take a group away: what is sent to it from now on goes nowhere."""
        if number not in self.groups:
            raise ControlError(Code.NOT_FOUND, f"there is no {self._what} {number}; make it with set()")
        del self.groups[number]

    def __getitem__(self, number: int) -> tuple[Replica, ...]:
        return self.groups[number]


class ValueSet:
    """A parser value set: values of one width, or of a struct as one int, its first field highest."""

    def __init__(self, name: str, width: int, size: int) -> None:
        self.name, self._width, self._size = name, width, size
        self.members: set[int] = set()

    def add(self, value: int) -> None:
        fits(value, self._width, self.name)
        if value in self.members:
            raise ControlError(Code.ALREADY_EXISTS, f"{self.name} has {value:#x} already; leave it")
        if len(self.members) >= self._size:
            raise ControlError(Code.RESOURCE_EXHAUSTED, f"{self.name} is full with {self._size}; remove some")
        self.members.add(value)

    def remove(self, value: int) -> None:
        if value not in self.members:
            raise ControlError(Code.NOT_FOUND, f"{self.name} has no {value:#x}; look at its members")
        self.members.remove(value)


def _index(index: int, size: int, name: str) -> int:
    if not 0 <= index < size:
        raise ControlError(Code.OUT_OF_RANGE, f"{name} has no index {index}; give 0 to {size - 1}")
    return index
