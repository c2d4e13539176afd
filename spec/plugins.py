"""What a protocol gives to a package: one typed record, `<package>/<protocol>/plugin.py: PLUGIN`.

Each package says in its `protocol.py` what its record holds; every hook is a field, with a default where a protocol may
do without. Whoever needs something of a protocol asks the record, and never looks for a module by name.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from spec.errors import CannotRun
from spec.trace import schema

PACKAGES = ("spec", "models", "impl", "conformance", "fuzz", "spark")
Record = TypeVar("Record")


def find(package: str, record: type[Record], protocol: str) -> Record | None:
    """The protocol's record of this type; None where the package has nothing of it. BadInput, with the names there are,
    for an unknown protocol."""
    plugin = _plugin(package, protocol)
    if plugin is not None and not isinstance(plugin, record):
        raise TypeError(f"{package}/{protocol}/plugin.py: PLUGIN is no {record.__name__}")
    return plugin


def load(package: str, record: type[Record], protocol: str, lacks: str) -> Record:
    """The same; CannotRun where there is none, which says what the protocol lacks then: "has no fuzzing yet"."""
    plugin = find(package, record, protocol)
    if plugin is None:
        raise CannotRun(f"protocol {protocol!r} {lacks}")
    return plugin


@cache
def _plugin(package: str, protocol: str) -> Any:
    schema(protocol)  # its error names the protocols there are
    if find_spec(f"{package}.{protocol}") is None:
        return None
    return import_module(f"{package}.{protocol}.plugin").PLUGIN
