"""A counterexample of BarrierOrder as a schedule that an implementation can be run on.

In environment A the run repeats the counterexample: timestamps are those of the model, `UNIT_NS` each, ties included,
and every packet is delayed so that arrivals have the order of the steps. In B and C beacons leave by a timer, at times
that a schedule does not choose, so that only the submissions are taken over: enough for a rule that stops everyone,
as then the order of arrivals does not matter.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from scatterproof.models.tla_values import Function
from scatterproof.models.tlc import State
from scatterproof.models.totalorder.telling.barrier_steps import BarrierStep, Link, channels, steps_of
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Delay, Fault, FaultKind, Message, Schedule, Submission, validate
from scatterproof.spec.topology import Link as TopologyLink
from scatterproof.spec.topology import Node, Role, Routes, Topology, route

UNIT_NS = 1_000_000
_STEP_NS = 1_000
_FIRST_READING = 1  # of a clock without offset, at true time 0
_DELAY_NS = 1


def schedule_of_trace(trace: Sequence[State], configuration: str) -> Schedule:
    """The schedule of a counterexample found under this text of a .cfg, which names the environment.

    Raises BadInput for a trace without a scattering, or a text without an environment.
    """
    named = re.search(r'^  Environment = "([ABC])"$', configuration, re.MULTILINE)
    if named is None:
        raise BadInput("counterexample: its .cfg names no environment; give it a line such as 'Environment = \"A\"'")
    environment = named.group(1)
    steps = steps_of(trace)
    links = sorted(channels(trace[0].variables))
    nodes = _nodes(trace)
    topology = Topology(
        nodes=tuple(Node(f"{role.value}{node}", role) for node, role in nodes.items()),
        links=tuple(TopologyLink(_index(nodes, source), _index(nodes, target)) for source, target in links),
    )
    scatterings = [step for step in steps if step.action == "Scatter"]
    if not scatterings:
        raise BadInput("counterexample: nobody scatters in it, so that there is nothing to submit; choose another")
    last_ns = UNIT_NS * (1 + max(step.timestamp for step in scatterings))
    parameters: dict[str, int | str] = {"environment": environment, "beacon_interval_ns": UNIT_NS // 4}
    if environment == "A":
        arrivals = _arrivals(steps, trace[-1], topology, nodes, links)
        faults, end_ns = _delays(arrivals, links, last_ns), None
    else:
        faults, end_ns = (), last_ns + 20 * UNIT_NS
    schedule = Schedule(
        protocol="totalorder",
        topology=topology,
        delays=tuple(Delay(base_ns=_DELAY_NS) for _ in links),
        submissions=tuple(_submission(step, nodes) for step in sorted(scatterings, key=lambda step: step.timestamp)),
        parameters=parameters,
        faults=faults,
        end_ns=end_ns,
    )
    return validate(schedule, "schedule of a counterexample")


def _nodes(trace: Sequence[State]) -> dict[int, Role]:
    """The nodes of the model, hosts first and in the order that breaks ties."""
    hosts = range(1, len(trace[0].variables["buffer"]) + 1)  # type: ignore[arg-type]
    others = {node for link in channels(trace[0].variables) for node in link} - set(hosts)
    return {**dict.fromkeys(hosts, Role.HOST), **dict.fromkeys(sorted(others), Role.SWITCH)}


def _index(nodes: dict[int, Role], node: int) -> int:
    return list(nodes).index(node)


def _submission(step: BarrierStep, nodes: dict[int, Role]) -> Submission:
    return Submission(
        time_ns=step.timestamp * UNIT_NS - _FIRST_READING,
        node=_index(nodes, step.node),
        messages=tuple(Message(_index(nodes, receiver)) for receiver in step.receivers),
    )


def _arrivals(
    steps: Sequence[BarrierStep], last: State, topology: Topology, nodes: dict[int, Role], links: list[Link]
) -> list[tuple[Link, Function, Link | None]]:
    """Every packet's arrival: its link, itself, and the link it goes on to; packets in flight at the end come last."""
    arrivals = [
        (step.taken_from, step.taken, step.put[0][0] if step.put else None)
        for step in steps
        if step.taken_from is not None and step.taken is not None
    ]
    waiting = deque((link, message) for link, messages in channels(last.variables).items() for message in messages)
    routes: Routes = route(topology)
    while waiting:
        link, message = waiting.popleft()
        onward = None
        if link[1] != message["receiver"]:
            receiver = _index(nodes, message["receiver"])  # type: ignore[arg-type]
            onward = links[routes.next_link[_index(nodes, link[1])][receiver]]
            waiting.append((onward, message))
        arrivals.append((link, message, onward))
    return arrivals


def _delays(
    arrivals: Sequence[tuple[Link, Function, Link | None]], links: list[Link], first_ns: int
) -> tuple[Fault, ...]:
    """The exceptions that make packets arrive in this order, one `_STEP_NS` after the other from `first_ns` on."""
    sent_ns: dict[Link, deque[int]] = {link: deque() for link in links}
    indexes = dict.fromkeys(links, 0)
    faults = []
    for number, (link, message, onward) in enumerate(arrivals):
        arrives_ns = first_ns + number * _STEP_NS
        if message["sender"] == link[0]:
            left_ns = message["timestamp"] * UNIT_NS - _FIRST_READING  # type: ignore[operator]
        else:
            left_ns = sent_ns[link].popleft()
        faults.append(
            Fault(
                link=links.index(link),
                index=indexes[link],
                kind=FaultKind.DELAY,
                delay_ns=arrives_ns - left_ns - _DELAY_NS,
            )
        )
        indexes[link] += 1
        if onward is not None:
            sent_ns[onward].append(arrives_ns)
    return tuple(faults)
