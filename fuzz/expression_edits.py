"""Edits of expressions and of state: conditions, values, keys, and what is kept from one event to the next.

Edits within a single expression are the operators of `mutations`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from scatterproof.fuzz.edits import Edit, blocks_of, is_docstring, is_misuse
from scatterproof.fuzz.mutations import OPERATORS, Signature, argument

# By the name of a NamedTuple, its fields and their annotations.
Records: TypeAlias = Mapping[str, Mapping[str, str]]
_NUMBERS = ("int", "NodeId", "LinkId")
_MOST_ALIKE = 8
# Texts of errors, hints to a type checker, and patterns of a match.
_LEFT_OUT = (ast.JoinedStr, ast.Assert, ast.Raise, ast.pattern)
_NO_OTHER = {
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def conditions(function: ast.FunctionDef) -> Iterator[Edit]:
    """Conditions that always hold, or never."""
    for statement, parent, field, at, node in _expressions_in(function):
        is_test = field == "test" and isinstance(parent, ast.If | ast.IfExp | ast.While)
        if not is_test and not _is_further_test(parent, field):
            continue
        if not (isinstance(parent, ast.While) or isinstance(node, ast.Constant)):
            yield Edit("always", statement, parent, field, at, ast.Constant(True))
        yield Edit("never", statement, parent, field, at, ast.Constant(False))
    for match in (node for node in ast.walk(function) if isinstance(node, ast.Match)):
        for case in match.cases:
            if case.guard is None and not _is_never_met(case):
                yield Edit("never", match, case, "guard", None, ast.Constant(False))


def _is_further_test(parent: ast.AST, field: str) -> bool:
    """Whether it is the condition of a comprehension, or of a case."""
    return field in ("ifs", "guard") and isinstance(parent, ast.comprehension | ast.match_case)


def _is_never_met(case: ast.match_case) -> bool:
    return ast.unparse(case.body[0]).startswith("assert_never")


def expressions(function: ast.FunctionDef, records: Records, ways: Sequence[str] = ()) -> Iterator[Edit]:
    """The operators of rules; and those that rules have no use for. ways: of a check, the sentences of its violations;
    a number that the sentence does not name is read by nobody."""
    signature, unread = _signature(function, records), _unread(function, ways)
    for statement, parent, field, at, node in _expressions_in(function):
        if isinstance(node, ast.Tuple | ast.List) or id(node) in unread:
            continue
        for operator in OPERATORS:
            if _is_made_elsewhere(operator.name, node, parent, field):
                continue
            for _, replacement in operator.changes(node, signature):
                if operator.name == "stale-value" and not _is_near(node, replacement, signature):
                    continue
                yield Edit(operator.name, statement, parent, field, at, replacement)
        for name, replacement in _others(node, parent, signature):
            yield Edit(name, statement, parent, field, at, replacement)


def _unread(function: ast.FunctionDef, ways: Sequence[str]) -> set[int]:
    """The expressions, by their identity, within arguments of `violated` that no sentence names."""
    found = set[int]()
    for call in ast.walk(function) if ways else ():
        if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "violated"):
            continue
        way, expected, other = call.args[:3]
        said = ways[way.value] if isinstance(way, ast.Constant) and isinstance(way.value, int) else "{expected} {found}"
        for read, number in (("{expected" in said, expected), ("{found" in said, other)):
            found |= set() if read else {id(part) for part in ast.walk(number)}
    return found


def _is_near(node: ast.expr, other: ast.expr, signature: Signature) -> bool:
    """Whether one argument may be taken for the other. Where very many have one type, only neighbours in the signature
    may."""
    one, two = argument(node), argument(other)
    alike = [name for name, kind in signature.parameters.items() if kind == signature.parameters[one]]
    return len(alike) <= _MOST_ALIKE or abs(alike.index(one) - alike.index(two)) == 1


def _is_made_elsewhere(operator: str, node: ast.expr, parent: ast.AST, field: str) -> bool:
    """Whether another edit has the same effect: a condition is forced, or a part of it dropped; a sum is one off, or a
    comparison strict; and an argument is where it is used. Or it has none: what is read of a list is not its end."""
    if operator == "dropped-term" and isinstance(parent, ast.Subscript) and field == "value":
        return isinstance(parent.slice, ast.Constant)
    if operator == "dropped-guard":
        return isinstance(node, ast.Compare) and (field in ("test", "ifs", "guard") or isinstance(parent, ast.BoolOp))
    order = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    compared = isinstance(parent, ast.Compare) and isinstance(parent.ops[0], order)
    summed = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add | ast.Sub)
    return operator == "one-off" and (field == "args" or compared or summed)


def _both_numbers(one: ast.expr, two: ast.expr, signature: Signature) -> bool:
    """Whether both are arguments that are numbers, or attributes of one thing: others would only crash."""
    if all(signature.parameters.get(argument(each)) in _NUMBERS for each in (one, two)):
        return True
    if isinstance(one, ast.Attribute) and isinstance(two, ast.Attribute):
        return ast.unparse(one.value) == ast.unparse(two.value)
    return False


def _others(node: ast.expr, parent: ast.AST, signature: Signature) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _NO_OTHER:
        yield "negation", ast.Compare(node.left, [_NO_OTHER[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield "and-or", ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        if not (isinstance(parent, ast.keyword) and parent.arg == "strict"):  # of zip: all are of one length
            yield "negation", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(parent, ast.Subscript):
        if not (node.value == 1 and isinstance(parent, ast.UnaryOp)):  # any number below 0 is as good a mark as -1
            yield "one-off", ast.Constant(node.value + 1)
        yield "one-off", ast.Constant(node.value - 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and not isinstance(parent, ast.BinOp):
        yield "one-off", ast.BinOp(node, ast.Add(), ast.Constant(1))
        yield "one-off", ast.BinOp(node, ast.Sub(), ast.Constant(1))
    elif isinstance(node, ast.Call):
        named = node.func.id if isinstance(node.func, ast.Name) else ""
        if named in ("any", "all"):
            other = ast.Name("all" if named == "any" else "any", ast.Load())
            yield "any-all", ast.Call(other, node.args, node.keywords)
        if ast.unparse(node.func).rpartition(".")[2] == "replace":
            for at in range(len(node.keywords)):
                kept = [*node.keywords[:at], *node.keywords[at + 1 :]]
                yield "dropped-field", ast.Call(node.func, node.args, kept)
        for at in range(len(node.args) - 1):
            one, two = node.args[at : at + 2]
            if named not in ("min", "max") and _both_numbers(one, two, signature):
                yield "keys", ast.Call(node.func, [*node.args[:at], two, one, *node.args[at + 2 :]], node.keywords)


def state(function: ast.FunctionDef) -> Iterator[Edit]:
    """What is kept: assigned once and then no more, added where it is set, one off, or another one like it."""
    for owner, field, block in blocks_of(function):
        for at, statement in enumerate(block):
            if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add | ast.Sub):
                other = ast.Sub() if isinstance(statement.op, ast.Add) else ast.Add()
                changed = ast.AugAssign(statement.target, other, statement.value)
                yield Edit("sign", statement, owner, field, at, [changed])
            if isinstance(statement, ast.AugAssign):
                changed_to = ast.Assign([statement.target], statement.value)
                yield Edit("set-for-add", statement, owner, field, at, [changed_to])
            if not isinstance(statement, ast.Assign) or len(statement.targets) > 1 or function.name == "__init__":
                continue
            target = statement.targets[0]
            if isinstance(target, ast.Attribute) and not isinstance(statement.value, ast.Constant):
                read = ast.Attribute(target.value, target.attr, ast.Load())
                kept = ast.Assign([target], ast.BoolOp(ast.Or(), [read, statement.value]))
                yield Edit("first-stays", statement, owner, field, at, [kept])
    for place in _expressions_in(function):
        yield from _confused(function, *place)


def _confused(
    function: ast.FunctionDef, statement: ast.stmt, parent: ast.AST, field: str, at: int | None, node: ast.expr
) -> Iterator[Edit]:
    """Another key, or another attribute of the same thing, that stands in the same kind of place in the function."""
    if isinstance(parent, ast.Subscript) and field == "slice" and isinstance(node, ast.Name | ast.Attribute):
        keys = {
            ast.unparse(other.slice): other.slice
            for other in ast.walk(function)
            if isinstance(other, ast.Subscript) and isinstance(other.slice, ast.Name | ast.Attribute)
        }
        for text, key in keys.items():
            if text != ast.unparse(node) and text not in _of_comprehensions(function):
                yield Edit("keys", statement, parent, field, at, key)
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        alike = {
            other.attr
            for holder in ast.walk(function)
            for other_field, value in ast.iter_fields(holder)
            for other in (value if isinstance(value, list) else [value])
            if isinstance(other, ast.Attribute)
            and isinstance(other.ctx, ast.Load)
            and type(holder) is type(parent)
            and other_field == field
            and field not in ("func", "value", "args")
            and ast.unparse(other.value) == ast.unparse(node.value)
        }
        if isinstance(parent, ast.Subscript) and field == "value":
            index = ast.unparse(parent.slice)
            alike = {
                other.value.attr
                for other in ast.walk(function)
                if isinstance(other, ast.Subscript)
                and isinstance(other.value, ast.Attribute)
                and ast.unparse(other.slice) == index
                and ast.unparse(other.value.value) == ast.unparse(node.value)
            }
        for attribute in sorted(alike - {node.attr}):
            yield Edit("attribute", statement, parent, field, at, ast.Attribute(node.value, attribute, ast.Load()))


def _of_comprehensions(function: ast.FunctionDef) -> set[str]:
    """Names that are bound within an expression only."""
    return {
        name.id
        for found in ast.walk(function)
        if isinstance(found, ast.comprehension)
        for name in ast.walk(found.target)
        if isinstance(name, ast.Name)
    }


def _signature(function: ast.FunctionDef, records: Records) -> Signature:
    arguments = [a for a in (*function.args.args, *function.args.kwonlyargs) if a.annotation is not None]
    parameters = {a.arg: ast.unparse(a.annotation) for a in arguments if a.annotation is not None}
    for name, annotation in list(parameters.items()):
        parameters |= {f"{name}.{field}": of for field, of in records.get(annotation, {}).items()}
    return Signature(parameters, ast.unparse(function.returns) if function.returns is not None else "")


def _expressions_in(
    function: ast.FunctionDef,
) -> Iterator[tuple[ast.stmt, ast.AST, str, int | None, ast.expr]]:
    """(statement, parent, field, place in the field, expression) for all that are evaluated when the function runs,
    without texts of errors and hints to a type checker."""

    def within(statement: ast.stmt, parent: ast.AST) -> Iterator[tuple[ast.stmt, ast.AST, str, int | None, ast.expr]]:
        for field, value in ast.iter_fields(parent):
            if field in ("annotation", "returns", "decorator_list", "ctx", "type_comment", "args") and isinstance(
                parent, ast.AnnAssign | ast.FunctionDef | ast.Lambda
            ):
                continue
            for at, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(child, ast.AST) or isinstance(child, _LEFT_OUT):
                    continue
                if isinstance(child, ast.stmt):
                    if not is_misuse(child) and not is_docstring(child):
                        yield from within(child, child)
                    continue
                if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), ast.Store | ast.Del):
                    if isinstance(child, ast.Call) and ast.unparse(child.func) in ("assert_never", "Refuse", "cast"):
                        continue
                    yield statement, parent, field, at, child
                yield from within(statement, child)

    for statement in function.body:
        if not is_misuse(statement) and not is_docstring(statement):
            yield from within(statement, statement)
