"""What is not implemented is refused when a program is loaded, by name and place; nothing is skipped when it runs."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from scatterproof.impl.v1model import load
from scatterproof.impl.v1model.__main__ import main
from scatterproof.impl.v1model.tests.samples import PROGRAMS
from scatterproof.spec.errors import BadInput


def changed(name: str, change: Any) -> bytes:
    compiled = json.loads((PROGRAMS / f"{name}.json").read_bytes())
    change(compiled)
    return json.dumps(compiled).encode()


def refusal(name: str, change: Any) -> str:
    with pytest.raises(BadInput) as caught:
        load(changed(name, change), place="x.json")
    return str(caught.value)


def action_of(compiled: Any, name: str) -> Any:
    return next(action for action in compiled["actions"] if action["name"] == name)


def table_of(compiled: Any, name: str) -> Any:
    return next(table for pipeline in compiled["pipelines"] for table in pipeline["tables"] if table["name"] == name)


def test_the_samples_load_when_nothing_is_changed() -> None:
    load(changed("l3_route", lambda compiled: None), place="x.json")


def test_an_unknown_primitive_is_named_with_its_action() -> None:
    def change(compiled: Any) -> None:
        action_of(compiled, "Enter.via")["primitives"][0]["op"] = "teleport"

    assert refusal("l3_route", change).startswith("x.json: action Enter.via: the primitive teleport with 2 parameters")


def test_an_unknown_operator_is_named_with_its_place() -> None:
    def change(compiled: Any) -> None:
        text = json.dumps(action_of(compiled, "Enter.via")).replace('"op": "+"', '"op": "**"')
        action_of(compiled, "Enter.via").update(json.loads(text))

    assert refusal("l3_route", change).startswith("x.json: action Enter.via: primitive assign: the operator '**'")


def test_an_unknown_parser_operation_is_named_with_its_state() -> None:
    def change(compiled: Any) -> None:
        compiled["parsers"][0]["parse_states"][0]["parser_ops"][0]["op"] = "sniff"

    assert "x.json: parser parser: state" in refusal("l3_route", change)


def test_a_missing_state_is_named() -> None:
    def change(compiled: Any) -> None:
        compiled["parsers"][0]["init_state"] = "nowhere"

    assert refusal("l3_route", change).startswith("x.json: parser parser: state nowhere: this state is missing")


def test_an_unknown_hash_is_named_with_those_that_are_known() -> None:
    def change(compiled: Any) -> None:
        compiled["calculations"][0]["algo"] = "md5"

    assert "the hash algorithm 'md5' is not implemented; take one of" in refusal("ecmp", change)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda c: table_of(c, "Enter.routes").update(type="woven"), "table Enter.routes: tables of type 'woven'"),
        (lambda c: table_of(c, "Enter.routes").update(action_profile="p"), "there is no action profile 'p'"),
        (
            lambda c: table_of(c, "Enter.routes").update(support_timeout=True),
            "table Enter.routes: entries that time out",
        ),
        (
            lambda c: table_of(c, "Enter.routes").update(match_type="fuzzy"),
            "table Enter.routes: the match type 'fuzzy'",
        ),
        (lambda c: table_of(c, "Enter.routes")["action_ids"].append(99), "there is no action with id 99"),
        (lambda c: c["header_union_stacks"].append({}), "x.json: stacks of header unions are not implemented"),
        (lambda c: c["extern_instances"].append({}), "x.json: extern instances are not implemented"),
        (lambda c: c["deparsers"][0]["primitives"].append({}), "a deparser that does more than emit"),
        (lambda c: c["deparsers"][0]["order"].append("ghost"), "deparser: there is no header 'ghost'"),
        (lambda c: c["pipelines"].pop(), "there is no pipeline 'egress'"),
        (lambda c: c["pipelines"][0].update(init_table="ghost"), "pipeline ingress: there is no node 'ghost'"),
    ],
)
def test_what_is_not_implemented_is_told(change: Any, told: str) -> None:
    assert told in refusal("l3_route", change)


def test_a_pipeline_that_goes_round_is_refused() -> None:
    def change(compiled: Any) -> None:
        nodes = compiled["pipelines"][0]
        nodes["conditionals"][0]["true_next"] = nodes["conditionals"][0]["name"]

    assert "comes after itself" in refusal("l3_route", change)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"header_types": 3}', "Ü".encode("latin-1")])
def test_what_is_no_program_is_told_in_one_sentence(content: bytes) -> None:
    with pytest.raises(BadInput, match=r"^x\.json: not a program in BMv2 JSON: .*; give the JSON"):
        load(content, place="x.json")


def test_every_key_that_is_cut_out_gives_a_sentence_or_loads() -> None:
    """Damage of any place in the file never ends in another error than BadInput."""
    compiled = json.loads((PROGRAMS / "label_stack.json").read_bytes())
    for path in list(paths(compiled))[::7]:
        damaged = copy.deepcopy(compiled)
        holder: Any = damaged
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
        assert outcome(damaged).startswith("x.json")


def outcome(compiled: Any) -> str:
    """The place of the program when it loads, or what is wrong with it."""
    try:
        return load(json.dumps(compiled).encode(), place="x.json").place
    except BadInput as error:
        return str(error)


def paths(node: Any, before: tuple[Any, ...] = ()) -> Any:
    steps = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for step, inner in steps:
        yield (*before, step)
        yield from paths(inner, (*before, step))


def test_the_command_prints_the_source_and_tells_what_is_wrong(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([str(PROGRAMS / "l2_forward.json"), "--source"]) == 0
    assert "def ingress(out, now_us, port, data" in capsys.readouterr().out
    assert main([str(PROGRAMS / "l2_forward.json")]) == 0
    assert "Enter.addresses(hdr.ethernet.destination: exact<48>) size 4" in capsys.readouterr().out
    assert main([str(tmp_path / "missing.json")]) == 2
    assert "no such program file" in capsys.readouterr().err
