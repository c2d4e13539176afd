"""`scatterproof protocols`: what each protocol gives to each package, and what it leaves out."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any

from scatterproof.conformance.protocol import Plugin
from scatterproof.console import print_json, print_table
from scatterproof.fuzz.protocol import FuzzPlugin
from scatterproof.impl.protocol import ImplPlugin
from scatterproof.models.protocol import ModelsPlugin
from scatterproof.options import Json, Protocol, resolve
from scatterproof.spark.protocol import SparkPlugin
from scatterproof.spec import clauses, plugins
from scatterproof.spec.protocol import SpecPlugin

RECORDS: dict[str, type[Any]] = {
    "spec": SpecPlugin,
    "models": ModelsPlugin,
    "impl": ImplPlugin,
    "conformance": Plugin,
    "fuzz": FuzzPlugin,
    "spark": SparkPlugin,
}


def command(protocol: Protocol = None, as_json: Json = False) -> None:
    """Show what each protocol gives to each package, and what it leaves out.

    A protocol is a folder in each package, with a record of what there is: spec/PROTOCOL/plugin.py and so on. What a
    record leaves out is as the package's protocol.py says, or is not done for that protocol.
    """
    chosen = clauses.protocols() if protocol is None else (resolve(protocol),)
    found = {name: {package: hooks_of(package, name) for package in RECORDS} for name in chosen}
    if as_json:
        print_json({"protocols": found})
        return
    for name, packages in found.items():
        rows = [
            (package, ", ".join(given) or "nothing", ", ".join(left)) for package, (given, left) in packages.items()
        ]
        print_table(name, ("package", "gives", "leaves out"), rows)


def hooks_of(package: str, protocol: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of its record that the protocol sets, and those that it leaves as they are; all left out where it has
    no record."""
    plugin = plugins.find(package, RECORDS[package], protocol)
    given: list[str] = []
    left: list[str] = []
    for field in fields(RECORDS[package]):
        is_given = plugin is not None and not _is_default(field, getattr(plugin, field.name))
        (given if is_given else left).append(field.name)
    return tuple(given), tuple(left)


def _is_default(field: Field[Any], value: object) -> bool:
    default: object = field.default if field.default_factory is MISSING else field.default_factory()
    return value is default or value == default
