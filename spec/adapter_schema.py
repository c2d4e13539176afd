"""The adapter contract as a JSON Schema, adapter.schema.json: made from the types of spec/adapter.py and of each
protocol's messages.py, never edited, checked for staleness.

`python -m scatterproof.spec.adapter_schema` writes it; with `--check` it exits with 1 when the file is stale.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from scatterproof.spec import adapter, generated, plugins
from scatterproof.spec.clauses import SPEC, protocols
from scatterproof.spec.protocol import SpecPlugin

FILE = "adapter.schema.json"
COMMAND = "python -m scatterproof.spec.adapter_schema"
# What a protocol's messages are, and the lines that carry it: the line's definition, and its key.
CARRIED = {
    "Packet": (("PacketIn", "packet"), ("SendOut", "packet")),
    "Delivery": (("DeliverOut", "message"),),
    "Beginning": (("BeginOut", "message"),),
}
_INT64 = {"minimum": -(1 << 63), "maximum": (1 << 63) - 1}

Schema: TypeAlias = dict[str, Any]


def document() -> Schema:
    """The whole schema. `ToNode` and `FromNode` among its definitions are what goes in and comes out, a line each."""
    (to_node, from_node), definitions = msgspec.json.schema_components(
        [adapter.ToNode, adapter.FromNode], ref_template="#/$defs/{name}"
    )
    for protocol in protocols():
        carried, schemas = _messages(protocol)
        definitions |= {f"{protocol}.{name}": schema for name, schema in schemas.items()}
        for role, name in carried.items():
            for line, key in CARRIED[role]:
                place = definitions[line]["properties"][key]
                place.setdefault("anyOf", []).append({"$ref": f"#/$defs/{protocol}.{name}"})
    definitions |= {"ToNode": to_node, "FromNode": from_node}
    whole: Schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"The adapter contract, version {adapter.VERSION}",
        "description": f"One line between the harness and a node; spec/ADAPTER.md explains them. Made by `{COMMAND}`.",
        "version": adapter.VERSION,
        "anyOf": [{"$ref": "#/$defs/ToNode"}, {"$ref": "#/$defs/FromNode"}],
        "$defs": dict(sorted(definitions.items())),
    }
    _finish(whole)
    return whole


def _messages(protocol: str) -> tuple[dict[str, str], dict[str, Schema]]:
    """The names of the types of one protocol's messages, by what these are, and their definitions by name; none for a
    protocol without any."""
    plugin = plugins.find("spec", SpecPlugin, protocol)
    if plugin is None:
        return {}, {}
    types = {role: plugin.messages[role] for role in CARRIED if role in plugin.messages}
    _, definitions = msgspec.json.schema_components(
        dict.fromkeys(types.values()), ref_template=f"#/$defs/{protocol}.{{name}}"
    )
    return {role: one.__name__ for role, one in types.items()}, definitions


def _finish(value: object) -> None:
    """Bound whole numbers to 64 bits, which the types do not say, and remove the indentation of docstrings."""
    if isinstance(value, dict):
        if value.get("type") == "integer":
            value |= _INT64
        if isinstance(value.get("description"), str):
            value["description"] = inspect.cleandoc(value["description"])
        _finish_all(value.values())
    elif isinstance(value, list):
        _finish_all(value)


def _finish_all(values: Iterable[object]) -> None:
    for value in values:
        _finish(value)


def text() -> str:
    return msgspec.json.format(msgspec.json.encode(document()), indent=1).decode() + "\n"


def main(arguments: Sequence[str] | None = None, folder: Path = SPEC) -> int:
    """Write the schema, or with ``--check`` only compare it; the exit code."""
    return generated.command(COMMAND, folder / FILE, text, arguments)


if __name__ == "__main__":
    sys.exit(main())
