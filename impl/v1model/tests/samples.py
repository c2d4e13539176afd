"""The sample programs, loaded once each, and packets put together field by field."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from scatterproof.impl.v1model import EmbeddedSwitch, P4Program, load

PROGRAMS = Path(__file__).parent / "programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.p4"))


@cache
def program(name: str) -> P4Program:
    return load(PROGRAMS / f"{name}.json", place=f"{name}.json")


def switch(name: str, ports: int = 8, cpu_port: int | None = None, seed: int = 0) -> EmbeddedSwitch:
    return EmbeddedSwitch(program(name), ports=ports, cpu_port=cpu_port, seed=seed)


def pack(*fields: tuple[int, int]) -> bytes:
    """Fields as (value, bits), the first one highest."""
    number = total = 0
    for value, bits in fields:
        number = number << bits | value % (1 << bits)
        total += bits
    assert total % 8 == 0
    return number.to_bytes(total // 8)


def word_sum(data: bytes) -> int:
    """The Internet checksum as its description has it: add 16-bit words, fold the carries in, complement."""
    if len(data) % 2:
        data += b"\0"
    total = 0
    for at in range(0, len(data), 2):
        total += data[at] * 256 + data[at + 1]
        if total > 0xFFFF:
            total -= 0xFFFF
    return 0xFFFF - total
