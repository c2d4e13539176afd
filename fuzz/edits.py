"""An edit of one place in a function's syntax tree, made and undone; and which parts of a function may be edited."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

# Raised for an invalid configuration, call or packet: no scheduled run gets there, as no correct neighbour sends such a
# packet. Tests of the cores get there with damaged packets.
MISUSE = ("BadInput", "LocalProtocolError", "NotImplementedError", "Refusal")


@dataclass(frozen=True, slots=True)
class Edit:
    """operator: its name.
    place: the statement of the function that it is in.
    parent, field, at: where `new` goes (at: in a list; None where the field is the node itself); a list replaces
        `count` statements.
    """

    operator: str
    place: ast.stmt
    parent: ast.AST
    field: str
    at: int | None
    new: ast.AST | list[ast.stmt]
    count: int = 1

    def swap(self) -> Edit:
        """Make the edit, and return what undoes it."""
        if self.at is None:
            old: Any = getattr(self.parent, self.field)
            setattr(self.parent, self.field, self.new)
            return replace(self, new=old)
        items = getattr(self.parent, self.field)
        if isinstance(self.new, list):
            before = items[self.at : self.at + self.count]
            items[self.at : self.at + self.count] = self.new
            return replace(self, new=before, count=len(self.new))
        old, items[self.at] = items[self.at], self.new
        return replace(self, new=old)


def is_misuse(statement: ast.stmt) -> bool:
    """Whether the statement runs only after a wrong configuration, a wrong call, or a broken neighbour."""
    if isinstance(statement, ast.Raise):
        return isinstance(statement.exc, ast.Call | ast.Name) and _raised(statement.exc) in MISUSE
    guarded = isinstance(statement, ast.If) and not statement.orelse and len(statement.body) == 1
    return guarded and isinstance(statement, ast.If) and is_misuse(statement.body[0])


def _raised(raised: ast.expr) -> str:
    called = raised.func if isinstance(raised, ast.Call) else raised
    name = called.id if isinstance(called, ast.Name) else ""
    return "BadInput" if name == "refuse" else name


def blocks_of(node: ast.AST) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    """(owner, field, statements) of the blocks in it, from outside inwards, and an empty one for each `else` that is
    not written; what misuse alone reaches is left out."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if not isinstance(block, list) or not (block or (field == "orelse" and isinstance(node, ast.If))):
            continue
        yield node, field, block
        for statement in block:
            if not is_misuse(statement):
                yield from blocks_of(statement)
    for way in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield from blocks_of(way)


def is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
