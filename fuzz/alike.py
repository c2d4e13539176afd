"""Whether two failures are the same: their schedules are equal up to naming.

Numbers of nodes, links and messages, and the bytes of payloads, only tell them apart. So a schedule is a graph with a
vertex for each of them, labelled with all the rest; schedules are equal up to naming when their graphs are isomorphic.
Node numbers among a schedule's parameters are compared as they are: schedules that differ in nothing else may count as
different, but different ones never count as equal.
"""

from __future__ import annotations

from collections.abc import Hashable

import networkx as nx

from scatterproof.spec.schedule import EVERYBODY, Schedule


def alike(one: Schedule, other: Schedule) -> bool:
    """Whether the schedules differ in names alone."""
    first, second = as_graph(one), as_graph(other)
    if first.graph != second.graph or _labels(first) != _labels(second):
        return False
    same = nx.algorithms.isomorphism.categorical_node_match("label", None)
    return bool(nx.is_isomorphic(first, second, node_match=same))


def as_graph(schedule: Schedule) -> nx.DiGraph:
    """Each vertex is a pair (kind, number). Edges lead along links, from whoever submits to what is submitted, on to
    its messages, and from these to receivers and payloads."""
    graph = nx.DiGraph(
        protocol=schedule.protocol, parameters=schedule.parameters, seed=schedule.seed, end_ns=schedule.end_ns
    )
    payloads: dict[bytes, int] = {}

    def vertex(kind: str, number: int, *label: Hashable) -> tuple[str, int]:
        graph.add_node((kind, number), label=(kind, *label))
        return kind, number

    for number, node in enumerate(schedule.topology.nodes):
        clock = schedule.clock(number)
        vertex("node", number, node.role, clock.offset_ns, clock.drift_ppb)
    for number, (link, delay) in enumerate(zip(schedule.topology.links, schedule.delays, strict=True)):
        way = vertex("link", number, delay.base_ns, delay.jitter_ns)
        graph.add_edges_from([(("node", link.source), way), (way, ("node", link.target))])
    messages = 0
    for number, submission in enumerate(schedule.submissions):
        submitted = vertex("submission", number, number, submission.time_ns)
        graph.add_edge(("node", submission.node), submitted)
        for message in submission.messages:
            sent = vertex("message", messages, message.receiver == EVERYBODY)
            payload = payloads.setdefault(message.payload, len(payloads))
            graph.add_edges_from([(submitted, sent), (sent, vertex("payload", payload, len(message.payload)))])
            if message.receiver != EVERYBODY:
                graph.add_edge(sent, ("node", message.receiver))
            messages += 1
    for number, call in enumerate(schedule.calls):
        payload = payloads.setdefault(call.payload, len(payloads))
        called = vertex("call", number, number, call.time_ns, call.call, *sorted(call.arguments.items()))
        graph.add_edges_from([(("node", call.node), called), (called, vertex("payload", payload, len(call.payload)))])
    for number, fault in enumerate(schedule.faults):
        graph.add_edge(vertex("fault", number, fault.index, fault.kind, fault.delay_ns), ("link", fault.link))
    for number, failure in enumerate(schedule.failures):
        befallen = ("node", failure.node) if failure.link < 0 else ("link", failure.link)
        graph.add_edge(vertex("failure", number, number, failure.time_ns, failure.kind), befallen)
    return graph


def _labels(graph: nx.DiGraph) -> list[str]:
    return sorted(repr(label) for _, label in graph.nodes(data="label"))
