"""The parameters of a broadcast run as integers and tables for the checks, and which clauses apply under them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from scatterproof.conformance.checks.surroundings import Surroundings
from scatterproof.spec.broadcast.messages import Level
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.topology import Link, Role, Topology

# Levels as the integers that checks compare.
PL, URB, FIFO, LCB = range(4)
LEVEL_CODES = dict(zip(Level, (PL, URB, FIFO, LCB), strict=True))
MAX_NUMBER = (1 << 32) - 1
MAX_RUN = 4_096
# Sets of processes are bits of an integer of 64.
MAX_PROCESSES = 62

_ABOVE_LINKS = (
    "above level pl nobody outside sees what a link hands on; what is delivered is BC-URB-ONCE's and BC-URB-REAL's"
)


def parameters(given: Mapping[str, Parameter]) -> dict[str, int]:
    """The parameters that checks read; `level` as a code. BadInput for one that cannot be."""
    values = Parameters("broadcast", given)
    numbers = ("resend_ns", "window", "most_undelivered")
    return {"level": LEVEL_CODES[Level(str(values["level"]))], **{name: values.number(name) for name in numbers}}


def tables(topology: Topology, given: Mapping[str, Parameter]) -> Surroundings:
    """depends[c * node_count + d]: whether messages of c wait for those of d that c has delivered (BC-LCB-CAUSAL).
    BadInput for a network that is no full mesh of hosts."""
    count = len(topology.nodes)
    mesh = {Link(a, b) for a in range(count) for b in range(count) if a != b}
    if any(node.role is not Role.HOST for node in topology.nodes) or sorted(topology.links, key=_ends) != sorted(
        mesh, key=_ends
    ):
        raise BadInput("topology: the network is no full mesh; give hosts alone, with one link from each to each other")
    if count > MAX_PROCESSES:
        raise BadInput(f"topology: there are {count} processes; traces of at most {MAX_PROCESSES} can be judged")
    depends: npt.NDArray[np.int64] = np.zeros(count * count, dtype=np.int64)
    for creator, others in enumerate(dependencies(given, count)):
        for other in others:
            depends[creator * count + other] = 1
    return {"depends": depends}


def _ends(link: Link) -> tuple[int, int]:
    return link.source, link.target


def dependencies(given: Mapping[str, Parameter], processes: int) -> list[set[int]]:
    """By process, the others that it depends on: "1,2;0;" for process 0 on 1 and 2, 1 on 0, 2 on none. Its own earlier
    messages count in any case."""
    text = given.get("dependencies", "")
    if text == "":
        return [set() for _ in range(processes)]
    parts = text.split(";") if isinstance(text, str) else []
    if len(parts) != processes:
        raise BadInput(f"parameter dependencies is {text!r}; give {processes} lists, parted by ';'")
    found: list[set[int]] = []
    for process, part in enumerate(parts):
        names = [name.strip() for name in part.split(",")] if part.strip() else []
        for name in names:
            if not name.isdecimal() or int(name) >= processes:
                raise BadInput(f"parameter dependencies names {name!r}; processes are 0 to {processes - 1}")
        found.append({int(name) for name in names} - {process})
    return found


def without_node(given: Mapping[str, Parameter], node: int) -> dict[str, Parameter]:
    """The parameters in a network without this process: it is no dependency, and those behind it move up."""
    text = given.get("dependencies", "")
    if not isinstance(text, str) or not text:
        return dict(given)
    lists = [set(map(int, part.split(","))) if part.strip() else set() for part in text.split(";")]
    moved = [sorted(other - (other > node) for other in others - {node}) for others in lists[:node] + lists[node + 1 :]]
    return {**given, "dependencies": ";".join(",".join(map(str, others)) for others in moved)}


def not_applicable(clause: str, given: Mapping[str, Parameter]) -> str | None:
    """Why the clause does not apply under these parameters, or None."""
    level = LEVEL_CODES[Level(str(given["level"]))]
    at = f"the run is at level {given['level']}"
    if clause in ("BC-PL-ONCE", "BC-PL-REAL") and level > PL:
        return _ABOVE_LINKS
    if clause.startswith("BC-URB-") and level < URB:
        return at
    if clause == "BC-URB-SELF" and level == LCB:
        return f"{at}: what a majority has may wait for others, which is BC-LCB-CHECK's"
    if clause.startswith("BC-FIFO-") and level < FIFO:
        return at
    if clause.startswith("BC-LCB-") and level < LCB:
        return at
    return None
