"""Runs a schedule over the simulated network: nodes built from the topology's routes, and the trace with its header."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from conformance.network.simulator import AnyCore, Observer, Simulation
from conformance.protocol import Plugin, load
from spec import clauses
from spec.core import NodeConfig, node_config
from spec.errors import BadInput
from spec.schedule import Schedule
from spec.topology import route
from spec.trace import Header, Kind, Order, Trace

MakeNode = Callable[[NodeConfig], AnyCore]


def simulate(schedule: Schedule, make_node: MakeNode, observe: Observer | None = None, iut: str = "") -> Trace:
    """The trace of a valid schedule's run. `observe(position, row)` sees every row as it happens.

    A node that fails, or a run that does not get on, ends the trace cut, with the reason in its notes. Nodes that
    have a `close()` are closed, however the run ends.
    """
    plugin = load(schedule.protocol)
    refuse_faults(schedule, plugin)
    topology = schedule.topology
    routes = route(topology)
    nodes: list[AnyCore] = []
    try:
        for node in range(len(topology.nodes)):
            nodes.append(make_node(node_config(node, topology, routes, schedule.protocol, schedule.parameters)))
        simulation = Simulation(schedule, nodes, plugin.recorder(), plugin.horizon_ns(schedule), observe)
        rows = simulation.run()
    finally:
        for made in nodes:
            close = getattr(made, "close", None)
            if close is not None:
                close()
    return Trace(header_of(schedule, iut, simulation.notes), rows)


def refuse_faults(schedule: Schedule, plugin: Plugin) -> None:
    """Raise BadInput for a fault that the protocol's link assumption rules out."""
    for number, fault in enumerate(schedule.faults):
        if fault.kind not in plugin.allowed_faults:
            allowed = ", ".join(sorted(plugin.allowed_faults)) or "none"
            raise BadInput(
                f"schedule: faults[{number}] is {fault.kind}, which links of {schedule.protocol} never do; "
                f"those allowed are: {allowed}"
            )


def header_of(schedule: Schedule, iut: str, notes: Sequence[str] = ()) -> Header:
    """The header of a run that the harness itself has recorded: everything, in one global order."""
    everywhere = tuple(range(len(schedule.topology.nodes)))
    return Header(
        protocol=schedule.protocol,
        topology=schedule.topology,
        parameters=schedule.parameters,
        complete={kind.name.lower(): everywhere for kind in Kind},
        order=Order.GLOBAL,
        iut=iut,
        seed=schedule.seed,
        catalogue=catalogue_version(schedule.protocol),
        notes=tuple(notes),
    )


@cache
def catalogue_version(protocol: str) -> str:
    """The version of the protocol's clause catalogue; empty when it has none yet."""
    return clauses.load(protocol).version if protocol in clauses.protocols() else ""


class SimulatedIut:
    """An implementation under test in this process: its nodes are driven by the simulated network."""

    def __init__(self, name: str, make_node: MakeNode) -> None:
        self.name = name
        self._make_node = make_node

    def run(self, schedule: Schedule) -> Trace:
        return simulate(schedule, self._make_node, iut=self.name)
