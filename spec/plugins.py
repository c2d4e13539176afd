"""What a protocol gives to a package: one typed record, `<package>/<protocol>/plugin.py: PLUGIN`.

Each package says in its `protocol.py` what its record holds; every hook is a field, with a default where a protocol may
do without. Whoever needs something of a protocol asks the record, and never looks for a module by name.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from scatterproof.spec.clauses import protocols
from scatterproof.spec.errors import BadInput, CannotRun, ScatterproofError
from scatterproof.spec.extras import left_out
from scatterproof.spec.trace import schema

PRODUCT = "scatterproof"
PACKAGES = ("spec", "models", "impl", "conformance", "fuzz", "spark")
Record = TypeVar("Record")


def find(package: str, record: type[Record], protocol: str) -> Record | None:
    """The protocol's record of this type; None where the package has nothing of it. Raises BadInput, with the known
    names, for an unknown protocol, and for a record that lacks what it must have."""
    try:
        plugin = _plugin(package, protocol)
    except TypeError as error:
        _, made, what = str(error).partition(f"{record.__name__}.__init__() ")
        if not made:
            raise
        raise BadInput(
            f"{package}/{protocol}/plugin.py: {record.__name__} {what}; {package}/protocol.py says what it holds"
        ) from None
    if plugin is not None and not isinstance(plugin, record):
        raise TypeError(f"{package}/{protocol}/plugin.py: PLUGIN is no {record.__name__}")
    return plugin


def load(package: str, record: type[Record], protocol: str, lacks: str) -> Record:
    """As `find`, but raises CannotRun where there is none. lacks: what the error says of the protocol, as "has no
    fuzzing yet"."""
    plugin = find(package, record, protocol)
    if plugin is None:
        raise CannotRun(f"protocol {protocol!r} {lacks}")
    return plugin


def lacking(error: ImportError) -> ScatterproofError | None:
    """The error as a sentence, where a module of a protocol, or a name in it, is missing (BadInput), or a package that
    an installation may leave out (CannotRun); None for any other error. Hooks import late, so it may come up wherever
    one is called."""
    product, package, protocol, *rest = [*(error.name or "").split("."), "", ""]
    if isinstance(error, ModuleNotFoundError) and (told := left_out(product)) is not None:
        return told
    if product != PRODUCT or package not in PACKAGES or protocol not in protocols():
        return None
    is_gone = isinstance(error, ModuleNotFoundError)
    place = "/".join((package, protocol, *filter(None, rest)))
    what = f"there is no {place}.py" if is_gone else error.msg.partition(" (")[0]
    return BadInput(f"{package}/{protocol}: {what}; PLUGIN, or a hook of it, needs it")


@cache
def _plugin(package: str, protocol: str) -> Any:
    schema(protocol)  # its error names the protocols there are
    if find_spec(f"{PRODUCT}.{package}.{protocol}") is None:
        return None
    try:
        return import_module(f"{PRODUCT}.{package}.{protocol}.plugin").PLUGIN
    except ImportError as error:
        raise lacking(error) or error from None
    except AttributeError as error:
        if error.name != "PLUGIN":
            raise
        place = f"{package}/{protocol}/plugin.py"
        raise BadInput(f"{place}: there is no PLUGIN in it; {package}/protocol.py says what it is") from None
