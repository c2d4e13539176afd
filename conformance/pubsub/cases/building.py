"""How cases of publish and subscribe are put together. Times are ns of true time.

Appliances are in a row, numbered from 0; clients follow, in the order in which they are given, by the appliance that
each is at. Topics and filters are named as they are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scatterproof.conformance.case_building import case_of
from scatterproof.conformance.network.topologies import attached
from scatterproof.conformance.protocol import Case
from scatterproof.spec.core import Parameter
from scatterproof.spec.pubsub.messages import CallName
from scatterproof.spec.schedule import Call, Delay, Failure, Fault, Schedule
from scatterproof.spec.topology import NodeId, Topology

HOP_NS = 100
RETRY_NS = 2_000
TOPICS = ("T1.T2", "T1.T3", "T1.T2.T3", "T4")
FILTERS = ("T1.*", "T1.T2", "T1.>", "T1.T2.[*]", "T4", "T1.T3*", "*.T2", "T1>")
# By grammar, where cases are of others than the document's.
WORDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "document": (TOPICS, FILTERS),
    "mqtt": (("a/b", "a", "a/b/c", "$a/b", "/a"), ("a/#", "a/+", "#", "+/b", "$a/#", "/+", "a/b", "+/#")),
    "nats": (("a.b", "a", "a.b.c"), ("a.>", "a.*", ">", "*.b", "a.b")),
    "amqp": (("a.b", "a", "a.b.c", "c"), ("a.#", "a.*", "#", "#.b", "a.#.c", "a.b", "#.#")),
}


def row_of(appliances: int, clients: Sequence[NodeId]) -> Topology:
    return attached(appliances, [(one, one + 1) for one in range(appliances - 1)], clients)


def publishes(time_ns: int, client: NodeId, topic: str, level: int = 1, grammar: str = "document") -> Call:
    """Payloads differ, as the time and the client do."""
    number = WORDS[grammar][0].index(topic) + 1
    return Call(time_ns, client, CallName.PUBLISH, {"topic": number, "level": level}, b"%d of %d" % (time_ns, client))


def subscribes(time_ns: int, client: NodeId, filter_: str, level: int = 1, grammar: str = "document") -> Call:
    number = WORDS[grammar][1].index(filter_) + 1
    return Call(time_ns, client, CallName.SUBSCRIBE, {"filter": number, "level": level})


def unsubscribes(time_ns: int, client: NodeId, filter_: str, grammar: str = "document") -> Call:
    return Call(time_ns, client, CallName.UNSUBSCRIBE, {"filter": WORDS[grammar][1].index(filter_) + 1})


def words(grammar: str = "document") -> dict[str, Parameter]:
    """The parameters that name the topics and filters of cases."""
    topics, filters = WORDS[grammar]
    return {"grammar": grammar, "topics": "\n".join(topics), "filters": "\n".join(filters)}


def case(
    name: str,
    stimulus: str,
    duty: str,
    network: tuple[int, Sequence[NodeId]],
    *calls: Call,
    faults: tuple[Fault, ...] = (),
    failures: tuple[Failure, ...] = (),
    also: Iterable[str] = (),
    grammar: str = "document",
    **parameters: Parameter,
) -> Case:
    """A case named CLAUSE/what. network: how many appliances there are, and at which each client is."""
    appliances, clients = network
    topology = row_of(appliances, clients)
    given = {**words(grammar), "appliances": appliances, "retry_ns": RETRY_NS, "tries": 3, **parameters}
    schedule = Schedule(
        protocol="pubsub",
        topology=topology,
        delays=(Delay(HOP_NS),) * len(topology.links),
        submissions=(),
        calls=tuple(sorted(calls, key=lambda one: one.time_ns)),
        parameters=given,
        faults=faults,
        failures=failures,
        seed=1,
    )
    return case_of(name, stimulus, duty, schedule, (*also, "PS-ANSWER"))
