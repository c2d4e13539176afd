"""Implementations under test by name: the reference core, reached in three ways, its mutants, and any program of the
user's."""

from __future__ import annotations

import difflib
import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scatterproof.conformance.adapters import real_time
from scatterproof.conformance.protocol import load
from scatterproof.impl.protocol import load as implemented
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import IMPORTED_FROM
from scatterproof.spec.iut import Iut
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.topology import Role

# Adapters, simulator and mutants are imported when one is asked for: names alone need none of them.
if TYPE_CHECKING:
    from scatterproof.conformance.adapters.products import Product
    from scatterproof.conformance.network.run import MakeNode

# Where nodes that are processes leave what they write, in the folder of the case.
NODES = "nodes"
# An implementation whose nodes leave what they write in this folder.
MakeIut = Callable[[Path], Iut]


def _reference(driver: str) -> tuple[str, ...]:
    """The command of a reference node. It is given this process's path, as to find that out anew, by `site`, is a fifth
    of the node's start."""
    path = [str(IMPORTED_FROM), *sys.path]
    begin = f"import sys; sys.path[:] = {path}; from {driver} import main; sys.exit(main())"
    return (sys.executable, "-S", "-c", begin)


REFERENCE_STDIO = _reference("scatterproof.impl.drivers.stdio")
REFERENCE_UDP = _reference("scatterproof.impl.drivers.udp")
PROGRAMS = ("stdio", "datagram")  # then a colon and the command
OVER_SOCKETS = ("datagram", "reference-udp")
PRODUCT = "product:"
NAMES = ("reference", "reference-stdio", "reference-udp")


def find(name: str, protocol: str, results: Path, roles: Collection[Role] = tuple(Role)) -> Iut:
    """The implementation under test of that name, whose nodes leave what they write in `results`; errors as of
    `maker`."""
    return maker(name, protocol, roles)(results)


def maker(name: str, protocol: str, roles: Collection[Role] = tuple(Role)) -> MakeIut:
    """The implementation under test of that name. Raises BadInput, with the names there are, for an unknown one. A
    program of the user's plays the nodes of these roles alone; the others are the reference's."""
    kind, colon, command = name.partition(":")
    match (kind, bool(colon)):
        case ("reference", False):
            return _simulated("reference", implemented(protocol).make_core)
        case ("reference-stdio", False):
            return _stdio(name, REFERENCE_STDIO)
        case ("reference-udp", False):
            return _datagram(name, REFERENCE_UDP)
        case ("mutant", True):
            return _simulated(name, _mutant(command, protocol))
        case ("stdio", True):
            others = implemented(protocol).make_core if set(roles) < set(Role) else None
            return _stdio(name, _split(command, name), roles=roles, others=others)
        case ("datagram", True):
            return _datagram(name, _split(command, name), roles=roles, others=REFERENCE_UDP)
        case ("product", True):
            return _of_product(product(name, protocol))
        case _:
            further = implemented(protocol).further
            if kind in further and bool(colon) == bool(command):
                return _simulated(name, further[kind](command))
            known = ", ".join((*NAMES, *further))
            raise BadInput(
                f"--iut {name!r} is unknown; give {known}, stdio:COMMAND, datagram:COMMAND, mutant:NAME or product:NAME"
            )


def product(name: str, protocol: str) -> Product:
    """The system that product:NAME names; BadInput, with the names there are, for an unknown one."""
    known = {one.name: one for one in load(protocol).products()}
    found = known.get(name.removeprefix(PRODUCT))
    if found is None:
        what = f"choose of {', '.join(known)}" if known else f"{protocol} drives no products"
        raise BadInput(f"--iut {name!r} is unknown; {what}")
    return found


def why_not(name: str, schedule: Schedule) -> str | None:
    """Why the implementation of that name cannot play the schedule on this machine, as far as this can be known without
    starting it; or None."""
    if name.startswith(PRODUCT):
        return product(name, schedule.protocol).why_not()
    return why_not_started(name) or why_not_played(name, schedule)


def why_not_started(name: str) -> str | None:
    """Why a program of the user's cannot be started; or None."""
    kind, colon, command = name.partition(":")
    if colon and kind in PROGRAMS:
        program = _split(command, name)[0]
        if shutil.which(program) is None:
            return f"{program}: is no program that can be started; check the command"
    return None


def why_not_played(name: str, schedule: Schedule) -> str | None:
    """Why the schedule cannot be played over sockets, where the implementation is reached over them; or None."""
    if name.partition(":")[0] not in OVER_SOCKETS:
        return None
    if not load(schedule.protocol).fifo_links:
        return "its packets have no number on their link, which logs are put together by; run it in stdio mode"
    reason = real_time.why_not(schedule)
    return None if reason is None else f"the schedule has {reason}; run it in stdio mode"


def _stdio(name: str, words: Sequence[str], **more: Any) -> MakeIut:
    from scatterproof.conformance.adapters.stdio import StdioIut

    return lambda results: StdioIut(name, words, results / NODES, **more)


def _datagram(name: str, words: Sequence[str], **more: Any) -> MakeIut:
    from scatterproof.conformance.adapters.datagram import DatagramIut

    return lambda results: DatagramIut(name, words, results / NODES, **more)


def _of_product(found: Product) -> MakeIut:
    from scatterproof.conformance.adapters.products import ProductIut

    return lambda results: ProductIut(found, results / NODES)


def _simulated(name: str, make_node: MakeNode) -> MakeIut:
    from scatterproof.conformance.network.run import SimulatedIut

    iut = SimulatedIut(name, make_node)
    return lambda results: iut


@cache
def mutants(protocol: str) -> dict[str, MakeNode]:
    """The reference core with one mutation of its rules each, as the kill matrix names them."""
    from scatterproof.fuzz import protocol as plugins
    from scatterproof.fuzz.kill_matrix import subjects_of

    return {subject.name: subject.make_node for subject in subjects_of(plugins.load(protocol))}


def _mutant(name: str, protocol: str) -> MakeNode:
    known = mutants(protocol)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.0)
        raise BadInput(f"--iut mutant:{name} is unknown; near it are {', '.join(near)} (`fuzz --mutants` lists all)")
    return known[name]


def _split(command: str, name: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"--iut {name!r} is no shell command: {error}") from None
    if not words:
        raise BadInput(f"--iut {name!r} names no command; write it after the colon")
    return words
