"""What the shared machinery must know of a protocol. A protocol is a folder with a `plugin.py`."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from spec.core import Parameter
from spec.errors import CannotRun
from spec.schedule import FailureKind, FaultKind, Schedule
from spec.topology import NodeId, Topology
from spec.trace import Header, Trace, schema

# Late, so that whoever only lists what there is does not wait for numba.
if TYPE_CHECKING:
    from conformance.checks.step import Check
    from conformance.checks.surroundings import Surroundings
    from conformance.network.simulator import Recorder

# An oracle is the clause as a predicate over the whole trace: the positions of the rows that break it.
Oracle = Callable[[Trace], "set[int]"]
DOWN_AND_UP = frozenset({FailureKind.CRASH, FailureKind.RESTART, FailureKind.CUT, FailureKind.MEND})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """name: the protocol. checks and oracles: one each a clause, under the same name. premises: what a trace must be so
    that anything can be said of it, as checks of no clause.

    parameters: the protocol's parameters as integers for the checks; BadInput when one is missing or wrong.
    not_applicable: why a clause does not apply under these parameters, or None.
    horizon_ns: when a schedule's run has had the time to deliver everything.
    lull_ns: how long nothing but beacons may move in a run with failures that is not over; None: until horizon_ns.
    label: a few words for the packet, submission or delivery of a row, given by column, in a diagram.
    allowed_faults, allowed_failures: what the protocol's links may do to a packet, and what may befall nodes and links;
    a schedule with another one is refused. fifo_links: whether packets of one link keep their order.
    without_node: the parameters in a network that lacks this node, those behind it having moved up.
    tables: parameters that are arrays, for the checks, by topology: a number for each pair of nodes, say.
    """

    name: str
    checks: tuple[Check, ...]
    premises: tuple[Check, ...]
    oracles: Mapping[str, Oracle]
    recorder: Callable[[], Recorder]
    parameters: Callable[[Mapping[str, Parameter]], dict[str, int]]
    not_applicable: Callable[[str, Mapping[str, Parameter]], str | None]
    horizon_ns: Callable[[Schedule], int]
    lull_ns: Callable[[Schedule], int] | None = None
    label: Callable[[Mapping[str, int]], str]
    allowed_faults: frozenset[FaultKind] = frozenset(FaultKind)
    allowed_failures: frozenset[FailureKind] = DOWN_AND_UP
    fifo_links: bool = True
    without_node: Callable[[Mapping[str, Parameter], NodeId], dict[str, Parameter]] = lambda parameters, node: dict(
        parameters
    )
    tables: Callable[[Topology, Mapping[str, Parameter]], Surroundings] = lambda topology, parameters: {}

    @property
    def columns(self) -> tuple[str, ...]:
        return schema(self.name).columns

    def surroundings(self, header: Header) -> Surroundings:
        """What steps read of the network and the parameters; and `applies`, whether each check does, then premises."""
        import numpy as np

        from conformance.checks.surroundings import recorded, surroundings

        around = surroundings(header.topology, self.parameters(header.parameters)) | recorded(header)
        around |= self.tables(header.topology, header.parameters)
        applicable = {check.name for check in self.applicable(header)}
        applies = [check.name in applicable for check in self.checks] + [True] * len(self.premises)
        return {**around, "applies": np.array(applies, dtype=np.int64)}

    def applicable(self, header: Header) -> Sequence[Check]:
        return [check for check in self.checks if self.not_applicable(check.clause, header.parameters) is None]


@cache
def load(protocol: str) -> Plugin:
    """The plugin of `protocol`; BadInput for an unknown one, CannotRun for one that has none yet."""
    schema(protocol)  # its error names the protocols there are
    if importlib.util.find_spec(f"conformance.{protocol}") is None:
        raise CannotRun(f"protocol {protocol!r} has no conformance checks yet")
    plugin: Plugin = importlib.import_module(f"conformance.{protocol}.plugin").PLUGIN
    return plugin
