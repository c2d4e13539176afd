"""The schema of the adapter contract is what is checked in, and follows the types."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import get_args, get_type_hints

import msgspec
import pytest

from scatterproof.spec import adapter, adapter_schema
from scatterproof.spec.clauses import SPEC, protocols
from scatterproof.spec.core import Outcome
from scatterproof.spec.protocol import SpecPlugin, load


class Parcel(msgspec.Struct):
    number: int


def test_the_schema_checked_in_is_the_one_that_the_types_give() -> None:
    assert adapter_schema.main(["--check"]) == 0


def test_a_stale_schema_is_named_with_the_command_that_makes_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert adapter_schema.main(["--check"], tmp_path) == 1
    assert adapter_schema.main([], tmp_path) == 0
    assert adapter_schema.main(["--check"], tmp_path) == 0
    with (tmp_path / adapter_schema.FILE).open("a") as file:
        file.write("\n")
    assert adapter_schema.main(["--check"], tmp_path) == 1
    assert "run `python -m scatterproof.spec.adapter_schema`" in capsys.readouterr().err


def test_the_schema_has_every_line_and_every_protocols_packets() -> None:
    whole = adapter_schema.document()
    definitions = whole["$defs"]
    lines = {
        definition["properties"]["type"]["enum"][0]
        for definition in definitions.values()
        if "enum" in definition.get("properties", {}).get("type", {})  # a packet may have a field of that name
    }

    assert whole["version"] == adapter.VERSION
    assert lines == {kind.__struct_config__.tag for kind in adapter.Line.__subclasses__()}
    delivering = [protocol for protocol in protocols() if load(protocol).delivery is not None]
    for line, key in (("SendOut", "packet"), ("PacketIn", "packet"), ("DeliverOut", "message")):
        named = [one["$ref"].removeprefix("#/$defs/") for one in definitions[line]["properties"][key]["anyOf"]]
        assert [name.partition(".")[0] for name in named] == (delivering if key == "message" else list(protocols()))
        assert set(named) <= set(definitions)


def test_messages_may_be_of_any_name_and_one_type(monkeypatch: pytest.MonkeyPatch) -> None:
    toy = SpecPlugin(packet=Parcel, delivery=Parcel)
    monkeypatch.setattr("scatterproof.spec.plugins.find", lambda package, record, protocol: toy)
    definitions = adapter_schema.document()["$defs"]
    for line, key in (("SendOut", "packet"), ("DeliverOut", "message")):
        assert {"$ref": f"#/$defs/{protocols()[0]}.Parcel"} in definitions[line]["properties"][key]["anyOf"]


def test_the_document_is_of_the_version_that_the_types_are_of() -> None:
    assert (SPEC / "ADAPTER.md").read_text().startswith(f"# The adapter contract, version {adapter.VERSION}\n")


def test_outcomes_are_the_same_in_traces_cores_and_the_contract() -> None:
    recorded = tomllib.loads((SPEC / "common_trace.toml").read_text())["calls"]["outcomes"]
    assert recorded == {outcome.name.lower(): int(outcome) for outcome in Outcome}
    assert list(recorded) == list(get_args(get_type_hints(adapter.ReturnOut)["outcome"]))
