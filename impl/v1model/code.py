"""Python source as a tree of statements, so that generators can put blocks together and drop what does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class If:
    """`if` with any number of `elif`; `otherwise` is the `else`."""

    branches: list[tuple[str, Block]]
    otherwise: Block = field(default_factory=list)


@dataclass(slots=True)
class Loop:
    """`while True`; without a `break` inside it would not end."""

    body: Block


@dataclass(frozen=True, slots=True)
class Patch:
    """Bits to put into a header's number; `full` is as wide as the header. `patches.merged` makes lines of these."""

    raw: str
    shift: int
    mask: int
    full: int
    code: str


Statement = str | If | Loop | Patch
Block = list[Statement]


def choose(condition: str, then: Block, otherwise: Block | None = None) -> Block:
    """An `if` statement, or nothing when neither side does anything. Conditions have no effects."""
    otherwise = otherwise or []
    if condition == "True":
        return then
    if condition == "False":
        return otherwise
    if not then and not otherwise:
        return []
    if not then:
        return [If([(f"not ({condition})", otherwise)])]
    return [If([(condition, then)], otherwise)]


def bit_test(code: str) -> str:
    """A number of which only the truth counts; a single bit is looked at where it stands, without a shift."""
    bit = re.fullmatch(r"\(\((\w+) >> (\d|0x[0-9a-f]{1,2})\) & 1\)", code)
    return code if bit is None else f"({bit[1]} & {1 << int(bit[2], 0):#x})"


def render(block: Block, depth: int = 1) -> Iterator[str]:
    """The lines of a block, `depth` levels in."""
    indent = "    " * depth
    if not block:
        yield f"{indent}pass"
    for statement in block:
        match statement:
            case str():
                yield indent + statement
            case Patch():
                raise AssertionError("patches are merged before")
            case Loop(body):
                yield f"{indent}while True:"
                yield from render(body, depth + 1)
            case If(branches, otherwise):
                yield from _render_if(branches, otherwise, depth)


def _render_if(branches: list[tuple[str, Block]], otherwise: Block, depth: int) -> Iterator[str]:
    indent, word = "    " * depth, "if"
    while True:
        for condition, body in branches:
            yield f"{indent}{word} {condition}:"
            yield from render(body, depth + 1)
            word = "elif"
        # An `else` that holds one `if` is an `elif`: long chains do not nest.
        if len(otherwise) == 1 and isinstance(otherwise[0], If):
            branches, otherwise = otherwise[0].branches, otherwise[0].otherwise
        else:
            break
    if otherwise:
        yield f"{indent}else:"
        yield from render(otherwise, depth + 1)


def size(block: Block) -> int:
    """How many statements a block holds."""
    total = 0
    for statement in block:
        match statement:
            case str() | Patch():
                total += 1
            case Loop(body):
                total += 1 + size(body)
            case If(branches, otherwise):
                total += 1 + sum(size(body) for _, body in branches) + size(otherwise)
    return total
