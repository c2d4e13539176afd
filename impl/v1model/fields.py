"""Headers, their fields and stacks, each with the local variables that hold it in the generated source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

# The name under which BMv2 JSON reads a header's validity as a field.
VALID = "$valid$"


@dataclass(slots=True, eq=False)
class Field:
    """A field; `shift` is the distance of its lowest bit from the header's end. Variable ones have width 0."""

    header: str
    name: str
    index: int
    width: int
    shift: int
    signed: bool
    variable: bool
    local: str

    @property
    def mask(self) -> int:
        return (1 << self.width) - 1

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest value."""
        if self.signed:
            return -(1 << self.width - 1), (1 << self.width - 1) - 1
        return 0, self.mask

    @property
    def bits_local(self) -> str:
        """The local that holds the length in bits of a variable field."""
        return f"{self.local}_bits"


@dataclass(slots=True, eq=False)
class HeaderInstance:
    """A header instance, or metadata (which is never in a packet and has no raw local)."""

    name: str
    type: str
    metadata: bool
    fields: list[Field]
    valid: str
    raw: str
    max_bytes: int | None
    variable: Field | None = None

    @property
    def bits(self) -> int:
        """Width in bits, a variable field not counted."""
        return sum(one.width for one in self.fields)


@dataclass(slots=True, eq=False)
class HeaderStack:
    """A header stack; `next` is the local that holds the index of the first element not yet extracted."""

    name: str
    members: list[HeaderInstance]
    next: str


class Raw(Enum):
    """How the bits of a header that no local holds are kept."""

    NONE = "none"
    INT = "int"
    BYTES = "bytes"


def chunks(header: HeaderInstance) -> list[tuple[int, list[Field]]]:
    """The header cut where fields end at bytes: (bytes, fields) from its start."""
    found: list[tuple[int, list[Field]]] = []
    group: list[Field] = []
    bits = 0
    for one in header.fields:
        group.append(one)
        bits += one.width
        if bits % 8 == 0:
            found.append((bits // 8, group))
            group, bits = [], 0
    return found


def part(whole: str, one: Field, bits: int | None = None) -> str:
    """An expression for a field in the number that holds its header; `bits`, if that has no others, spare a mask."""
    code = f"{whole} >> {one.shift}" if one.shift else whole
    if bits is None or one.shift + one.width < bits:
        code = f"{code} & {one.mask:#x}"
    if one.signed:
        half = 1 << one.width - 1
        return f"({code} ^ {half:#x}) - {half:#x}"
    return code
