"""Core mutants: cores with one change in their source, applied by replacing the code of a function in this process.
Nothing on disk is touched; whoever applies one does so in a process of its own (`trying`).

A mutant is named by what is changed, not by where that stands: `authority:FailingSwitch._look/never-1f0c33`. Its name
stays the same as long as the changed statement does.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from scatterproof.fuzz.core_edits import edits_of
from scatterproof.fuzz.edits import Edit, blocks_of

_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreMutant:
    """name: does not depend on line numbers.
    place: module:function.
    line: the present line of the statement.
    block: the number, within the function, of the block with the change.
    before, after: the statement's text.
    area: the area that it is counted in.
    number: the number of its edit within the function.
    """

    name: str
    place: str
    module: str
    area: str
    operator: str
    line: int
    block: int
    before: str
    after: str
    number: int

    @property
    def function(self) -> str:
        return self.place.partition(":")[2]


def core_mutants(areas: Mapping[str, str]) -> tuple[CoreMutant, ...]:
    """All mutants of the functions that have an area."""
    return tuple(mutant for place in places_of(areas) for mutant in mutants_of(place, area_of(place, areas)))


def places_of(areas: Mapping[str, str]) -> list[str]:
    """The functions that have an area, as module:function. `areas` names modules, or functions as module:function; the
    longest name that fits counts, and an empty area leaves a function out."""
    places = (f"{module}:{function}" for module in modules_of(areas) for function in functions_of(module))
    return [place for place in places if area_of(place, areas)]


def modules_of(areas: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(place.partition(":")[0] for place in areas))


def area_of(place: str, areas: Mapping[str, str]) -> str:
    """The area of a function."""
    module, _, function = place.partition(":")
    names = [module, *(f"{module}:{function[:end]}" for end in _ends(function))]
    return next((areas[name] for name in reversed(names) if name in areas), "")


def within(place: str) -> str:
    """A place, or a module, within its package and protocol."""
    return place.split(".", 3)[3]


def _ends(function: str) -> Iterator[int]:
    for end, letter in enumerate(function):
        if letter == ".":
            yield end
    yield len(function)


def mutants_of(place: str, area: str) -> Iterator[CoreMutant]:
    """The mutants of one function, each effect once."""
    module, _, function = place.partition(":")
    tree = functions_of(module)[function]
    texts = {id(statement): ast.unparse(statement) for statement in tree.body}
    seen, names = {tuple(texts.values())}, dict[str, int]()
    outermost = {id(node): statement for statement in tree.body for node in ast.walk(statement)}
    before_of: dict[int, str] = {}
    block_of = {id(s): at for at, (_, _, block) in enumerate(blocks_of(tree)) for s in block}
    for number, edit in enumerate(_edits_of(place)):
        around = outermost[id(edit.place)]
        kept = texts.pop(id(around))  # the others are as they were
        if id(edit.place) not in before_of:
            before_of[id(edit.place)] = ast.unparse(edit.place)
        before = before_of[id(edit.place)]
        after, changed = _texts(tree, edit, texts)
        texts[id(around)] = kept
        if changed in seen:
            continue
        seen.add(changed)
        told = hashlib.blake2b(f"{before}\n{after}".encode(), digest_size=8).hexdigest()[:_DIGITS]
        name = f"{within(place)}/{edit.operator}-{told}"
        names[name] = names.get(name, 0) + 1
        yield CoreMutant(
            name=name if names[name] == 1 else f"{name}-{names[name]}",
            place=place,
            module=module,
            area=area,
            operator=edit.operator,
            line=edit.place.lineno,
            block=block_of[id(edit.place)],
            before=before,
            after=after,
            number=number,
        )


def _edits_of(place: str) -> Iterator[Edit]:
    module, _, function = place.partition(":")
    ways = getattr(vars(importlib.import_module(module)).get(function), "ways", ())
    return edits_of(functions_of(module)[function], records_of(module), ways)


def _texts(tree: ast.FunctionDef, edit: Edit, known: Mapping[int, str]) -> tuple[str, tuple[str, ...]]:
    """The statement after the edit, and those of the whole function. known: by id, texts that stay."""
    undo = edit.swap()
    try:
        changed = tuple(known.get(id(one)) or ast.unparse(ast.fix_missing_locations(one)) for one in tree.body)
        if isinstance(edit.new, list):
            after = "; ".join(ast.unparse(statement) for statement in edit.new)
        else:
            after = ast.unparse(edit.place)
    finally:
        undo.swap()
    return after, changed


@cache
def functions_of(module: str) -> dict[str, ast.FunctionDef]:
    """The functions and methods that a module defines, by qualified name, without stubs."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    found: dict[str, ast.FunctionDef] = {}
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            found[statement.name] = statement
        elif isinstance(statement, ast.ClassDef):
            methods = (part for part in statement.body if isinstance(part, ast.FunctionDef))
            found.update((f"{statement.name}.{method.name}", method) for method in methods)
    return {name: function for name, function in found.items() if not _is_stub(function)}


@cache
def records_of(module: str) -> dict[str, dict[str, str]]:
    """The records that a module knows: by name, the annotations of their fields."""
    known = vars(importlib.import_module(module)).items()
    records = {name: one for name, one in known if isinstance(one, type) and hasattr(one, "_fields")}
    hints = {name: inspect.get_annotations(record) for name, record in records.items()}
    return {
        name: {field: getattr(hint, "__forward_arg__", str(hint)) for field, hint in of.items()}
        for name, of in hints.items()
    }


def _is_stub(function: ast.FunctionDef) -> bool:
    return all(isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) for part in function.body)


def apply(mutant: CoreMutant) -> None:
    """Put the mutant's code in the place of its function's, for good: everybody who holds the function runs it."""
    module = importlib.import_module(mutant.module)
    tree = functions_of(mutant.module)[mutant.function]
    edit = next(edit for number, edit in enumerate(_edits_of(mutant.place)) if number == mutant.number)
    undo = edit.swap()
    try:
        code = code_of(tree, mutant.function, module)
    finally:
        undo.swap()
    _replace(module, mutant.function, code)


def code_of(tree: ast.FunctionDef, name: str, module: ModuleType) -> CodeType:
    """The code of the function alone, compiled within a class where it is a method: `super` needs one."""
    owner, _, own = name.rpartition(".")
    decorated, tree.decorator_list = tree.decorator_list, []
    try:
        body: list[ast.stmt] = [tree]
        if owner:
            body = [ast.ClassDef(owner, [], [], body, [])]
        future = ast.parse("from __future__ import annotations").body
        whole = ast.fix_missing_locations(ast.Module([*future, *body], []))
        code = compile(whole, module.__file__ or "<core>", "exec", dont_inherit=True)
    finally:
        tree.decorator_list = decorated
    for part in (owner, own) if owner else (own,):
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == part)
    return code


def _replace(module: ModuleType, name: str, code: CodeType) -> None:
    function = function_at(module.__name__, name)
    if code.co_freevars == function.__code__.co_freevars:
        function.__code__ = code
        return
    # A mutant that no longer calls `super` has no cell for it.
    owner, _, own = name.rpartition(".")
    holder: Any = getattr(module, owner) if owner else module
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    new = FunctionType(
        code, function.__globals__, own, function.__defaults__, tuple(cells[free] for free in code.co_freevars)
    )
    new.__kwdefaults__ = function.__kwdefaults__
    kind = type(vars(holder)[own])
    setattr(holder, own, new if kind is FunctionType else kind(new))


def function_at(module: str, name: str) -> FunctionType:
    """The function of that qualified name: what is behind a method, property or static method, or a check."""
    owner, _, own = name.rpartition(".")
    holder: Any = importlib.import_module(module)
    found: Any = vars(getattr(holder, owner) if owner else holder)[own]
    for attribute in ("fget", "__func__", "__wrapped__", "func", "step"):
        found = getattr(found, attribute, None) or found
    assert isinstance(found, FunctionType), found
    return found
