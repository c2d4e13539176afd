"""Turns TLA+ values, as TLC prints them, into Python values.

Integers, strings and Booleans become the same; a sequence becomes a tuple, a set a frozenset, a record or function a
`Function` (a hashable dict), and a model value a `ModelValue`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, Union

from scatterproof.spec.errors import BadInput

Value: TypeAlias = Union[int, str, bool, tuple["Value", ...], frozenset["Value"], "Function", "ModelValue"]

_TOKEN = re.compile(r'\s*(?:(-?\d+)|("(?:[^"\\]|\\.)*")|([A-Za-z_]\w*)|(<<|>>|\|->|:>|@@|\.\.|[\[\](){},]))')
_NAME = re.compile(r"[A-Za-z_]\w*")
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


class Function(dict[Value, Value]):
    """A TLA+ function or record. Hashable, so that it can be in a set: never change one."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


@dataclass(frozen=True, slots=True)
class ModelValue:
    """A model value: equal only to itself, and to no string of the same letters."""

    name: str


def parse_value(text: str) -> Value:
    """The value printed in `text`, the whole of it; BadInput that shows where reading stopped."""
    reader = _Reader(text)
    value = reader.value()
    reader.expect("")
    return value


def parse_state(text: str) -> dict[str, Value]:
    r"""The variables of a state, printed as ``/\ x = 1`` lines, or as ``x = 1`` where there is one variable."""
    starts = list(re.finditer(r"^(?:/\\ )?([A-Za-z_]\w*) = ", text, flags=re.MULTILINE))
    if not starts:
        raise BadInput(f"TLC state: no variable in {text[:40]!r}; expected lines such as '/\\ x = 1'")
    ends = [start.start() for start in starts[1:]] + [len(text)]
    return {
        start.group(1): parse_value(text[start.end() : end].strip()) for start, end in zip(starts, ends, strict=True)
    }


def format_value(value: Value) -> str:
    """The value in TLA+, on one line; sets and functions in the order of their printed elements."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, ModelValue):
        return value.name
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        for letter, character in _ESCAPES.items():
            escaped = escaped.replace(character, f"\\{letter}")
        return f'"{escaped}"'
    if isinstance(value, tuple):
        return "<<" + ", ".join(map(format_value, value)) + ">>"
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(format_value, value))) + "}"
    if value and all(type(key) is str and _NAME.fullmatch(key) for key in value):
        return "[" + ", ".join(f"{key} |-> {format_value(held)}" for key, held in value.items()) + "]"
    return "(" + " @@ ".join(f"{format_value(key)} :> {format_value(held)}" for key, held in value.items()) + ")"


class _Reader:
    """Recursive descent over the tokens; `at` is the place in the text of the next one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._tokenise())
        self.next = 0

    def _tokenise(self) -> Iterator[tuple[str, int]]:
        at = 0
        while at < len(self.text.rstrip()):
            match = _TOKEN.match(self.text, at)
            if match is None:
                raise self._error(at)
            yield match.group().strip(), at
            at = match.end()
        yield "", len(self.text)

    def _error(self, at: int) -> BadInput:
        return BadInput(f"TLA+ value: cannot read {self.text[at : at + 20]!r} at character {at} of {self.text[:60]!r}")

    def peek(self) -> str:
        return self.tokens[self.next][0]

    def take(self) -> str:
        token = self.tokens[self.next][0]
        self.next += 1
        return token

    def expect(self, token: str) -> None:
        if self.peek() != token:
            raise self._error(self.tokens[self.next][1])
        self.next += 1

    def value(self) -> Value:
        token = self.peek()
        if token == "<<":
            return tuple(self.between("<<", ">>"))
        if token == "{":
            return frozenset(self.between("{", "}"))
        if token == "[":
            return self.record()
        if token == "(":
            return self.function()
        if token[:1].isdigit() or (token[:1] == "-" and token[1:].isdigit()):
            return self.number()
        if token.startswith('"'):
            return _ESCAPED.sub(lambda match: _ESCAPES.get(match.group(1), match.group(1)), self.take()[1:-1])
        if token[:1].isalpha() or token[:1] == "_":
            word = self.take()
            return word == "TRUE" if word in ("TRUE", "FALSE") else ModelValue(word)
        raise self._error(self.tokens[self.next][1])

    def number(self) -> Value:
        first = int(self.take())
        if self.peek() != "..":
            return first
        self.take()
        if not self.peek().lstrip("-").isdigit():
            raise self._error(self.tokens[self.next][1])
        return frozenset(range(first, int(self.take()) + 1))

    def between(self, opening: str, closing: str) -> list[Value]:
        self.expect(opening)
        values: list[Value] = []
        while self.peek() != closing:
            if values:
                self.expect(",")
            values.append(self.value())
        self.expect(closing)
        return values

    def record(self) -> Function:
        fields = Function()
        self.expect("[")
        while self.peek() != "]":
            if fields:
                self.expect(",")
            if not _NAME.fullmatch(self.peek()):
                raise self._error(self.tokens[self.next][1])
            name = self.take()
            self.expect("|->")
            dict.__setitem__(fields, name, self.value())
        self.expect("]")
        return fields

    def function(self) -> Function:
        pairs = Function()
        self.expect("(")
        while self.peek() != ")":
            if pairs:
                self.expect("@@")
            argument = self.value()
            self.expect(":>")
            dict.__setitem__(pairs, argument, self.value())
        self.expect(")")
        return pairs
