"""Tests in STF, the text form that p4testgen and others write, as steps of a recording.

One test is: entries and defaults, one packet in, packets expected out. A `*` in an expected packet is a half byte that
the target may choose; in a value of a key it is a bit that does not matter. What STF cannot say (registers, ranges) is
not in the tests that p4testgen writes in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from scatterproof.impl.bmv2.recording import ControlRequest, Fresh, RecordedPacket, Step, text_of
from scatterproof.impl.v1model import Lpm, Ternary
from scatterproof.impl.v1model.tables import Key, MatchKind
from scatterproof.spec.errors import BadInput

_CALL = re.compile(r'"(?P<name>[^"]+)"\((?P<params>[^)]*)\)$')
_PAIR = re.compile(r'"(?P<name>[^"]+)":(?P<value>[0-9a-zA-Z*]+)')
_TABLE = re.compile(r'(?P<verb>add|setdefault) "(?P<table>[^"]+)" (?P<rest>.*)$')


class StfTable(Protocol):
    """What a test's text needs of a table."""

    @property
    def keys(self) -> Sequence[Key]: ...
    @property
    def ranked(self) -> bool: ...


class StfProgram(Protocol):
    """What a test's text needs of a program."""

    @property
    def tables(self) -> Mapping[str, StfTable]: ...


@dataclass(frozen=True, slots=True)
class Test:
    """What one file says. `expected`: port, and the packet with its `*`, or nothing where any packet will do."""

    controls: tuple[ControlRequest, ...]
    port: int
    data: str
    expected: tuple[tuple[int, str | None], ...]

    def steps(self, why: str) -> list[Step]:
        """The test as steps on a fresh target. BadInput where a packet is expected, but not which."""
        out, masks = [], []
        for port, packet in self.expected:
            if packet is None:
                raise BadInput(f"{why}: any packet at port {port} will do: such a test says too little; leave it out")
            out.append((port, packet.replace("*", "0")))
            masks.append("".join("0" if digit == "*" else "f" for digit in packet))
        order = sorted(range(len(out)), key=lambda place: out[place][0])
        packet_step = RecordedPacket(
            port=self.port,
            data=self.data,
            out=[out[place] for place in order],
            masks=[masks[place] for place in order] if any("0" in mask for mask in masks) else [],
        )
        return [Fresh(why=why), *self.controls, packet_step]


def parse(text: str, program: StfProgram, place: str) -> Test:
    """A test of this program. Raises BadInput, which names the line, for what is none."""
    controls: list[ControlRequest] = []
    sent: tuple[int, str] | None = None
    expected: list[tuple[int, str | None]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        match words:
            case []:
                continue
            case [first, *_] if first.startswith("#"):
                continue
            case ["packet", port, *data]:
                sent = (int(port), "".join(data).lower())
            case ["expect", port]:
                expected.append((int(port), None))
            case ["expect", port, *data]:
                expected.append((int(port), "".join(data).rstrip("$").lower()))
            case ["mirroring_add", session, port]:
                controls.append(ControlRequest(verb="clone_session", number=int(session), replicas=[(int(port), 1)]))
            case ["add" | "setdefault", *_]:
                controls.append(_control(line.strip(), program, f"{place}:{number}"))
            case _:
                raise BadInput(f"{place}:{number}: {line.strip()!r} is no line of STF that is known here; leave it out")
    if sent is None:
        raise BadInput(f"{place}: no packet is sent; write a line `packet PORT BYTES`")
    return Test(tuple(controls), sent[0], sent[1], tuple(expected))


def _control(line: str, program: StfProgram, place: str) -> ControlRequest:
    found = _TABLE.fullmatch(line)
    call = _CALL.search(found["rest"]) if found else None
    if found is None or call is None:
        raise BadInput(f'{place}: {line!r} names no table and action; write add "table" "key":1 "action"(...)')
    table, head = found["table"], found["rest"][: call.start()].split(" ", 1)
    if table not in program.tables:
        raise BadInput(f"{place}: there is no table {table!r}; there are {', '.join(program.tables)}")
    params = {name: hex(_number(value)) for name, value in _PAIR.findall(call["params"])}
    if found["verb"] == "setdefault":
        return ControlRequest(verb="default", table=table, action=call["name"], params=params)
    ranked = program.tables[table].ranked
    priority = int(head[0]) if head[0].isdigit() else 1
    return ControlRequest(
        verb="add",
        table=table,
        match=dict(_keys(found["rest"][: call.start()], program, table)),
        action=call["name"],
        params=params,
        priority=priority if ranked else 0,
    )


def _keys(text: str, program: StfProgram, table: str) -> Iterator[tuple[str, str]]:
    kinds = {key.name: key.kind for key in program.tables[table].keys}
    for name, value in _PAIR.findall(text):
        # Only prefixes and masks are written in bits.
        if not value.startswith("0b"):
            yield name, hex(_number(value))
            continue
        digits = value[2:]
        mask = int("".join("0" if digit == "*" else "1" for digit in digits), 2)
        number = int(digits.replace("*", "0"), 2)
        if mask:
            prefix = kinds.get(name) is MatchKind.LPM
            yield name, text_of(Lpm(number, mask.bit_count()) if prefix else Ternary(number, mask))


def _number(text: str) -> int:
    return int(text, 0)
