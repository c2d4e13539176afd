"""Runs a schedule over the simulated network: nodes built from the topology's routes, and the trace with its header."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache

from scatterproof.conformance.checks.rows import row_rules
from scatterproof.conformance.network.contract import Observer
from scatterproof.conformance.network.simulator import MAX_EVENTS, Simulation
from scatterproof.conformance.protocol import Plugin, load
from scatterproof.spec import clauses
from scatterproof.spec.core import AnyCore, NodeConfig, Parameter, node_config
from scatterproof.spec.errors import BadInput
from scatterproof.spec.protocol import routes_of
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT, Header, Kind, Order, Trace, schema

MakeNode = Callable[[NodeConfig], AnyCore]


def simulate(
    schedule: Schedule,
    make_node: MakeNode,
    observe: Observer | None = None,
    iut: str = "",
    *,
    max_events: int = MAX_EVENTS,
) -> Trace:
    """The trace of a valid schedule's run. `observe(rows)` is given all rows in turn, while the run goes on: those of
    some thousand events at a time. What it raises ends the run.

    The trace is cut, with the reason in its notes, where a node fails by itself or names something that does not exist,
    or where the run makes no progress. A node's `crash()`, if it has one, is called when the schedule crashes it, and
    its `close()` however the run ends. A node that restarts is made anew with the parameter `incarnation`: 1, 2, ...;
    what the old one has as `kept`, its durable state, is given to the new one's `begin_with(kept)`. Raises BadInput for
    a fault or failure that the protocol rules out.
    """
    plugin = load(schedule.protocol)
    refuse_faults(schedule, plugin)
    with closing(_Population(schedule, make_node)) as population:
        population.begin()
        horizon = plugin.horizon_ns(schedule)
        simulation = Simulation(
            schedule,
            population.nodes,
            plugin.recorder(),
            horizon,
            observe,
            max_events,
            lives=population,
            fifo=plugin.fifo_links,
        )
        rows = simulation.run()
    header = header_of(schedule, iut, simulation.notes)
    rules = row_rules(schedule.protocol, schedule.topology)
    lie = rules.first_naming_nothing(rows)
    if lie is None:
        return Trace(header, rows)
    # No check may see a row that names something that does not exist: the run counts up to there.
    row = dict(zip(plugin.columns, rows[lie], strict=True))
    name, told = schedule.topology.nodes[row["node"]].name, rules.flaw(rows[lie])
    note = f"node {row['node']} ({name}) failed at {row['time_ns']} ns: what it sent or delivered has {told}"
    end = (row["time_ns"], *[ABSENT] * 2, int(Kind.ENDED), *[ABSENT] * 2, *plugin.recorder().ended(0))
    return Trace(header_of(schedule, iut, [*simulation.notes, note]), [*rows[:lie], end])


class _Population:
    """The nodes of one run: the present ones, and all that were ever made, which are closed at the end."""

    def __init__(self, schedule: Schedule, make_node: MakeNode) -> None:
        self._schedule = schedule
        self._make_node = make_node
        self._routes = routes_of(schedule.protocol, schedule.topology)
        self._incarnations = [0] * len(schedule.topology.nodes)
        self._made: list[AnyCore] = []
        self.nodes: list[AnyCore] = []

    def begin(self) -> None:
        for node in range(len(self._incarnations)):
            self.nodes.append(self._make(node, self._schedule.parameters))

    def crash(self, node: NodeId) -> None:
        _call_if_there(self.nodes[node], "crash")

    def restart(self, node: NodeId) -> AnyCore:
        self._incarnations[node] += 1
        again = {**self._schedule.parameters, "incarnation": self._incarnations[node]}
        before, self.nodes[node] = self.nodes[node], self._make(node, again)
        begin_with = getattr(self.nodes[node], "begin_with", None)
        if begin_with is not None and hasattr(before, "kept"):
            begin_with(before.kept)
        return self.nodes[node]

    def close(self) -> None:
        for made in self._made:
            _call_if_there(made, "close")

    def _make(self, node: NodeId, parameters: dict[str, Parameter]) -> AnyCore:
        schedule = self._schedule
        made = self._make_node(node_config(node, schedule.topology, self._routes, schedule.protocol, parameters))
        self._made.append(made)
        return made


def _call_if_there(node: AnyCore, name: str) -> None:
    method = getattr(node, name, None)
    if method is not None:
        method()


def refuse_faults(schedule: Schedule, plugin: Plugin) -> None:
    """Raise BadInput for a fault or a failure that the protocol's assumptions rule out."""
    for number, fault in enumerate(schedule.faults):
        if fault.kind not in plugin.allowed_faults:
            allowed = ", ".join(sorted(plugin.allowed_faults)) or "none"
            raise BadInput(
                f"schedule: faults[{number}] is {fault.kind}, which links of {schedule.protocol} never do; "
                f"those allowed are: {allowed}"
            )
    for number, failure in enumerate(schedule.failures):
        if failure.kind not in plugin.allowed_failures:
            allowed = ", ".join(sorted(plugin.allowed_failures)) or "none"
            raise BadInput(
                f"schedule: failures[{number}] is a {failure.kind}, which {schedule.protocol} does not provide for; "
                f"those allowed are: {allowed}"
            )


def header_of(schedule: Schedule, iut: str, notes: Sequence[str] = ()) -> Header:
    """The header of a run that the harness itself has recorded: complete, and in one global order."""
    everywhere = tuple(range(len(schedule.topology.nodes)))
    return Header(
        protocol=schedule.protocol,
        topology=schedule.topology,
        parameters=schedule.parameters,
        complete=dict.fromkeys(schema(schedule.protocol).kinds, everywhere),
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
    """An implementation under test in this process: the simulated network drives its nodes. max_events: a run that has
    not ended after this many is cut."""

    def __init__(self, name: str, make_node: MakeNode, max_events: int = MAX_EVENTS) -> None:
        self.name = name
        self._make_node = make_node
        self._max_events = max_events

    def run(self, schedule: Schedule) -> Trace:
        return simulate(schedule, self._make_node, iut=self.name, max_events=self._max_events)
