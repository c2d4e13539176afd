"""The parameters of a broadcast run as integers and tables for the checks, and which clauses apply under them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from scatterproof.conformance.checks.surroundings import Surroundings
from scatterproof.spec import clauses
from scatterproof.spec.broadcast.messages import Level, dependencies, in_words
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.topology import Topology

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
    """The parameters that checks read; `level` as a code. Raises BadInput for an invalid one."""
    values = Parameters("broadcast", given)
    numbers = ("resend_ns", "window", "most_undelivered")
    return {"level": LEVEL_CODES[Level(str(values["level"]))], **{name: values.number(name) for name in numbers}}


def tables(topology: Topology, given: Mapping[str, Parameter]) -> Surroundings:
    """depends[c * node_count + d]: whether messages of c wait for those of d that c has delivered (BC-LCB-CAUSAL).
    Raises BadInput for a network that is no full mesh of hosts."""
    count = len(topology.nodes)
    if not topology.is_full_mesh:
        raise BadInput("topology: the network is no full mesh; give hosts alone, with one link from each to each other")
    if count > MAX_PROCESSES:
        raise BadInput(f"topology: there are {count} processes; traces of at most {MAX_PROCESSES} can be judged")
    depends: npt.NDArray[np.int64] = np.zeros(count * count, dtype=np.int64)
    for creator, others in enumerate(dependencies(given, count)):
        for other in others - {creator}:  # its own earlier messages count in any case
            depends[creator * count + other] = 1
    return {"depends": depends}


def without_node(given: Mapping[str, Parameter], node: int) -> dict[str, Parameter]:
    """The parameters in a network without this process: it is no dependency, and those behind it move up."""
    if not given.get("dependencies"):
        return dict(given)
    lists = dependencies(given, str(given["dependencies"]).count(";") + 1)
    moved = [sorted(other - (other > node) for other in others - {node}) for others in lists[:node] + lists[node + 1 :]]
    return {**given, "dependencies": in_words(moved)}


def not_applicable(clause: str, given: Mapping[str, Parameter]) -> str | None:
    """Why the clause does not apply under these parameters, or None."""
    level = Level(str(given["level"]))
    if clause in ("BC-PL-ONCE", "BC-PL-REAL") and level is not Level.PL:
        return _ABOVE_LINKS
    if level not in clauses.load("broadcast").by_id[clause].environments:
        return f"the run is at level {level}"
    if clause == "BC-URB-SELF" and level is Level.LCB:
        return f"the run is at level {level}: what a majority has may wait for others, which is BC-LCB-CHECK's"
    return None
