"""Which locals a block needs from before it, and which of its assignments nobody reads.

Compiled programs are full of temporaries, and of metadata that only one pipeline looks at. Only what may be read before
it is assigned is passed on or set to zero at the start; assignments without effect are dropped.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from scatterproof.impl.v1model.code import Block, If, Loop, Patch, Statement, choose, render
from scatterproof.impl.v1model.hashes import ALGORITHMS

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
    return isinstance(called, ast.Name) and (
        called.id in PURE or called.id.endswith(("_find", "_find_")) or called.id.startswith("unpack_")
    )


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
    block = _joined(block)
    waiting = list(block)
    while waiting:
        statement = waiting.pop()
        match statement:
            case str():
                told = effect(statement)
                if waiting and (renamed := _coalesced(waiting[-1], statement, live)) is not None:
                    waiting[-1] = renamed
                    continue
                if told.leaves:
                    live = exit_ if statement == "break" else told.reads
                elif told.pure and not told.writes & live:
                    continue
                else:
                    live = live - told.writes | told.reads
                kept.append(statement)
            case Patch():
                raise AssertionError("patches are merged before")
            case Loop(body):
                shorter, live = _loop(body, live)
                kept.append(Loop(shorter))
            case If(branches, otherwise):
                made, live = _choice(branches, otherwise, live, exit_)
                kept += reversed(made)
    if all(isinstance(statement, str) and statement.startswith("#") for statement in kept):
        return [], live
    return kept[::-1], live


def _joined(block: Block) -> Block:
    """The block with neighbouring ifs of one test as one, where the first does not change the test."""
    joined: Block = []
    for statement in block:
        last = joined[-1] if joined else None
        if (
            isinstance(statement, If)
            and isinstance(last, If)
            and len(statement.branches) == len(last.branches) == 1
            and statement.branches[0][0] == last.branches[0][0]
            and not last.otherwise
            and not statement.otherwise
            and not effect(last.branches[0][0]).reads & _written(last.branches[0][1])
        ):
            joined[-1] = If([(last.branches[0][0], [*last.branches[0][1], *statement.branches[0][1]])])
        else:
            joined.append(statement)
    return joined


def _written(block: Block) -> set[str]:
    names: set[str] = set()
    for statement in block:
        match statement:
            case str():
                names |= effect(statement).writes
            case If(branches, otherwise):
                names |= _written(otherwise).union(*(_written(body) for _, body in branches))
            case Loop(body):
                names |= _written(body)
    return names


def _coalesced(before: Statement, copy: str, after: frozenset[str]) -> Statement | None:
    """The statement before a copy `to = name`, assigning `to` itself, where `name` serves for nothing else."""
    match = re.fullmatch(r"([A-Za-z_]\w*) = ([A-Za-z_]\w*)", copy)
    if match is None or match[2] in after or match[1] == match[2]:
        return None
    to, name = match.groups()
    if isinstance(before, str):
        told = effect(before)
        if told.leaves or told.writes != {name} or name in told.reads or not before.startswith(f"{name} = "):
            return None
        return f"{to} = {before.partition(' = ')[2]}"
    if not isinstance(before, If):
        return None
    text = "\n".join(render([before]))
    if re.search(rf"\b(break|return|raise|{to})\b", text) or not re.search(rf"\b{name} = ", text):
        return None
    _, live = _back([before], frozenset({name}), NOTHING)
    if name in live:
        return None
    return _renamed(before, re.compile(rf"\b{name}\b"), to)


def _renamed(statement: Statement, name: re.Pattern[str], to: str) -> Statement:
    """The statement with another local."""
    match statement:
        case str():
            return name.sub(to, statement)
        case If(branches, otherwise):
            return If(
                [(name.sub(to, test), [_renamed(one, name, to) for one in body]) for test, body in branches],
                [_renamed(one, name, to) for one in otherwise],
            )
        case Loop(body):
            return Loop([_renamed(one, name, to) for one in body])
    raise AssertionError("patches are merged before")


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


def from_row(names: list[str], used: Counter[str], body: Block) -> Block:
    """The body after its parameters were taken from `row`: one assignment, straight to where each is only copied."""
    targets = {name: name for name in names if used[name]}
    # What a kept statement reads or writes must not be assigned before it.
    touched: set[str] = set()
    kept: Block = []
    for at, statement in enumerate(body):
        if not isinstance(statement, str):
            kept += body[at:]
            break
        match = re.fullmatch(r"(\w+) = (p_\w+)", statement)
        if match is not None and used[match[2]] == 1 and match[1] not in touched:
            targets[match[2]] = match[1]
            touched.add(match[1])
        else:
            told = effect(statement)
            touched |= told.reads | told.writes
            kept.append(statement)
    body = kept
    if len(targets) <= 1:
        return [*(f"{to} = row[{names.index(name) + 1}]" for name, to in targets.items()), *body]
    return [f"_, {', '.join(targets.get(name, '_') for name in names)}, _ = row", *body]
