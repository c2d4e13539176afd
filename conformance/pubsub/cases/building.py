"""The words in which the cases of publish and subscribe are written.

A step is `publishes TOPIC`, `subscribes FILTER` or `unsubscribes FILTER`, named as they are written, with a `level` of
1 unless it is given; `set` may name topics and filters of the case's own. Appliances are in a row, numbered from 0;
clients follow: of `row 3 0 2` two, at the appliances 0 and 2. In a ring the last appliance is joined to the first.
Of `doubled 2 0 1` each two are joined twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from scatterproof.conformance.case_files import CaseStep, CaseWords, WrittenCase
from scatterproof.conformance.network.topologies import attached
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.pubsub.messages import CallName
from scatterproof.spec.schedule import Call, Delay
from scatterproof.spec.topology import LinkId, NodeId, Topology

HOP_NS = 100
RETRY_NS = 2_000
TOPICS = ("T1.T2", "T1.T3", "T1.T2.T3", "T4")
FILTERS = ("T1.*", "T1.T2", "T1.>", "T1.T2.[*]", "T4", "T1.T3*", "*.T2", "T1>")
# Topics and filters by grammar, for grammars other than the document's.
WORDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "document": (TOPICS, FILTERS),
    "mqtt": (("a/b", "a", "a/b/c", "$a/b", "/a"), ("a/#", "a/+", "#", "+/b", "$a/#", "/+", "a/b", "+/#")),
    "nats": (("a.b", "a", "a.b.c"), ("a.>", "a.*", ">", "*.b", "a.b")),
    "amqp": (("a.b", "a", "a.b.c", "c", ""), ("a.#", "a.*", "#", "#.b", "a.#.c", "a.b", "#.#", "*.#")),
}


def row_of(appliances: int, clients: Sequence[NodeId], *, closed: bool = False, ways: int = 1) -> Topology:
    """Appliances in a row, with clients. closed: whether the last is joined to the first, too. ways: how often two are
    joined."""
    joined = [(one, one + 1) for one in range(appliances - 1)] * ways
    return attached(appliances, [*joined, *([(0, appliances - 1)] if closed else ())], clients)


def between(network: Topology) -> list[LinkId]:
    """The links between appliances."""
    hosts = len(network.hosts())
    return [at for at, link in enumerate(network.links) if max(link.source, link.target) < hosts]


def publishes(time_ns: int, client: NodeId, topic: int, level: int = 1) -> Call:
    """A publish; the payload names time and client, so that payloads differ."""
    return Call(time_ns, client, CallName.PUBLISH, {"topic": topic, "level": level}, b"%d of %d" % (time_ns, client))


def subscribes(time_ns: int, client: NodeId, filter_: int, level: int = 1) -> Call:
    return Call(time_ns, client, CallName.SUBSCRIBE, {"filter": filter_, "level": level})


def unsubscribes(time_ns: int, client: NodeId, filter_: int) -> Call:
    return Call(time_ns, client, CallName.UNSUBSCRIBE, {"filter": filter_})


def words(grammar: str = "document") -> dict[str, Parameter]:
    """The parameters that name the topics and filters of cases."""
    topics, filters = WORDS[grammar]
    return {"grammar": grammar, "topics": "\n".join(topics), "filters": "\n".join(filters)}


def _with(make: Callable[..., Call], which: int) -> Callable[[CaseStep], Iterator[Call]]:
    """A step that makes one call. which: 0 where its words name topics, 1 where they name filters."""

    def made(step: CaseStep) -> Iterator[Call]:
        there = _there(step.of, which)
        for word in step.words:
            if word not in there:
                raise BadInput(f"{word!r} is none of {', '.join(there)}")
        numbers = [there.index(word) + 1 for word in step.words]
        yield step.given(make, *numbers, **{key: int(value) for key, value in step.named.items()})

    return made


def _there(written: WrittenCase, which: int) -> tuple[str, ...]:
    """The case's topics (0) or filters (1): its own, one a line, where it names any, else the grammar's."""
    own = written.set.get(("topics", "filters")[which])
    return WORDS[_grammar(written)][which] if own is None else tuple(str(own).split("\n"))


def _grammar(written: WrittenCase) -> str:
    grammar = str(written.set.get("grammar", "document"))
    if grammar not in WORDS:
        raise BadInput(f"{grammar!r} is no grammar; there are {', '.join(WORDS)}")
    return grammar


def _parameters(written: WrittenCase, network: Topology) -> dict[str, Parameter]:
    appliances = len(network.hosts())
    return {**words(_grammar(written)), "appliances": appliances, "retry_ns": RETRY_NS, "tries": 3, **written.set}


CASE_WORDS = CaseWords(
    protocol="pubsub",
    steps={
        "publishes": _with(publishes, 0),
        "subscribes": _with(subscribes, 1),
        "unsubscribes": _with(unsubscribes, 1),
    },
    networks={
        "row": lambda appliances, *clients: row_of(appliances, clients),
        "doubled": lambda appliances, *clients: row_of(appliances, clients, ways=2),
        "ring": lambda appliances, *clients: row_of(appliances, clients, closed=True),
    },
    delay=lambda _: Delay(HOP_NS),
    parameters=_parameters,
    at_stake=lambda _: ("PS-ANSWER",),
)
