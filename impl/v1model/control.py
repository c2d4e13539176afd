"""What the control plane says to a table: matches, entries, and the errors that P4Runtime has for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from scatterproof.spec.errors import BadInput

T = TypeVar("T")


class Code(StrEnum):
    """Canonical status codes, as the P4Runtime specification uses them for table writes."""

    ALREADY_EXISTS = "ALREADY_EXISTS"
    NOT_FOUND = "NOT_FOUND"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    OUT_OF_RANGE = "OUT_OF_RANGE"
    RESOURCE_EXHAUSTED = "RESOURCE_EXHAUSTED"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    FAILED_PRECONDITION = "FAILED_PRECONDITION"
    # This target gives none of these; others do, and their answers are compared with its own.
    ABORTED = "ABORTED"
    UNIMPLEMENTED = "UNIMPLEMENTED"
    INTERNAL = "INTERNAL"
    UNKNOWN = "UNKNOWN"


class ControlError(BadInput):
    """A request of the control plane that the target refuses; nothing has changed."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Lpm:
    """The first `prefix` bits of a field."""

    value: int
    prefix: int


@dataclass(frozen=True, slots=True)
class Ternary:
    """The bits of a field where `mask` is 1."""

    value: int
    mask: int


@dataclass(frozen=True, slots=True)
class Range:
    """All values from `low` to `high`, both included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Member:
    """In place of an action: a member of the table's action profile."""

    number: int


@dataclass(frozen=True, slots=True)
class SelectorGroup:
    """In place of an action: a group of the table's action selector."""

    number: int


Match = int | Lpm | Ternary | Range
Params = Mapping[str, int] | Sequence[int]


@dataclass(frozen=True, slots=True)
class ControlEntry:
    """One entry of a table: the greater priority wins where several match."""

    match: Mapping[str, Match]
    action: str | Member | SelectorGroup
    params: Params = field(default_factory=tuple)
    priority: int = 0


def fits(value: int, width: int, what: str) -> int:
    """The value; refused when `width` bits cannot hold it."""
    if not 0 <= value < 1 << width:
        raise ControlError(Code.OUT_OF_RANGE, f"{what} is {value:#x}; give a value of {width} bits")
    return value


class ByName(dict[str, T]):
    """Objects of a program by name; a name that is not there is NOT_FOUND."""

    def __missing__(self, name: str) -> T:
        known = ", ".join(sorted(self)) or "none"
        raise ControlError(Code.NOT_FOUND, f"the program has no {name!r} here; it has {known}")
