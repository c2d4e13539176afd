"""The command that says what protocols give, and the one loader of their records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scatterproof.app import app
from scatterproof.commands.protocols import RECORDS, hooks_of
from scatterproof.impl.protocol import ImplPlugin
from scatterproof.spark.protocol import SparkPlugin
from scatterproof.spec import plugins
from scatterproof.spec.clauses import protocols
from scatterproof.spec.errors import BadInput, CannotRun

BY_NAME = re.compile(r"(import_module|find_spec)\(f\"[^\"]*{(protocol|name)}")
NEW = "a_toy"  # it has a trace.toml, and nothing more


@pytest.fixture
def new(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(plugins, "schema", lambda protocol: None)
    plugins._plugin.cache_clear()
    yield NEW
    plugins._plugin.cache_clear()


@pytest.mark.parametrize("protocol", protocols())
@pytest.mark.parametrize("package", RECORDS)
def test_what_a_record_must_have_is_given(package: str, protocol: str) -> None:
    given, left = hooks_of(package, protocol)
    asked = fields(RECORDS[package])
    assert {*given, *left} == {field.name for field in asked}
    assert {f.name for f in asked if f.default is MISSING and f.default_factory is MISSING} <= set(given)


@pytest.mark.parametrize("package", RECORDS)
def test_a_protocol_that_is_not_there_yet_leaves_out_everything(new: str, package: str) -> None:
    given, left = hooks_of(package, new)
    assert (given, len(left)) == ((), len(fields(RECORDS[package])))


def test_what_a_protocol_lacks_is_said(new: str) -> None:
    with pytest.raises(CannotRun, match="'a_toy' has no wings yet"):
        plugins.load("impl", ImplPlugin, new, "has no wings yet")


def test_an_unknown_protocol_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(BadInput, match=f"choose one of: .*{protocols()[0]}"):
        plugins.find("impl", ImplPlugin, "gossip")


def test_a_record_of_another_package_is_refused() -> None:
    with pytest.raises(TypeError, match="PLUGIN is no SparkPlugin"):
        plugins.find("impl", SparkPlugin, protocols()[0])


def test_a_hook_that_must_be_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_plugin", lambda package, protocol: SparkPlugin())  # type: ignore[call-arg]
    with pytest.raises(
        BadInput, match=r"spark/broadcast/plugin\.py: SparkPlugin missing .*'kinds'; spark/protocol\.py"
    ):
        plugins.find("spark", SparkPlugin, "broadcast")


def test_an_error_of_types_that_is_no_records_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_plugin", lambda package, protocol: len(3))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="len"):
        plugins.find("spark", SparkPlugin, "broadcast")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("import scatterproof.impl.broadcast.nosuch", "impl/broadcast: there is no impl/broadcast/nosuch.py; PLUGIN"),
        (
            "from scatterproof.impl.broadcast import nosuch",
            "impl/broadcast: cannot import name 'nosuch' from 'scatterproof.impl.broadcast'; PLUGIN",
        ),
        ("import scatterproof.impl.nosuch", None),
        ("import nosuch", None),
    ],
)
def test_a_file_of_a_protocol_that_is_missing_is_named(statement: str, expected: str | None) -> None:
    with pytest.raises(ImportError) as raised:
        exec(statement)
    told = plugins.lacking(raised.value)
    assert told is None if expected is None else str(told).startswith(expected)


def test_no_module_is_found_by_a_protocols_name_elsewhere() -> None:
    """One loader: whoever needs something of a protocol asks for its record."""
    root = Path(plugins.__file__).resolve().parents[1]
    files = (path for package in (*plugins.PACKAGES, "scatterproof", "ci") for path in (root / package).rglob("*.py"))
    code = (path for path in files if "tests" not in path.parts)
    assert [path.name for path in code if BY_NAME.search(path.read_text())] == ["plugins.py"]


def test_the_command_shows_what_is_given_and_what_is_left_out() -> None:
    shown = CliRunner().invoke(app, ["protocols", "--protocol", "broadcast"]).output
    assert "broadcast" in shown
    assert "totalorder" not in shown
    (spark,) = (line.split("│") for line in shown.splitlines() if "spark" in line)
    assert "kinds" in spark[2]
    assert "benchmark" in spark[3]
