"""The operators of core mutants: each edits one place in the syntax tree of a core's function.

Statements and returns are edited here, all else in `expression_edits`. cosmic-ray and mutmut were
looked at: both write every mutant to disk and run a test command for it, and neither has operators for statements that
are dropped, repeated or exchanged, or for keys that are confused.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from itertools import chain
from types import MappingProxyType

from scatterproof.fuzz.edits import Edit, blocks_of, is_docstring, is_misuse
from scatterproof.fuzz.expression_edits import Records, conditions, expressions, state

_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)
_NO_EFFECT = ("assert_never", "super().__init__")  # or none that a mutant could do without
# Calls that do the same when repeated.
_IDEMPOTENT = ("add", "discard", "update", "clear", "allow", "heapify")
_CHANGE, _PUT = "change", "put"  # of checks/tables.py: they give a field, or an entry, of a table another value


def edits_of(
    function: ast.FunctionDef, records: Records = MappingProxyType({}), ways: Sequence[str] = ()
) -> Iterator[Edit]:
    """Every edit of the function by every operator; some have the same effect. records: those that its module knows.
    ways: of a check, the sentences of its violations."""
    yield from chain(_statements(function), conditions(function), expressions(function, records, ways))
    yield from chain(state(function), _returns(function))


def _statements(function: ast.FunctionDef) -> Iterator[Edit]:
    """Statements that are dropped, repeated, or exchanged with the next one; loops that end after their first turn, or
    are not entered."""
    bound = _bound_once(function)
    for owner, field, block in blocks_of(function):
        for at, statement in enumerate(block):
            if is_misuse(statement) or is_docstring(statement):
                continue
            if _may_go(function, owner, block, at, bound):
                yield Edit("drop", statement, owner, field, at, [ast.Pass()])
            if _counts(statement) or (_is_call(statement) and not _is_idempotent(statement)):
                yield Edit("repeat", statement, owner, field, at, [statement, copy.deepcopy(statement)])
            if isinstance(statement, ast.For | ast.While):
                once = copy.copy(statement)
                once.body = [*statement.body, ast.Break()]
                if not isinstance(statement.body[-1], ast.Break | ast.Return):
                    yield Edit("one-turn", statement, owner, field, at, [once])
                yield Edit("no-turn", statement, owner, field, at, list(statement.orelse) or [ast.Pass()])
            if (
                function.name != "__init__"
                and at + 1 < len(block)
                and _may_change_places(statement, block[at + 1], bound)
            ):
                yield Edit("exchange", statement, owner, field, at, [block[at + 1], statement], 2)


def _may_go(
    function: ast.FunctionDef, owner: ast.AST, block: Sequence[ast.stmt], at: int, bound: frozenset[str]
) -> bool:
    """Whether the function still runs without the statement, and then does something else."""
    statement = block[at]
    if len(block) == 1 and isinstance(owner, ast.If) and block is owner.body and not owner.orelse:
        return False  # as if its condition were never met
    if isinstance(statement, ast.Return):
        return not (owner is function and at == len(block) - 1)
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return False
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if function.name == "__init__" and any(isinstance(target, ast.Attribute) for target in targets):
            return False  # there would be no such attribute
        return not _written_names(statement) & bound
    dropped = (ast.AugAssign, ast.Delete, ast.Continue, ast.Break, ast.Raise)
    return isinstance(statement, dropped) or _is_call(statement)


def _counts(statement: ast.stmt) -> bool:
    """Whether it changes a value in place, and a set or a number of bits does not stay the same the second time."""
    return isinstance(statement, ast.AugAssign) and not isinstance(statement.op, ast.BitOr | ast.BitAnd)


def _is_call(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    return ast.unparse(statement.value.func) not in _NO_EFFECT


def _is_idempotent(statement: ast.stmt) -> bool:
    """By the name of the call; `pop` with a default is idempotent, too."""
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    called = ast.unparse(statement.value.func)
    last = called.rpartition(".")[2]
    return called in (_CHANGE, _PUT) or last in _IDEMPOTENT or (last == "pop" and len(statement.value.args) == 2)


def _changed(statement: ast.stmt) -> tuple[str, str] | None:
    """The table and the field that it changes, where it does nothing else and reads none."""
    match statement:
        case ast.Expr(ast.Call(ast.Name(id=name), [table, slot, number, value])) if name == _CHANGE:
            reads = any(isinstance(node, ast.Call) for part in (slot, value) for node in ast.walk(part))
            return None if reads else (ast.unparse(table), ast.unparse(number))
    return None


def _bound_once(function: ast.FunctionDef) -> frozenset[str]:
    """The local names that only one statement binds: without it they would be missing."""
    names = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    arguments = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
    return frozenset(name for name in names if names.count(name) == 1 and name not in arguments)


def _may_change_places(one: ast.stmt, other: ast.stmt, bound: frozenset[str]) -> bool:
    """Whether the order of two simple statements may matter, and the second one needs no name from the first."""
    if not isinstance(one, _SIMPLE) or not isinstance(other, _SIMPLE):
        return False
    read = {node.id for node in ast.walk(other) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    if read & _written_names(one) & bound:
        return False
    if _is_call(one) or _is_call(other):
        first, second = _changed(one), _changed(other)
        return first is None or second is None or first == second
    return bool(_written(one) & _used(other) or _written(other) & _used(one))


def _written_names(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _written(statement: ast.stmt) -> set[str]:
    """What outlasts the statement: not the names that a comprehension binds."""
    bound = {id(name) for c in ast.walk(statement) if isinstance(c, ast.comprehension) for name in ast.walk(c.target)}
    return {
        ast.unparse(node).split("[")[0]
        for node in ast.walk(statement)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del)
        if id(node) not in bound
    } | ({ast.unparse(statement.target)} if isinstance(statement, ast.AugAssign) else set())


def _used(statement: ast.stmt) -> set[str]:
    calls = {"call"} if any(isinstance(node, ast.Call) for node in ast.walk(statement)) else set()
    return calls | {
        ast.unparse(node).split("[")[0]
        for node in ast.walk(statement)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
    }


def _returns(function: ast.FunctionDef) -> Iterator[Edit]:
    """Return early, with nothing or with what was found until then; or return a result one off."""
    body = function.body
    first = 1 if is_docstring(body[0]) else 0
    if len(body) == first or function.name == "__init__":
        return
    result = ast.unparse(function.returns) if function.returns is not None else ""
    if len(body) - first > 1 or not isinstance(body[first], ast.Return):
        for value in _empty(result):
            yield Edit("early-return", body[first], function, "body", first, [ast.Return(value), body[first]])
    last = body[-1]
    for at in range(first + 1, len(body) - 1):  # before the last: as if that were dropped
        before = {name for statement in body[:at] for name in _written_names(statement)}
        if result == "None":
            yield Edit("early-return", body[at], function, "body", at, [ast.Return(), body[at]])
        elif at < len(body) - 2 and isinstance(last, ast.Return) and _is_among(last.value, before):
            yield Edit("early-return", body[at], function, "body", at, [ast.Return(last.value), body[at]])
    if result == "int":
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and node.value is not None:
                for sign in (ast.Add(), ast.Sub()):
                    yield Edit("one-off", node, node, "value", None, ast.BinOp(node.value, sign, ast.Constant(1)))


def _is_among(value: ast.expr | None, names: set[str]) -> bool:
    return isinstance(value, ast.Name) and value.id in names


def _empty(result: str) -> list[ast.expr | None]:
    if result == "None":
        return [None]
    if result == "bool":
        return [ast.Constant(True), ast.Constant(False)]
    if result.startswith(("list[", "Sequence[", "Iterable[")):
        return [ast.List([], ast.Load())]
    return [ast.Constant(None)] if result.endswith("| None") else []
