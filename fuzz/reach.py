"""Which branches of the cores a run reaches: a mutant is tried only on runs that reach its branch, and a branch that no
run reaches is not tested at all.

Every block of statements is marked at its beginning, also an `else` that is not written; the marked code replaces the
functions' own for a while. `sys.settrace` made runs twenty times as slow.
"""

from __future__ import annotations

import ast
import copy
import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType

from scatterproof.fuzz.core_mutants import code_of, function_at, functions_of
from scatterproof.fuzz.edits import blocks_of, is_docstring

_MARKS = "__reached__"


@dataclass(frozen=True, slots=True)
class Block:
    """Statements that run together.

    place: module:function.
    line: of the first statement; of the condition, for an `else` that is not written.
    way: how it is reached, in words.
    """

    place: str
    line: int
    way: str


class Reached:
    """While it is entered, `bits()` tells which blocks were met since it was asked last: 256 ** n for block n."""

    def __init__(self, places: Iterable[str]) -> None:
        """places: module:function, the functions whose blocks are marked."""
        self.blocks: list[Block] = []
        self._first: dict[str, int] = {}
        self._codes: list[tuple[FunctionType, CodeType, CodeType]] = []
        for place in places:
            module, _, function = place.partition(":")
            self._first[place] = len(self.blocks)
            tree = copy.deepcopy(functions_of(module)[function])
            self.blocks += _marked(tree, place, len(self.blocks))
            target = function_at(module, function)
            target.__globals__[_MARKS] = None
            self._codes.append((target, target.__code__, code_of(tree, function, importlib.import_module(module))))
        self._marks = bytearray(len(self.blocks))

    def __enter__(self) -> Reached:
        for held, _, marked in self._codes:
            held.__globals__[_MARKS] = self._marks
            held.__code__ = marked
        return self

    def __exit__(self, *_: object) -> None:
        for held, own, _marked_code in self._codes:
            held.__code__ = own

    def bits(self) -> int:
        found = int.from_bytes(self._marks, "little")
        self._marks[:] = bytes(len(self._marks))
        return found

    def bit(self, place: str, block: int) -> int:
        """The bit of a function's block, by the block's number in the function."""
        return int(256 ** (self._first[place] + block))

    def names(self, bits: int) -> list[Block]:
        """The blocks of these bits."""
        return [block for block, met in zip(self.blocks, bits.to_bytes(len(self.blocks), "little"), strict=True) if met]


def _marked(tree: ast.FunctionDef, place: str, number: int) -> Iterator[Block]:
    """Put a mark at the beginning of every block; the blocks."""
    for at, (owner, field, block) in enumerate(list(blocks_of(tree)), start=number):
        mark = ast.parse(f"{_MARKS}[{at}] = 1").body[0]
        yield Block(place, block[0].lineno if block else owner.lineno, _way(owner, field))  # type: ignore[attr-defined]
        first = 1 if owner is tree and is_docstring(block[0]) else 0
        block.insert(first, mark)


def _way(owner: ast.AST, field: str) -> str:
    if isinstance(owner, ast.If | ast.While):
        return f"{'if' if field == 'body' else 'if not'} {ast.unparse(owner.test)}"
    if isinstance(owner, ast.For):
        return f"for {ast.unparse(owner.target)} in {ast.unparse(owner.iter)}"
    if isinstance(owner, ast.ExceptHandler):
        return f"except {ast.unparse(owner.type) if owner.type is not None else ''}"
    if isinstance(owner, ast.match_case):
        return ast.unparse(owner).partition("\n")[0].strip().removesuffix(":")
    return "called" if isinstance(owner, ast.FunctionDef) else field
