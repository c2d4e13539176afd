"""Mutation operators over the rule functions' syntax trees: every single change of a stated kind, made mechanically.

Any function whose source can be read has mutants: `mutants_of(function)` and, for the rules of a protocol,
`mutants_of_module(module)`. A mutant is the function with one change, named `<rule>/<change>`, such as
`aggregate/min-to-max`. Two changes that give one text are one mutant.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

Rule: TypeAlias = Callable[..., Any]
# What an operator makes of one node: the name of the change, and the node to put in its place.
Change: TypeAlias = tuple[str, ast.expr]


@dataclass(frozen=True, slots=True)
class Signature:
    """What an operator knows of the function: the annotations of its parameters in order, also of the fields of records
    (`row.number`), and of its result."""

    parameters: dict[str, str]
    result: str

    def alike(self, name: str) -> list[str]:
        """The other parameters with the annotation of this one."""
        own = self.parameters.get(name)
        return [other for other, kind in self.parameters.items() if own is not None and kind == own and other != name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """changes(node, signature) yields every change that the operator makes at this one node."""

    name: str
    sentence: str
    changes: Callable[[ast.expr, Signature], Iterator[Change]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleMutant:
    """The function `rule`, changed once by `operator`; `source` is its text after the change."""

    name: str
    rule: str
    operator: str
    source: str
    function: Rule


_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
# For each comparison: its neighbour at equality, its negation, and the same with its sides exchanged.
_OTHERS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt, ast.GtE),
    ast.Gt: (ast.GtE, ast.LtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}


def argument(node: ast.expr) -> str:
    """An argument that is read, or a field of one, as signatures name it; empty for anything else."""
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        return ast.unparse(node)
    return ""


def _read(name: str) -> ast.expr:
    record, _, field = name.rpartition(".")
    return ast.Attribute(ast.Name(record, ast.Load()), field, ast.Load()) if record else ast.Name(field, ast.Load())


def _comparison(node: ast.expr, signature: Signature) -> Iterator[Change]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sign = type(node.ops[0])
        for other in _OTHERS.get(sign, ()):
            yield f"{_SIGNS[sign]}-to-{_SIGNS[other]}", ast.Compare(node.left, [other()], node.comparators)


def _least_or_greatest(node: ast.expr, signature: Signature) -> Iterator[Change]:
    opposite = {"min": "max", "max": "min"}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in opposite:
        other = opposite[node.func.id]
        yield f"{node.func.id}-to-{other}", ast.Call(ast.Name(other, ast.Load()), node.args, node.keywords)


def _one_off(node: ast.expr, signature: Signature) -> Iterator[Change]:
    if signature.parameters.get(argument(node)) == "int":
        yield f"{_short(node)}-plus-one", ast.BinOp(node, ast.Add(), ast.Constant(1))
        yield f"{_short(node)}-minus-one", ast.BinOp(node, ast.Sub(), ast.Constant(1))


def _dropped_term(node: ast.expr, signature: Signature) -> Iterator[Change]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
        if len(node.args) < 2:
            return
        for number, dropped in enumerate(node.args):
            kept = node.args[:number] + node.args[number + 1 :]
            rest = kept[0] if len(kept) == 1 else ast.Call(node.func, kept, node.keywords)
            yield f"drop-{_short(dropped)}", rest
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield f"drop-{_short(node.right)}", node.left
        yield f"drop-{_short(node.left)}", node.right
    elif isinstance(node, ast.Tuple) and len(node.elts) > 1:
        for number, dropped in enumerate(node.elts):
            yield f"drop-{_short(dropped)}", ast.Tuple(node.elts[:number] + node.elts[number + 1 :], ast.Load())
    elif isinstance(node, ast.Name) and signature.parameters.get(node.id, "").startswith(("Sequence[", "tuple[")):
        yield f"drop-first-of-{node.id}", _but_for_one(node, ast.Slice(lower=ast.Constant(1)))
        yield (
            f"drop-last-of-{node.id}",
            _but_for_one(node, ast.Slice(upper=ast.UnaryOp(ast.USub(), ast.Constant(1)))),
        )


def _but_for_one(sequence: ast.Name, part: ast.Slice) -> ast.expr:
    """A part of the sequence, or all of it where the part is empty: rules are never handed an empty one."""
    return ast.BoolOp(ast.Or(), [ast.Subscript(sequence, part, ast.Load()), sequence])


def _dropped_guard(node: ast.expr, signature: Signature) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        yield "always", ast.Constant(True)
        yield "never", ast.Constant(False)
    elif isinstance(node, ast.BoolOp):
        for number, dropped in enumerate(node.values):
            kept = node.values[:number] + node.values[number + 1 :]
            yield f"drop-{_short(dropped)}", kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "drop-not", node.operand


def _stale_value(node: ast.expr, signature: Signature) -> Iterator[Change]:
    for other in signature.alike(argument(node)):
        yield f"{other}-for-{argument(node)}", _read(other)


OPERATORS = (
    Operator(
        name="comparison",
        sentence="A comparison becomes its neighbour at equality, its negation, or has its sides exchanged.",
        changes=_comparison,
    ),
    Operator(name="min-max", sentence="A minimum becomes a maximum, or the reverse.", changes=_least_or_greatest),
    Operator(name="one-off", sentence="An integer is one too large or one too small where used.", changes=_one_off),
    Operator(
        name="dropped-term",
        sentence="One term of a minimum, a maximum, a sum or a tuple is left out, or one end of a sequence.",
        changes=_dropped_term,
    ),
    Operator(
        name="dropped-guard", sentence="A condition, or a part of it, is left out or never met.", changes=_dropped_guard
    ),
    Operator(
        name="stale-value",
        sentence="Another argument of the same type, such as the older value, is used in place of one.",
        changes=_stale_value,
    ),
)
# A rule's loop takes far fewer turns.
MOST_TURNS = 10_000
# Not a change of one node: two arguments of one type change places throughout the function.
SWAPPED = "argument-swap"
SWAPPED_SENTENCE = "Two arguments of the same type are exchanged throughout."


def mutants_of(function: Rule) -> tuple[RuleMutant, ...]:
    """Every mutant of `function` by every operator, in the order of the operators' table."""
    tree = _definition(function)
    original = ast.unparse(tree)
    signature = _signature(tree)
    found: dict[str, RuleMutant] = {}
    names: set[str] = set()
    for operator, change, mutated in (*_by_node(tree, signature), *_swaps(tree, signature)):
        source = ast.unparse(ast.fix_missing_locations(mutated))
        if source == original or source in found:
            continue
        name, again = f"{tree.name}/{change}", 1
        while name in names:
            again += 1
            name = f"{tree.name}/{change}-{again}"
        names.add(name)
        found[source] = RuleMutant(
            name=name,
            rule=tree.name,
            operator=operator,
            source=source,
            function=compiled(source, tree.name, function),
        )
    return tuple(found.values())


def mutants_of_module(module: ModuleType) -> tuple[RuleMutant, ...]:
    """The mutants of every public function that `module` defines, in the order of definition."""
    return tuple(mutant for function in rules_of_module(module) for mutant in mutants_of(function))


def rules_of_module(module: ModuleType) -> tuple[Rule, ...]:
    """The public functions that `module` itself defines, in order."""
    return tuple(
        found
        for name, found in vars(module).items()
        if inspect.isfunction(found) and found.__module__ == module.__name__ and not name.startswith("_")
    )


def cuts_of(function: Rule) -> tuple[RuleMutant, ...]:
    """The function removed or inverted: its result is an argument of the result's type, a constant, or its negation."""
    tree = _definition(function)
    signature = _signature(tree)
    original = ast.unparse(tree)
    results: list[tuple[str, Callable[[ast.expr], ast.expr]]] = []
    for parameter, kind in signature.parameters.items():
        if kind == signature.result:
            results.append((f"return-{parameter}", lambda _, name=parameter: ast.Name(name, ast.Load())))  # type: ignore[misc]
        elif kind == f"Sequence[{signature.result}]":
            results.append((f"return-first-of-{parameter}", lambda _, name=parameter: _first(name)))  # type: ignore[misc]
    if signature.result == "int":
        results.append(("return-constant", lambda _: ast.Constant(1)))
        results.append(("negate", lambda value: ast.UnaryOp(ast.USub(), value)))
    elif signature.result == "bool":
        results.append(("always", lambda _: ast.Constant(True)))
        results.append(("negate", lambda value: ast.UnaryOp(ast.Not(), value)))
    elif signature.result.startswith("tuple[") and not results:
        results.append(("reverse", _reversed))
    found: dict[str, RuleMutant] = {}
    for change, replace in results:
        mutated = copy.deepcopy(tree)
        for statement in ast.walk(mutated):
            if isinstance(statement, ast.Return) and statement.value is not None:
                statement.value = replace(statement.value)
        source = ast.unparse(ast.fix_missing_locations(mutated))
        if source != original and source not in found:
            found[source] = RuleMutant(
                name=f"{tree.name}/{change}",
                rule=tree.name,
                operator="cut",
                source=source,
                function=compiled(source, tree.name, function),
            )
    return tuple(found.values())


def signature_of(function: Rule) -> Signature:
    return _signature(_definition(function))


def compiled(source: str, name: str, like: Rule) -> Rule:
    """The function called `name` in `source`, with the globals of the function that it was made from. A loop that does
    not end raises RuntimeError."""
    namespace = {**getattr(like, "__globals__", {}), "_turns_of_loops": _turns_of_loops}
    tree = ast.parse(source)
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.While)]
    if loops:
        definition = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
        definition.body[:0] = ast.parse("_turn = _turns_of_loops()").body
        for loop in loops:
            loop.body[:0] = ast.parse("_turn()").body
    exec(compile(ast.fix_missing_locations(tree), f"<mutant of {name}>", "exec"), namespace)
    mutant: Rule = namespace[name]
    return mutant


def _turns_of_loops() -> Callable[[], None]:
    """Counts the turns of one call's loops."""
    turns = iter(range(MOST_TURNS))

    def turn() -> None:
        if next(turns, None) is None:
            raise RuntimeError(f"a loop has not ended after {MOST_TURNS} turns")

    return turn


def _by_node(tree: ast.FunctionDef, signature: Signature) -> Iterator[tuple[str, str, ast.FunctionDef]]:
    """(operator, change, function) for each operator and each expression of the body."""
    places = [place for place, node in enumerate(ast.walk(tree)) if isinstance(node, ast.expr)]
    skipped = {id(node) for part in (tree.args, tree.returns) if part is not None for node in ast.walk(part)}
    nodes = list(ast.walk(tree))
    for operator in OPERATORS:
        for place in places:
            node = nodes[place]
            if id(node) in skipped or not isinstance(node, ast.expr):
                continue
            for change, replacement in operator.changes(node, signature):
                yield operator.name, change, _replaced(tree, place, replacement)
        if operator.name == "one-off" and signature.result == "int":
            yield from _results_one_off(tree)


def _results_one_off(tree: ast.FunctionDef) -> Iterator[tuple[str, str, ast.FunctionDef]]:
    """Every returned value, one larger and one smaller."""
    nodes = list(ast.walk(tree))
    one = ast.Constant(1)
    for node in nodes:
        if isinstance(node, ast.Return) and node.value is not None:
            place = next(at for at, found in enumerate(nodes) if found is node.value)
            yield "one-off", "result-plus-one", _replaced(tree, place, ast.BinOp(node.value, ast.Add(), one))
            yield "one-off", "result-minus-one", _replaced(tree, place, ast.BinOp(node.value, ast.Sub(), one))


def _swaps(tree: ast.FunctionDef, signature: Signature) -> Iterator[tuple[str, str, ast.FunctionDef]]:
    names = list(signature.parameters)
    for number, one in enumerate(names):
        for other in names[number + 1 :]:
            if other not in signature.alike(one):
                continue
            mutated = copy.deepcopy(tree)
            exchange = {one: other, other: one}
            for statement in mutated.body:
                for node in ast.walk(statement):
                    if isinstance(node, ast.Name):
                        node.id = exchange.get(node.id, node.id)
            yield SWAPPED, f"swap-{one}-{other}", mutated


def _replaced(tree: ast.FunctionDef, place: int, replacement: ast.expr) -> ast.FunctionDef:
    """A copy of `tree` with its node number `place` (in the order of `ast.walk`) replaced."""
    mutated = copy.deepcopy(tree)
    target = list(ast.walk(mutated))[place]

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return copy.deepcopy(replacement) if node is target else self.generic_visit(node)

    result = Replace().visit(mutated)
    assert isinstance(result, ast.FunctionDef)
    return result


def _definition(function: Rule) -> ast.FunctionDef:
    """The function's definition, without its docstring and decorators."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise TypeError(f"{function!r} is no function defined by def")
    tree.decorator_list = []
    if ast.get_docstring(tree) is not None and len(tree.body) > 1:
        tree.body = tree.body[1:]
    return tree


def _signature(tree: ast.FunctionDef) -> Signature:
    parameters = {
        argument.arg: ast.unparse(argument.annotation) if argument.annotation is not None else ""
        for argument in tree.args.args
    }
    return Signature(parameters, ast.unparse(tree.returns) if tree.returns is not None else "")


def _short(node: ast.expr) -> str:
    """The expression in the letters of a mutant's name."""
    text = ast.unparse(node).replace(" + ", "-plus-").replace(" - ", "-minus-")
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in text).strip("-")


def _first(name: str) -> ast.expr:
    return ast.Subscript(ast.Name(name, ast.Load()), ast.Constant(0), ast.Load())


def _reversed(value: ast.expr) -> ast.expr:
    backwards = ast.Slice(step=ast.UnaryOp(ast.USub(), ast.Constant(1)))
    return ast.Subscript(value, backwards, ast.Load())
