"""Expressions of BMv2 JSON as Python expressions.

BMv2 computes with unbounded integers and cuts when it assigns. So does this, and it keeps the bounds of every value,
so that masks which cannot change anything are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from scatterproof.impl.v1model.code import Block, bit_test, choose
from scatterproof.impl.v1model.fields import VALID, Field, HeaderInstance, HeaderStack, Raw
from scatterproof.impl.v1model.layout import HeaderLayout
from scatterproof.spec.place import Place

COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
BOOLEAN = COMPARISONS | {"and", "or", "not", "d2b", "valid", "valid_union"}
# A shift by more than this gives 0 after any cut, and would fill the memory before it.
GREATEST_SHIFT = 1 << 16


@dataclass(frozen=True, slots=True)
class Value:
    """A Python expression for an int, with bounds (None: not known). Atoms need no parentheses."""

    code: str
    low: int | None
    high: int | None
    atom: bool = False

    def __str__(self) -> str:
        return self.code if self.atom else f"({self.code})"

    def within(self, low: int, high: int) -> bool:
        return self.low is not None and self.high is not None and low <= self.low and self.high <= high

    @property
    def negative(self) -> bool:
        """Whether it may be below 0."""
        return self.low is None or self.low < 0


def constant(value: int) -> Value:
    return Value(hex(value) if value > 9 else str(value), value, value, atom=value >= 0)


def contiguous(mask: int) -> bool:
    """Whether a mask is ones only."""
    return mask & (mask + 1) == 0


def fit(value: Value, width: int, signed: bool) -> Value:
    """The value as a field of this width keeps it: cut, two's complement when signed."""
    if signed:
        half = 1 << width - 1
        if value.within(-half, half - 1):
            return value
        return Value(f"({value} + {half:#x} & {2 * half - 1:#x}) - {half:#x}", -half, half - 1)
    mask = (1 << width) - 1
    if value.within(0, mask):
        return value
    return Value(f"{value} & {mask:#x}", 0, mask)


@dataclass(slots=True)
class Scope:
    """Where an expression stands: its place for messages, the action's parameters, statements that must run before."""

    layout: HeaderLayout
    place: Place
    parameters: tuple[tuple[str, int], ...] = ()
    before: Block = field(default_factory=list)
    temporaries: list[int] = field(default_factory=lambda: [0])
    # What to do when a stack has no last element; in a parser this is an error.
    empty_stack: Block = field(default_factory=list)

    def refuse(self, fault: str) -> NoReturn:
        self.place.refuse(f"{fault} is not implemented", "say it in another way in the program")

    def at(self, part: str) -> Scope:
        """The same scope with a narrower place."""
        return Scope(self.layout, self.place / part, self.parameters, self.before, self.temporaries, self.empty_stack)

    def temporary(self, code: str) -> str:
        """A new local with this value, assigned before."""
        self.temporaries[0] += 1
        name = f"t{self.temporaries[0]}"
        self.before.append(f"{name} = {code}")
        return name

    def atom(self, value: Value) -> Value:
        """The value as something that may be written several times."""
        if value.code.isalnum() or value.code.isidentifier():
            return value
        return Value(self.temporary(value.code), value.low, value.high, atom=True)


def operation(node: object) -> dict[str, object] | None:
    """The operation inside wrappers of type "expression", if there is one."""
    while isinstance(node, dict) and node.get("type") == "expression":
        node = node.get("value")
    return node if isinstance(node, dict) and "op" in node else None


def unwrap(node: object) -> object:
    """A node without its wrappers."""
    while isinstance(node, dict) and node.get("type") == "expression":
        node = node.get("value")
    return node


def is_boolean(node: object) -> bool:
    """Whether an expression is a condition rather than a number."""
    node = unwrap(node)
    match node:
        case {"type": "bool"}:
            return True
        case {"op": "?", "left": left}:
            return is_boolean(left)
        case {"op": str(op)}:
            return op in BOOLEAN
    return False


def number(text: str) -> int:
    """A hexadecimal constant."""
    return int(text, 16)


def field_value(scope: Scope, one: Field) -> Value:
    low, high = one.bounds
    return Value(scope.layout.read(one), low, high, atom=True)


def value(scope: Scope, node: object) -> Value:
    """Python for an expression that is a number."""
    node = unwrap(node)
    match node:
        case {"type": "field", "value": [str(header), str(name)]}:
            if name == VALID:
                return Value(scope.layout.header(header, scope.place).valid, 0, 1, atom=True)
            found = scope.layout.field(header, name, scope.place)
            if found.variable:
                scope.refuse(f"the value of the variable field {header}.{name}")
            return field_value(scope, found)
        case {"type": "hexstr", "value": str(text)}:
            return constant(number(text))
        case {"type": "bool", "value": bool(truth)}:
            return constant(int(truth))
        case {"type": "local" | "runtime_data", "value": int(index)} if index < len(scope.parameters):
            name, width = scope.parameters[index]
            return Value(name, 0, (1 << width) - 1, atom=True)
        case {"type": "stack_field", "value": [str(stack), str(name)]}:
            return last(scope, scope.layout.stack(stack, scope.place), name)
        case {"op": "?", "cond": cond, "left": left, "right": right}:
            then, other = value(scope, left), value(scope, right)
            low, high = hull(then, other)
            return Value(f"{then} if {condition(scope, cond)} else {other}", low, high)
        case {"op": "b2d", "right": inner}:
            return Value(f"1 if {condition(scope, inner)} else 0", 0, 1)
        case {"op": "last_stack_index" | "size_stack" as op, "right": {"type": "header_stack", "value": str(name)}}:
            stack_of = scope.layout.stack(name, scope.place)
            if op == "size_stack":
                return Value(stack_of.next, 0, len(stack_of.members), atom=True)
            return Value(f"{stack_of.next} - 1", -1, len(stack_of.members) - 1)
        case {"op": "access_field", "left": left, "right": int(index)}:
            return element(scope, left, index)
        case {"op": "~", "right": right}:
            return invert(value(scope, right))
        case {"op": "-" | "+" as op, "left": None, "right": right}:
            return value(scope, right) if op == "+" else subtract(constant(0), value(scope, right))
        case {"op": str(op)} if op in BOOLEAN:
            return Value(f"1 if {condition(scope, node)} else 0", 0, 1)
        case {"op": str(op), "left": left, "right": right}:
            return binary(scope, op, value(scope, left), value(scope, right))
    return scope.refuse(f"the expression {describe(node)}")


def describe(node: object) -> str:
    """A short name of a node, for messages."""
    match node:
        case {"op": str(op)}:
            return f"with operator {op!r}"
        case {"type": str(kind)}:
            return f"of type {kind!r}"
    return repr(node)


def hull(one: Value, other: Value) -> tuple[int | None, int | None]:
    low = None if one.low is None or other.low is None else min(one.low, other.low)
    high = None if one.high is None or other.high is None else max(one.high, other.high)
    return low, high


def invert(one: Value) -> Value:
    low = None if one.high is None else ~one.high
    high = None if one.low is None else ~one.low
    return Value(f"~{one}", low, high)


def subtract(one: Value, other: Value) -> Value:
    low = None if one.low is None or other.high is None else one.low - other.high
    high = None if one.high is None or other.low is None else one.high - other.low
    return Value(f"{one} - {other}", low, high)


def binary(scope: Scope, op: str, one: Value, other: Value) -> Value:
    """An arithmetic operation with its bounds."""
    match op:
        case "+":
            low = None if one.low is None or other.low is None else one.low + other.low
            high = None if one.high is None or other.high is None else one.high + other.high
            return Value(f"{one} + {other}", low, high)
        case "-":
            return subtract(one, other)
        case "*":
            if one.negative or other.negative or one.high is None or other.high is None:
                return Value(f"{one} * {other}", None, None)
            return Value(f"{one} * {other}", 0, one.high * other.high)
        case "&":
            return bit_and(one, other)
        case "|" | "^":
            if one.negative or other.negative or one.high is None or other.high is None:
                return Value(f"{one} {op} {other}", None, None)
            return Value(f"{one} {op} {other}", 0, (1 << max(one.high, other.high).bit_length()) - 1)
        case "<<" | ">>":
            return shift(op, one, other)
        case "/" | "%":
            by = scope.atom(other)
            python = "//" if op == "/" else "%"
            high = one.high if op == "/" else by.high
            code = (
                f"{one} {python} {by}" if by.low is not None and by.low > 0 else f"{one} {python} {by} if {by} else 0"
            )
            return Value(code, None if one.negative else 0, high)
        case "two_comp_mod":
            return fit(one, _width(scope, other), signed=True)
        case "usat_cast" | "sat_cast":
            half = 1 << _width(scope, other) - 1
            return clamp(scope, one, *((0, 2 * half - 1) if op == "usat_cast" else (-half, half - 1)))
    return scope.refuse(f"the operator {op!r}")


def _width(scope: Scope, given: Value) -> int:
    if given.low is None or given.low != given.high:
        scope.refuse("a width that is not constant")
    return given.low


def bit_and(one: Value, other: Value) -> Value:
    for mask, masked in ((one, other), (other, one)):
        # A mask of ones does nothing to what is below it.
        if mask.low is not None and mask.low == mask.high and contiguous(mask.low) and masked.within(0, mask.low):
            return masked
    limits = [side.high for side in (one, other) if not side.negative and side.high is not None]
    if limits:
        return Value(f"{one} & {other}", 0, min(limits))
    return Value(f"{one} & {other}", None if one.negative and other.negative else 0, None)


def shift(op: str, one: Value, by: Value) -> Value:
    if op == ">>":
        if one.negative:
            high = None if one.high is None else max(one.high, 0)
            return Value(f"{one} >> {by}", one.low, high)
        return Value(f"{one} >> {by}", 0, None if one.high is None else one.high >> (by.low or 0))
    if by.high is not None and by.high <= GREATEST_SHIFT and not by.negative:
        # Bounds are only worth keeping while they stay small.
        known = one.high is not None and by.high <= 256
        low = None if one.low is None or not known else min(one.low << by.high, 0)
        return Value(f"{one} << {by}", low, one.high << by.high if one.high is not None and known else None)
    return Value(f"{one} << {by} if {by} <= {GREATEST_SHIFT} else 0", None if one.negative else 0, None)


def clamp(scope: Scope, one: Value, low: int, high: int) -> Value:
    """The value, or the bound that it passed."""
    if one.within(low, high):
        return one
    name = scope.atom(one)
    code = name.code
    if one.low is None or one.low < low:
        code = f"{code} if {name} >= {low} else {low}"
    if one.high is None or one.high > high:
        code = f"{high:#x} if {name} > {high:#x} else {code}"
    return Value(code, low, high)


def condition(scope: Scope, node: object) -> str:
    """Python for an expression that is a condition; it stands where only its truth counts."""
    node = unwrap(node)
    match node:
        case {"type": "bool", "value": bool(truth)}:
            return str(truth)
        case {"op": "d2b", "right": right}:
            return bit_test(str(value(scope, right)))
        case {"op": "b2d", "right": right}:
            return condition(scope, right)
        case {"op": "and" | "or" as op, "left": left, "right": right}:
            return f"({condition(scope, left)} {op} {condition(scope, right)})"
        case {"op": "not", "right": right}:
            return f"(not {condition(scope, right)})"
        case {"op": "?", "cond": cond, "left": left, "right": right}:
            return f"({condition(scope, left)} if {condition(scope, cond)} else {condition(scope, right)})"
        case {"op": "valid", "right": {"type": "header", "value": str(name)}}:
            return scope.layout.header(name, scope.place).valid
        case {"op": "valid_union", "right": {"type": "header_union", "value": str(name)}}:
            return f"({' or '.join(one.valid for one in scope.layout.union(name, scope.place))})"
        case {"op": "==" | "!=" as op, "left": left, "right": right} if is_boolean(left) or is_boolean(right):
            return f"(bool({condition(scope, left)}) {op} bool({condition(scope, right)}))"
        case {
            "op": "==" | "!=" as op,
            "left": {"type": "header", "value": str(one)},
            "right": {"type": "header", "value": str(other)},
        }:
            return equal_headers(
                scope, scope.layout.header(one, scope.place), scope.layout.header(other, scope.place), op
            )
        case {"op": "==" | "!=" as op, "left": left, "right": right} if variable(scope, left) and variable(
            scope, right
        ):
            mine, theirs = variable(scope, left), variable(scope, right)
            assert mine is not None
            assert theirs is not None
            return f"(({mine.local}, {mine.bits_local}) {op} ({theirs.local}, {theirs.bits_local}))"
        case {"op": str(op), "left": left, "right": right} if op in COMPARISONS:
            return comparison(op, value(scope, left), value(scope, right))
        case {"op": str(op)} if op in BOOLEAN:
            scope.refuse(f"the condition {describe(node)}")
    return bit_test(str(value(scope, node)))


def comparison(op: str, one: Value, other: Value) -> str:
    """Two numbers compared; a number that is not 0 is true by itself."""
    if op in {"==", "!="} and (other.code == "0" or (other.code == "1" and one.within(0, 1))):
        return bit_test(str(one)) if (op == "!=") == (other.code == "0") else f"(not {bit_test(str(one))})"
    return f"{one} {op} {other}"


def variable(scope: Scope, node: object) -> Field | None:
    """The variable field that a node is, if it is one."""
    match unwrap(node):
        case {"type": "field", "value": [str(header), str(name)]} if name != VALID:
            found = scope.layout.field(header, name, scope.place)
            return found if found.variable else None
    return None


def equal_headers(scope: Scope, one: HeaderInstance, other: HeaderInstance, op: str) -> str:
    """As BMv2 has it, headers are equal when both are valid and all fields are."""
    if one.type != other.type:
        scope.refuse(f"comparing headers {one.name} and {other.name} of different types")
    parts = [one.valid, other.valid]
    if scope.layout.raw(one) is not Raw.NONE:
        parts.append(f"{one.raw} == {other.raw}")
    for mine, theirs in zip(one.fields, other.fields, strict=True):
        if scope.layout.raw(one) is not Raw.NONE:
            continue
        parts.append(f"{scope.layout.read(mine)} == {scope.layout.read(theirs)}")
        if mine.variable:
            parts.append(f"{mine.bits_local} == {theirs.bits_local}")
    code = " and ".join(parts)
    return f"({code})" if op == "==" else f"(not ({code}))"


def last(scope: Scope, stack: HeaderStack, name: str) -> Value:
    """A field of the last element that was extracted."""
    fields = [scope.layout.field(member.name, name, scope.place) for member in stack.members]
    if scope.empty_stack:
        scope.before.extend(choose(f"{stack.next} == 0", scope.empty_stack))
    return chain(scope, Value(f"{stack.next} - 1", -1, len(fields) - 1), fields)


def indexed(scope: Scope, node: object) -> tuple[HeaderStack, Value]:
    """The stack and the index of a `dereference_header_stack`; the index is an atom."""
    match unwrap(node):
        case {"op": "dereference_header_stack", "left": {"type": "header_stack", "value": str(name)}, "right": right}:
            return scope.layout.stack(name, scope.place), scope.atom(value(scope, right))
    return scope.refuse(f"the header {describe(unwrap(node))}")


def element(scope: Scope, node: object, index: int) -> Value:
    """A field of a stack's element at an index that is known at run time only; 0 outside the stack."""
    stack, where = indexed(scope, node)
    if index == len(stack.members[0].fields):
        code = "0"
        for place in reversed(range(len(stack.members))):
            code = f"{stack.members[place].valid} if {where} == {place} else {code}"
        return Value(code, 0, 1)
    return chain(scope, where, [member.fields[index] for member in stack.members])


def chain(scope: Scope, where: Value, fields: list[Field]) -> Value:
    """The field at an index, 0 outside."""
    name, code = scope.atom(where), "0"
    for place in reversed(range(len(fields))):
        code = f"{scope.layout.read(fields[place])} if {name} == {place} else {code}"
    low, high = fields[0].bounds
    return Value(code, min(low, 0), high)
