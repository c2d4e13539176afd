"""Parameters are declared once, as data: with their bounds, their defaults, and a table in ADAPTER.md."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from scatterproof.spec import parameters
from scatterproof.spec.clauses import SPEC, protocols
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.parameters import Multiple, Parameters, declared

GIVEN: Mapping[str, Parameter] = {"environment": "D9", "beacon_interval_ns": 10_000}


def test_the_table_in_the_document_is_the_one_that_the_data_give() -> None:
    assert parameters.main(["--check"]) == 0
    text = (SPEC / parameters.PAGE).read_text()
    for protocol in protocols():
        for name in declared(protocol):
            assert text.count(f"| `{name}` |") == sum(name in declared(other) for other in protocols())


def test_a_stale_table_is_named_with_the_command_that_makes_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("clauses.toml", "parameters.toml"):
        (tmp_path / "totalorder").mkdir(exist_ok=True)
        shutil.copy(SPEC / "totalorder" / name, tmp_path / "totalorder" / name)
    page = tmp_path / parameters.PAGE
    page.write_text("# A page\n")
    assert parameters.main([], tmp_path) == 2
    assert "the marks of the table of parameters are missing" in capsys.readouterr().err
    page.write_text((SPEC / parameters.PAGE).read_text().replace("20 × `beacon_interval_ns`", "`60000`"))
    assert parameters.main(["--check"], tmp_path) == 1
    assert "run `python -m scatterproof.spec.parameters`" in capsys.readouterr().err
    assert parameters.main([], tmp_path) == 0
    assert "20 × `beacon_interval_ns`" in page.read_text()
    assert parameters.main(["--check"], tmp_path) == 0


def test_what_is_left_out_has_its_default_which_may_hang_on_another() -> None:
    found = Parameters("totalorder", GIVEN)
    assert found["retransmit_timeout_ns"] == 200_000
    assert found["switch"] == "one"
    assert found["every_beacon"] == 0
    assert Parameters("totalorder", {**GIVEN, "retransmit_timeout_ns": 7})["retransmit_timeout_ns"] == 7


@pytest.mark.parametrize(("most_undelivered", "most_in_run"), [(1, 1), (15, 1), (16, 2), (8192, 1024), (1 << 32, 4096)])
def test_a_default_that_hangs_on_another_stays_within_its_bounds(most_undelivered: int, most_in_run: int) -> None:
    assert Parameters("broadcast", {"most_undelivered": most_undelivered})["most_in_run"] == most_in_run


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("environment", "D4", "node 3: parameter environment is 'D4'; give one of A, B, C, D5, D6, D7, D8, D9"),
        ("environment", None, "node 3: parameter environment is None; give one of A, B, C, D5, D6, D7, D8, D9"),
        ("beacon_interval_ns", 0, "node 3: parameter beacon_interval_ns is 0; give a whole number of at least 1"),
        ("beacon_interval_ns", "9", "node 3: parameter beacon_interval_ns is '9'; give a whole number of at least 1"),
        ("causal", 2, "node 3: parameter causal is 2; give 0 or 1"),
        ("proxies", 1, "node 3: parameter proxies is 1; give a text"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_one_sentence(name: str, value: Parameter | None, sentence: str) -> None:
    given = {key: its for key, its in {**GIVEN, name: value}.items() if its is not None}
    with pytest.raises(BadInput) as refused:
        Parameters("totalorder", given, "node 3")[name]
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[[parameter]]\nname = 'a'", "missing required field `meaning`"),
        ("[[parameter]]\nname = 'a'\nmeaning = 'b'\nmaximum = 3", "unknown field `maximum`"),
        (
            "[[parameter]]\nname = 'a'\nmeaning = 'b'\nleast = 1\ndefault = 0",
            "the default of a is 0; give a whole number",
        ),
        ("[[parameter]]\nname = 'a'\nmeaning = 'b'\ndefault = { of = 'c' }", "the default of a is of 'c'"),
        ("[[parameter]]\nname = 'a'\nmeaning = 'b'\n" * 2, "two parameters have one name"),
        ("parameter = 1", "Expected `array`"),
        ("[[", "mend that"),
    ],
)
def test_a_file_that_is_not_sound_is_refused_by_name(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / parameters.FILE_NAME).write_text(text)
    with pytest.raises(BadInput, match=r"own/parameters\.toml: ") as refused:
        declared("own", tmp_path)
    assert fault in str(refused.value)


def test_defaults_hang_on_parameters_that_are_given_or_have_one() -> None:
    hanging = [
        one.default.of for name in protocols() for one in declared(name).values() if type(one.default) is Multiple
    ]
    assert hanging == ["beacon_interval_ns", "most_undelivered"]
