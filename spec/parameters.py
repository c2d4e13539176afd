"""What nodes of a protocol are set to: its ``parameters.toml``, from which the reference and the checks take bounds and
defaults, and the table of ADAPTER.md is made.

``python -m scatterproof.spec.parameters`` writes the table; with `--check` it exits with 1 when it is stale.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from scatterproof.spec import generated
from scatterproof.spec.clauses import SPEC, protocols
from scatterproof.spec.clauses_markdown import table
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput

FILE_NAME = "parameters.toml"
PAGE = "ADAPTER.md"
COMMAND = "python -m scatterproof.spec.parameters"
_BEGINS = f"<!-- Made by `{COMMAND}` from the parameters.toml of each protocol: edit those. -->"
_ENDS = "<!-- The end of what is made. -->"


class Multiple(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The value of parameter `of`, times `times`, divided by `over` and rounded down; never beyond least and most."""

    of: str
    times: int = 1
    over: int = 1


class Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One parameter: a whole number of at least `least`, one of a few words, or, with neither, any text.

    default: what it is where nobody gives it; None where it has to be given.
    """

    name: str
    meaning: str
    least: int | None = None
    most: int | None = None
    one_of: tuple[str, ...] = ()
    default: Parameter | Multiple | None = None

    @property
    def values(self) -> str:
        """What it may be, in words."""
        if self.one_of:
            return f"one of {', '.join(self.one_of)}"
        if self.least is None:
            return "a text"
        if (self.least, self.most) == (0, 1):
            return "0 or 1"
        return f"a whole number of {f'at least {self.least}' if self.most is None else f'{self.least} to {self.most}'}"

    def allows(self, value: object) -> bool:
        if self.one_of or self.least is None:
            return isinstance(value, str) and (not self.one_of or value in self.one_of)
        return isinstance(value, int) and self.least <= value and (self.most is None or value <= self.most)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    parameter: tuple[Declared, ...]


class Parameters(Mapping[str, Parameter]):
    """What a node is set to: each declared parameter as it is given, or by default. A value is checked when it is asked
    for: an invalid one raises BadInput."""

    def __init__(self, protocol: str, given: Mapping[str, Parameter], place: str = "") -> None:
        """place: what complaints begin with, such as the node."""
        self._declared = declared(protocol)
        self._given = given
        self._place = f"{place}: " if place else ""

    def __getitem__(self, name: str) -> Parameter:
        one = self._declared[name]
        value = self._given.get(name)
        if value is None:
            if not isinstance(one.default, Multiple):
                value = one.default
            else:
                found = self.number(one.default.of) * one.default.times // one.default.over
                value = max(one.least or 0, found if one.most is None else min(one.most, found))
        if value is None or not one.allows(value):
            raise BadInput(f"{self._place}parameter {name} is {value!r}; give {one.values}")
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._declared)

    def __len__(self) -> int:
        return len(self._declared)

    def number(self, name: str) -> int:
        value = self[name]
        assert isinstance(value, int), f"{name} is declared as a text"
        return value


@cache
def declared(protocol: str, folder: Path = SPEC) -> Mapping[str, Declared]:
    """The protocol's parameters by name, in the order of its file; none for a protocol without one. Raises BadInput,
    which names the file and what is wrong with it."""
    file = folder / protocol / FILE_NAME
    if not file.is_file():
        return {}
    try:
        found = msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), _File).parameter
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise BadInput(f"{file}: {error}; mend that") from None
    by_name = {one.name: one for one in found}
    if len(by_name) < len(found):
        raise BadInput(f"{file}: two parameters have one name; rename one of them")
    for one in found:
        if isinstance(one.default, Multiple):
            if one.default.of not in by_name or one.default.over < 1:
                raise BadInput(f"{file}: the default of {one.name} is of {one.default.of!r}, which gives none")
        elif one.default is not None and not one.allows(one.default):
            raise BadInput(f"{file}: the default of {one.name} is {one.default!r}; give {one.values}")
    return by_name


# ---------------------------------------------------------------------------------------- the table of ADAPTER.md


def markdown(folder: Path = SPEC) -> str:
    """A table for each protocol that has parameters."""
    parts = []
    for protocol in protocols(folder):
        rows = [
            [f"`{one.name}`", one.values, _default(one), one.meaning] for one in declared(protocol, folder).values()
        ]
        if rows:
            parts.append(f"`{protocol}`:\n\n{table(['parameter', 'values', 'default', 'meaning'], rows)}\n")
    return "\n".join(parts)


def _default(one: Declared) -> str:
    match one.default:
        case None:
            return "none: it is always given"
        case Multiple(of=of, times=times, over=over):
            multiplied = f"{times} × `{of}`" if times != 1 else f"`{of}`"
            return multiplied if over == 1 else f"{multiplied} ÷ {over}, rounded down, within these values"
        case "":
            return "an empty text"
        case value:
            return f"`{value}`"


def page(folder: Path = SPEC) -> str:
    """ADAPTER.md as it should be: what stands between the two marks is made anew. Raises BadInput where they are
    missing."""
    target = folder / PAGE
    before, begins, rest = target.read_text(encoding="utf-8").partition(_BEGINS)
    _, ends, after = rest.partition(_ENDS)
    if not begins or not ends:
        raise BadInput(f"{target}: the marks of the table of parameters are missing; write {_BEGINS} and {_ENDS}")
    return f"{before}{begins}\n\n{markdown(folder)}\n{ends}{after}"


def main(arguments: Sequence[str] | None = None, folder: Path = SPEC) -> int:
    """Write the page with its table, or with ``--check`` only compare it; the exit code."""
    return generated.command(COMMAND, folder / PAGE, lambda: page(folder), arguments)


if __name__ == "__main__":
    sys.exit(main())
