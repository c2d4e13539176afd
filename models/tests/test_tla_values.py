"""Values and states as TLC prints them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scatterproof.models.tla_values import Function, ModelValue, Value, format_value, parse_state, parse_value
from scatterproof.spec.errors import BadInput

values: st.SearchStrategy[Value] = st.recursive(
    st.integers() | st.booleans() | st.text(st.characters(codec="ascii")) | st.sampled_from("abc").map(ModelValue),
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.frozensets(inner, max_size=3)
        | st.dictionaries(inner, inner, min_size=1, max_size=3).map(Function)
        | st.dictionaries(st.sampled_from(["kind", "barrier", "x1"]), inner, min_size=1).map(Function)
    ),
    max_leaves=12,
)


@given(values)
def test_a_printed_value_reads_back_as_itself(value: Value) -> None:
    assert parse_value(format_value(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-3", -3),
        ("<<>>", ()),
        ("<< << 1,\n     2 >>,\n  <<>> >>", ((1, 2), ())),
        ("{<<1, 11>>, <<11, 1>>}", frozenset({(1, 11), (11, 1)})),
        ("1..3", frozenset({1, 2, 3})),
        ('[kind |-> "data", barrier |-> -1]', Function({"kind": "data", "barrier": -1})),
        ("(<<1, 11>> :> 0 @@ <<11, 1>> :> 2)", Function({(1, 11): 0, (11, 1): 2})),
        (r'"a \"quoted\" \\ line\n"', 'a "quoted" \\ line\n'),
        ("TRUE", True),
    ],
)
def test_a_value_as_tlc_prints_it_is_read(text: str, value: Value) -> None:
    assert parse_value(text) == value


def test_a_model_value_is_not_the_string_of_its_letters() -> None:
    assert parse_value("a") == ModelValue("a")
    assert parse_value("a") != parse_value('"a"')


@pytest.mark.parametrize("text", ["", "<<1,", "{1 2}", "[a |-> ]", "(1 :> 2", "1 2", "[1 |-> 2]", "#", "1..", "{,}"])
def test_what_is_no_value_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(BadInput, match="TLA\\+ value: cannot read"):
        parse_value(text)


def test_a_state_of_several_lines_is_read_by_variable() -> None:
    state = parse_state('/\\ f = << <<1>>,\n   <<>> >>\n/\\ x = [a |-> "/\\\\ y = 2"]\n')
    assert state == {"f": ((1,), ()), "x": Function({"a": "/\\ y = 2"})}


def test_a_state_of_one_variable_is_read() -> None:
    assert parse_state("x = 3\n") == {"x": 3}
