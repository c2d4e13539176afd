"""Flow of control that is no plain nesting: loops and early ends in actions, graphs whose branches meet crosswise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scatterproof.impl.v1model import EmbeddedSwitch, load
from scatterproof.impl.v1model.code import Block, If, Loop, Patch
from scatterproof.impl.v1model.liveness import needed
from scatterproof.impl.v1model.patches import merged
from scatterproof.impl.v1model.tests.samples import PROGRAMS, pack, switch
from scatterproof.spec.errors import BadInput

# -- loops -------------------------------------------------------------------------------------------------------------


def work(count: int, stop: int, leap: int, total: int = 0, way: int = 0) -> bytes:
    return pack((count, 8), (stop, 8), (leap, 8), (total, 16), (way, 8))


def expected(count: int, stop: int, leap: int) -> tuple[int, bytes]:
    """The program's text, in Python."""
    way = 4 + 0x40
    if count > 10:
        way = 2 if stop > 10 else (3 if leap > 10 else 1) + 0x10 + 0x40
    if count == 99:
        return 1, work(count, stop, leap, 0, way)
    total = sum(i for i in range(count) if i < stop and i != leap)
    way |= 0x80
    if count <= 100:
        return 1, work(count, stop, leap, total, way)
    if leap == 77:
        return 7, work(count, stop, leap, total, way)
    return 6, work(count, stop, leap, 0xFFFF, way)


@settings(max_examples=60)
@given(*(st.integers(0, 255) | st.sampled_from([10, 11, 77, 99, 100, 101]) for _ in range(3)))
def test_loops_and_early_ends_do_what_the_text_says(count: int, stop: int, leap: int) -> None:
    assert switch("loops").process(0, work(count, stop, leap)) == [expected(count, stop, leap)]


# -- graphs ------------------------------------------------------------------------------------------------------------

NODES = 12


def ladder() -> bytes:
    """A program whose condition i goes on to i + 1 or i + 2 by bit i of the destination; the source tells its way."""
    compiled: Any = json.loads((PROGRAMS / "l2_forward.json").read_bytes())
    ingress = compiled["pipelines"][0]
    template = next(table for table in compiled["pipelines"][1]["tables"] if not table["key"])
    conditionals, tables = [], []

    def field(name: str) -> dict[str, object]:
        return {"type": "field", "value": ["ethernet", name]}

    def constant(number: int) -> dict[str, object]:
        return {"type": "hexstr", "value": hex(number)}

    def operation(op: str, left: object, right: object) -> dict[str, object]:
        return {"type": "expression", "value": {"op": op, "left": left, "right": right}}

    def called(name: str, target: list[str], source: object, following: str | None) -> None:
        identity = len(compiled["actions"]) + 100
        assign = {"op": "assign", "parameters": [{"type": "field", "value": target}, source]}
        compiled["actions"].append({"name": name, "id": identity, "runtime_data": [], "primitives": [assign]})
        default = {"action_id": identity, "action_const": True, "action_data": [], "action_entry_const": True}
        tables.append(
            dict(
                template,
                name=name,
                action_ids=[identity],
                actions=[name],
                default_entry=default,
                next_tables={name: following},
                base_default_next=following,
            )
        )

    for at in range(NODES):
        bit = operation("&", operation(">>", field("destination"), constant(at)), constant(1))
        following = [f"c{at + step}" if at + step < NODES else "end" for step in (1, 2)]
        conditionals.append(
            {
                "name": f"c{at}",
                "expression": operation("==", bit, constant(1)),
                "true_next": f"mark{at}",
                "false_next": following[1],
            }
        )
        marked = operation("|", field("source"), constant(1 << at))
        called(f"mark{at}", ["ethernet", "source"], marked, following[0])
    called("end", ["standard_metadata", "egress_spec"], constant(3), None)
    ingress.update(init_table="c0", tables=tables, conditionals=conditionals)
    return json.dumps(compiled).encode()


LADDER = load(ladder(), place="ladder.json")


@settings(max_examples=100)
@given(st.integers(0, 2**NODES - 1))
def test_branches_that_meet_crosswise_are_walked_as_the_graph_says(bits: int) -> None:
    at = marks = 0
    while at < NODES:
        if bits >> at & 1:
            marks |= 1 << at
            at += 1
        else:
            at += 2
    packet = pack((bits, 48), (0, 48), (0, 16))
    assert EmbeddedSwitch(LADDER, ports=8).process(0, packet) == [(3, pack((bits, 48), (marks, 48), (0, 16)))]


def test_such_a_graph_is_not_written_out_way_by_way() -> None:
    # There are hundreds of ways. Nodes are dispatched by number, so each mark stands in the source once.
    assert f"state == {NODES}" in LADDER.source
    assert LADDER.source.count("<< 16") == NODES


def deep(levels: int) -> bytes:
    """A program whose every action computes an expression of this many levels."""
    compiled: Any = json.loads((PROGRAMS / "l2_forward.json").read_bytes())
    one = {"type": "hexstr", "value": "0x1"}
    field: dict[str, object] = {"type": "field", "value": ["ethernet", "kind"]}
    nested = field
    for level in range(levels):
        nested = {"type": "expression", "value": {"op": "+" if level % 2 else "^", "left": nested, "right": one}}
    for action in compiled["actions"]:
        action["primitives"] = [{"op": "assign", "parameters": [field, nested]}]
    return json.dumps(compiled).encode()


def test_a_program_that_nests_deeper_than_python_can_is_refused() -> None:
    load(deep(100), place="deep.json")
    with pytest.raises(BadInput, match=r"^deep\.json: it nests deeper than Python can"):
        load(deep(250), place="deep.json")


# -- blocks ------------------------------------------------------------------------------------------------------------


def test_an_assignment_that_nobody_reads_is_dropped_and_one_before_a_loop_is_kept() -> None:
    block: Block = ["a = 1", "b = 2", "c = 3", Loop([If([("b", ["out.append(a)", "break"])], ["b = a"])])]
    assert needed(block) == (
        ["a = 1", "b = 2", Loop([If([("b", ["out.append(a)", "break"])], ["b = a"])])],
        frozenset({"out"}),
    )


def test_what_is_assigned_on_one_way_only_is_needed_from_before() -> None:
    block: Block = [If([("x", ["y = 1"])]), "out.append(y)"]
    assert needed(block)[1] == {"x", "y", "out"}
    block = [If([("x", ["y = 1"])], ["y = 2"]), "out.append(y)"]
    assert needed(block)[1] == {"x", "out"}


def test_a_copy_goes_straight_to_where_it_is_wanted() -> None:
    block: Block = [If([("x", ["t = 1"])], ["t = 2"]), "y = t", "out.append(y)"]
    assert needed(block)[0] == [If([("x", ["y = 1"])], ["y = 2"]), "out.append(y)"]
    # Not where the name is read again, nor where one way does not assign it.
    again: Block = [If([("x", ["t = 1"])], ["t = 2"]), "y = t", "out.append(y + t)"]
    assert needed(again)[0] == again
    partly: Block = [If([("x", ["t = 1"])]), "y = t", "out.append(y)"]
    assert needed(partly)[0] == partly


def test_patches_wait_until_the_header_is_looked_at() -> None:
    low, high = Patch("h", 0, 0xF, 0xFFF, "a"), Patch("h", 8, 0xF, 0xFFF, "b")
    assert merged([low, "x = 1", high, "y = h"]) == ["x = 1", "h = h & 0xf0 | a | b << 8", "y = h"]
    assert merged([low, "y = h", high]) == ["h = h & 0xff0 | a", "y = h", "h = h & 0xff | b << 8"]
    assert merged([low, If([("h", [high])])]) == ["h = h & 0xff0 | a", If([("h", ["h = h & 0xff | b << 8"])])]
    assert merged([low, "return"]) == ["h = h & 0xff0 | a", "return"]


def test_of_two_patches_to_one_field_the_later_counts() -> None:
    assert merged([Patch("h", 4, 0xF, 0xFF, "a"), Patch("h", 4, 0xF, 0xFF, "b")]) == ["h = h & 0xf | b << 4"]


@pytest.mark.parametrize("all_", [True, False])
def test_a_header_that_is_changed_as_a_whole_keeps_nothing(all_: bool) -> None:
    patches = [Patch("h", 0, 0xF, 0xFF, "a"), Patch("h", 4, 0xF, 0xFF, "b" if all_ else "0")]
    assert merged([*patches]) == ["h = a | b << 4" if all_ else "h = a"]


# -- stacks in parsers -------------------------------------------------------------------------------------------------


def test_what_a_parser_pushes_moves_where_it_extracts_next() -> None:
    compiled: Any = json.loads((PROGRAMS / "label_stack.json").read_bytes())
    start = next(state for state in compiled["parsers"][0]["parse_states"] if state["name"] == "start")
    stack = {"type": "header_stack", "value": "labels"}
    push = {"op": "push", "parameters": [stack, {"type": "hexstr", "value": "0x01"}]}
    start["parser_ops"].append({"op": "primitive", "parameters": [push]})
    made = EmbeddedSwitch(load(json.dumps(compiled).encode(), place="pushed.json"), ports=8)
    one, two, three = (pack((number, 20), (0, 3), (number == 3, 1), (9, 8)) for number in (1, 2, 3))
    # One place is taken, by a header that is not valid: the third label does not fit any more.
    left = b"\x88\x01\x02" + one + two + three
    assert made.process(0, b"\x88" + one + two + three) == [(7, left)]
