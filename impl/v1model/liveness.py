"""Which locals a block needs from before it, and which of its assignments nobody reads.

Compiled programs are full of temporaries, and of metadata that only one pipeline looks at. Only what may be read before
it is assigned is passed on or set to zero at the start; assignments without effect are dropped.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from impl.v1model.code import Block, If, Loop, Statement, choose
from impl.v1model.hashes import ALGORITHMS

PURE = frozenset({"from_bytes", "to_bytes", "min", "max", "bool", "len", *ALGORITHMS})
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Effect:
    """What one line does with names; `pure` when it does nothing but assign names, `leaves` when nothing follows it."""

    reads: frozenset[str]
    writes: frozenset[str]
    pure: bool
    leaves: bool


@lru_cache(maxsize=65536)
def effect(line: str) -> Effect:
    """The effect of a line; of a condition, too."""
    if line.startswith("#"):
        return Effect(NOTHING, NOTHING, False, False)
    if line == "break":
        return Effect(NOTHING, NOTHING, False, True)
    (statement,) = ast.parse(line if not line.startswith("return") else "pass").body
    leaves = line.startswith(("return", "raise"))
    reads: set[str] = set()
    writes: set[str] = set()
    pure = isinstance(statement, ast.Assign)
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            (writes if isinstance(node.ctx, ast.Store) else reads).add(node.id)
        elif isinstance(node, ast.Call):
            pure = pure and _is_pure(node.func)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            pure = False
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        reads.add(statement.target.id)
    if isinstance(statement, ast.For):
        # Its names are its own, and it may run no times: it assigns nothing that one could rely on.
        writes.clear()
    return Effect(frozenset(reads), frozenset(writes), pure, leaves)


def _is_pure(called: ast.expr) -> bool:
    """Whether calling this changes nothing."""
    if isinstance(called, ast.Attribute):
        return called.attr == "to_bytes"
    return isinstance(called, ast.Name) and (called.id in PURE or called.id.endswith(("_find", "_find_")))


def needed(block: Block) -> tuple[Block, frozenset[str]]:
    """The block of a whole function without idle assignments, and the names it reads before it assigns them."""
    while True:
        shorter, live = _back(block, NOTHING, NOTHING)
        if shorter == block:
            return shorter, live
        block = shorter


def _back(block: Block, after: frozenset[str], exit_: frozenset[str]) -> tuple[Block, frozenset[str]]:
    """From the end to the start: `after` is live behind the block, `exit_` behind the loop that it is in."""
    kept: list[Statement] = []
    live = after
    for statement in reversed(block):
        match statement:
            case str():
                told = effect(statement)
                if told.leaves:
                    live = exit_ if statement == "break" else told.reads
                elif told.pure and not told.writes & live:
                    continue
                else:
                    live = live - told.writes | told.reads
                kept.append(statement)
            case Loop(body):
                shorter, live = _loop(body, live)
                kept.append(Loop(shorter))
            case If(branches, otherwise):
                made, live = _choice(branches, otherwise, live, exit_)
                kept += reversed(made)
    if all(isinstance(statement, str) and statement.startswith("#") for statement in kept):
        return [], live
    return kept[::-1], live


def _loop(body: Block, after: frozenset[str]) -> tuple[Block, frozenset[str]]:
    """What is live at the loop's start is live at its end; take more until it does not change."""
    live = NOTHING
    while True:
        shorter, before = _back(body, live, after)
        if before <= live:
            return shorter, before
        live |= before


def _choice(
    branches: list[tuple[str, Block]], otherwise: Block, after: frozenset[str], exit_: frozenset[str]
) -> tuple[Block, frozenset[str]]:
    last, live = _back(otherwise, after, exit_)
    for test, body in reversed(branches):
        shorter, inner = _back(body, after, exit_)
        live = live | inner
        made = choose(test, shorter, last)
        if made:
            live |= effect(test).reads
        last = made
    return last, live
