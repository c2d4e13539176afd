"""Expressions against an oracle: the same tree computed step by step with unbounded integers, as BMv2 defines it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scatterproof.impl.v1model.code import render
from scatterproof.impl.v1model.compiled import CompiledHeader, CompiledProgram, HeaderType
from scatterproof.impl.v1model.expressions import Scope, condition, fit, value
from scatterproof.impl.v1model.layout import HeaderLayout
from scatterproof.spec.place import Place

# Widths of the fields f0, f1, ...; the last three are signed.
WIDTHS = (1, 3, 8, 9, 16, 32, 48, 64, 128, 2, 8, 32)
SIGNED = 9
Tree = tuple[object, ...]
ARITHMETIC = ("+", "-", "*", "&", "|", "^")


def layout() -> HeaderLayout:
    fields: list[list[object]] = [[f"f{index}", width, index >= SIGNED] for index, width in enumerate(WIDTHS)]
    kind = HeaderType("kind", fields)
    program = CompiledProgram([kind], [CompiledHeader("m", 0, "kind", True)], [], [], [], [])
    return HeaderLayout(program, Place("test"))


def cut(number: int, width: int) -> int:
    return int(number % 2**width)


def signed(number: int, width: int) -> int:
    number = cut(number, width)
    return int(number - 2**width if number >= 2 ** (width - 1) else number)


def compute(tree: Tree, fields: list[int], argument: int) -> int:
    """The oracle; conditions give 0 or 1."""
    match tree:
        case ("field", int(index)):
            return fields[index]
        case ("constant", int(number)):
            return number
        case ("argument",):
            return argument
        case ("choose", tuple(test), tuple(one), tuple(other)):
            return compute(one if compute(test, fields, argument) else other, fields, argument)
        case ("not", tuple(one)):
            return 0 if compute(one, fields, argument) else 1
        case ("~", tuple(one)):
            return -compute(one, fields, argument) - 1
        case ("number", tuple(one)):
            return compute(one, fields, argument)
        case ("truth", tuple(one)):
            return 1 if compute(one, fields, argument) != 0 else 0
        case (str(op), tuple(one), int(width)):
            number = compute(one, fields, argument)
            if op == "two_comp_mod":
                return signed(number, width)
            low, high = (0, (1 << width) - 1) if op == "usat_cast" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
            return int(sorted((low, number, high))[1])
        case (str(op), tuple(one), tuple(other)):
            return combine(op, compute(one, fields, argument), compute(other, fields, argument))
    raise AssertionError(tree)


def combine(op: str, one: int, other: int) -> int:
    """Two operands, each operation in its plainest form."""
    bits = range(300)
    match op:
        case "+" | "-":
            return one + other if op == "+" else one - other
        case "*":
            return one * other
        case "&" | "|" | "^":
            wanted = {"&": (2,), "|": (1, 2), "^": (1,)}[op]
            # Two's complement, wide enough for all operands here, bit by bit.
            number = sum(2**bit for bit in bits if one // 2**bit % 2 + other // 2**bit % 2 in wanted)
            return signed(number, len(bits))
        case "<<":
            return int(one * 2**other)
        case ">>":
            return int(one // 2**other)
        case "and" | "or":
            return min(one, other) if op == "and" else max(one, other)
        case "==" | "!=":
            return int((one == other) == (op == "=="))
        case "<" | ">":
            return int(one < other if op == "<" else one > other)
        case "<=" | ">=":
            return int(one <= other if op == "<=" else one >= other)
    raise AssertionError(op)


def to_json(tree: Tree) -> dict[str, object]:
    """The tree as p4c writes it."""
    match tree:
        case ("field", int(index)):
            return {"type": "field", "value": ["m", f"f{index}"]}
        case ("constant", int(number)):
            return {"type": "hexstr", "value": hex(number)}
        case ("argument",):
            return {"type": "local", "value": 0}
    inner: dict[str, object]
    match tree:
        case ("choose", tuple(test), tuple(one), tuple(other)):
            inner = {"op": "?", "cond": to_json(test), "left": to_json(one), "right": to_json(other)}
        case ("number", tuple(one)):
            inner = {"op": "b2d", "left": None, "right": to_json(one)}
        case ("truth", tuple(one)):
            inner = {"op": "d2b", "left": None, "right": to_json(one)}
        case (str(op), tuple(one)):
            inner = {"op": op, "left": None, "right": to_json(one)}
        case (str(op), tuple(one), int(width)):
            inner = {"op": op, "left": to_json(one), "right": {"type": "hexstr", "value": hex(width)}}
        case (str(op), tuple(one), tuple(other)):
            inner = {"op": op, "left": to_json(one), "right": to_json(other)}
        case _:
            raise AssertionError(tree)
    return {"type": "expression", "value": inner}


LEAVES = st.one_of(
    st.tuples(st.just("field"), st.integers(0, len(WIDTHS) - 1)),
    st.tuples(st.just("constant"), st.integers(-300, 300) | st.sampled_from([0xFF, 0xFFFF, 2**32 - 1, 2**64 - 1])),
    st.just(("argument",)),
)
SHIFTS = st.tuples(st.just("constant"), st.integers(0, 40)) | st.tuples(st.just("field"), st.integers(0, 1))


def numbers(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    # A product or a shift of everything would grow without end; what p4c writes is cut after each step, too.
    kept = st.tuples(st.just("&"), inner, st.tuples(st.just("constant"), st.sampled_from([0xF, 0xFF, 2**48 - 1])))
    tests = st.one_of(
        st.tuples(st.sampled_from(["==", "!=", "<", ">", "<=", ">="]), inner, inner),
        st.tuples(st.just("truth"), inner),
    )
    logic = (
        tests | st.tuples(st.just("not"), tests) | st.tuples(st.sampled_from(["and", "or", "==", "!="]), tests, tests)
    )
    return st.one_of(
        st.tuples(st.sampled_from(["+", "-", "&", "|", "^"]), kept, kept),
        st.tuples(st.just("*"), LEAVES, LEAVES),
        st.tuples(st.sampled_from(["<<", ">>"]), kept | LEAVES, SHIFTS),
        st.tuples(st.just("~"), inner),
        st.tuples(st.sampled_from(["two_comp_mod", "usat_cast", "sat_cast"]), inner, st.integers(2, 64)),
        st.tuples(st.just("choose"), logic, inner, inner),
        st.tuples(st.just("number"), logic),
        kept,
    )


TREES = st.recursive(LEAVES, numbers, max_leaves=12)


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[int], int]:
    """Values of the fields, often at their edges, and of the argument of 9 bits."""
    fields = []
    for index, width in enumerate(WIDTHS):
        low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if index >= SIGNED else (0, 2**width - 1)
        fields.append(draw(st.sampled_from([low, high, 0, 1]) | st.integers(low, high)))
    return fields, draw(st.integers(0, 511))


def run(lines: list[str], code: str, at: HeaderLayout, fields: list[int], argument: int) -> int:
    names: dict[str, object] = {one.local: fields[one.index] for one in at.headers["m"].fields}
    names["p_x"] = argument
    exec("\n".join(["if True:", *lines, f"    result = {code}"]), names)
    result = names["result"]
    assert isinstance(result, int)
    return result


@settings(max_examples=120)
@given(tree=TREES, situation=situations(), width=st.integers(2, 80), wanted_sign=st.booleans())
def test_any_expression_has_the_oracles_value_within_its_bounds(
    tree: Tree, situation: tuple[list[int], int], width: int, wanted_sign: bool
) -> None:
    fields, argument = situation
    at = layout()
    scope = Scope(at, Place("test"), (("p_x", 9),))
    made = value(scope, to_json(tree))
    expected = compute(tree, fields, argument)
    lines = list(render(scope.before)) if scope.before else []
    assert run(lines, made.code, at, fields, argument) == expected
    assert made.low is None or made.low <= expected
    assert made.high is None or expected <= made.high
    stored = run(lines, fit(made, width, wanted_sign).code, at, fields, argument)
    assert stored == (signed(expected, width) if wanted_sign else cut(expected, width))


@settings(max_examples=120)
@given(one=TREES, other=TREES, op=st.sampled_from(["==", "!=", "<", ">", "<=", ">="]), situation=situations())
def test_any_condition_has_the_oracles_truth(one: Tree, other: Tree, op: str, situation: tuple[list[int], int]) -> None:
    fields, argument = situation
    at = layout()
    scope = Scope(at, Place("test"), (("p_x", 9),))
    tree = ("and", (op, one, other), ("not", ("==", one, ("constant", 5))))
    code = condition(scope, to_json(tree))
    lines = list(render(scope.before)) if scope.before else []
    assert run(lines, f"1 if {code} else 0", at, fields, argument) == compute(tree, fields, argument)


def test_a_mask_that_changes_nothing_is_left_out() -> None:
    at = layout()
    scope = Scope(at, Place("test"))
    masked = value(scope, to_json(("&", ("field", 2), ("constant", 0xFF))))
    assert masked.code == "m_f2"
    assert fit(masked, 8, signed=False).code == "m_f2"
    assert fit(masked, 7, signed=False).code == "m_f2 & 0x7f"


@given(number=st.integers(0, 2**64 - 1), by=st.integers(0, 63), op=st.sampled_from(["==", "!="]))
def test_one_bit_is_tested_where_it_stands(number: int, by: int, op: str) -> None:
    at = layout()
    bit = ("&", (">>", ("field", 7), ("constant", by)), ("constant", 1))
    for tree in (("truth", bit), (op, bit, ("constant", 0)), (op, bit, ("constant", 1))):
        code = condition(Scope(at, Place("test")), to_json(tree))
        assert (">>" in code) == (by == 63)  # the shift of the highest bit leaves it alone
        assert run([], f"1 if {code} else 0", at, [number] * len(WIDTHS), 0) == compute(tree, [number] * len(WIDTHS), 0)
