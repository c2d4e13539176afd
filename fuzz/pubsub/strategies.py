"""Runs of publish and subscribe: up to three appliances, clients that publish, subscribe and unsubscribe, packets that
are lost, late or repeated, nodes that stand still, and several links between two appliances, which are cut or get
slow."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from scatterproof.conformance.network.topologies import attached
from scatterproof.conformance.pubsub.cases.building import WORDS, between, words
from scatterproof.conformance.pubsub.episodes import KINDS, episode
from scatterproof.fuzz.strategies import clocks, delays
from scatterproof.spec.core import Parameter
from scatterproof.spec.pubsub.messages import CallName
from scatterproof.spec.schedule import Call, Delay, Failure, FailureKind, Fault, FaultKind, Schedule
from scatterproof.spec.topology import Link, LinkId, NodeId, Topology, route

MAX_APPLIANCES, MAX_CLIENTS = 3, 4
MAX_STEPS, MAX_GAP_NS = 16, 60
MAX_FAULTS = 8
MAX_STREAMED, MAX_LATE = 20, 24  # messages and packets in a row
_RING_NS, _ON_RINGS = 8, 8  # ns, calls
_STEP, _PAUSE, _WORSE = 4, 3, 6  # bytes
_AT_ONE = 2  # links from a client to another one at the same appliance
_RETRIES_NS = {"one": (30, 80), "all": (30,), "best": (80, 300)}  # probes are lost after that, and slow below it
_FIRST = 12  # the first step is a subscribe, so that something can come
_PATHS = (("one",), ("one", "one", "best"), ("one", "one", "all", "best"))  # of one appliance, two, three


@st.composite
def _runs(draw: DrawFn) -> Schedule:
    network = draw(networks())
    paths = draw(st.sampled_from(_PATHS[len(network.hosts()) - 1]))
    network = _ring(network) if paths == "all" else _doubled(network) if paths == "best" else network
    clients, grammar = network.clients(), draw(st.sampled_from(sorted(WORDS)))
    most = draw(st.sampled_from([3, 3, 8]))
    numbers = draw(st.binary(min_size=1 + _STEP * MAX_STEPS, max_size=1 + _STEP * MAX_STEPS))
    made: list[Call] = []
    now = 0
    for number in range(3 + numbers[0] % (MAX_STEPS - 2)):
        kind, who, gap, more = numbers[1 + _STEP * number :][:_STEP]
        now += gap % MAX_GAP_NS
        made += episode(kind % KINDS if number else _FIRST, now, clients[who % len(clients)], more, grammar, most)
    if numbers[0] % 4 == 0:
        made = sorted([*made, *_withdrawal(draw, clients, grammar)], key=lambda call: call.time_ns)
    if paths == "all":
        made = made[:_ON_RINGS]
    least_ns = _RING_NS if paths == "all" else 0
    slow: tuple[Fault, ...] = ()
    cut: tuple[Failure, ...] = ()
    if paths == "best":
        streamed, link = _stream(draw, network)
        made = sorted([*made, *streamed], key=lambda call: call.time_ns)
        slow, cut = draw(worse(link))
    late = {(one.link, one.index): one for one in (*draw(faults(len(network.links))), *slow)}
    failed = [*draw(failures(len(network.nodes), now)), *cut]
    return Schedule(
        protocol="pubsub",
        topology=network,
        # On a ring a wrong rule lets messages circle: without a delay for ever, with one until the run ends.
        delays=tuple(Delay(one.base_ns + least_ns, one.jitter_ns) for one in draw(delays(network))),
        submissions=(),
        calls=tuple(made),
        clocks=draw(clocks(network)),
        parameters={
            **words(grammar),
            "appliances": len(network.hosts()),
            "paths": paths,
            "retry_ns": draw(st.sampled_from(_RETRIES_NS[paths])),
            "tries": 1 if paths == "all" else draw(st.integers(1, 4)),
        },
        faults=tuple(late.values()),
        failures=tuple(sorted(failed, key=lambda failure: failure.time_ns)),
        seed=draw(st.integers(0, 255)),
    )


def _withdrawal(draw: DrawFn, clients: tuple[NodeId, ...], grammar: str) -> list[Call]:
    """A wide filter and narrower ones are subscribed to, and the wide one is given up among publications."""
    wide, *others = draw(st.permutations(range(1, 5)))
    level, begun, ended = draw(st.integers(1, 2)), 200, 200 + draw(st.integers(60, 200))
    first, *more = draw(st.permutations(clients))
    made = [Call(begun, first, CallName.SUBSCRIBE, {"filter": wide, "level": level})]
    for number, filter_ in enumerate(others[: draw(st.integers(1, 3))]):
        one = more[number % len(more)]
        made.append(Call(begun + 20 * number, one, CallName.SUBSCRIBE, {"filter": filter_, "level": level}))
    made.append(Call(ended, first, CallName.UNSUBSCRIBE, {"filter": wide}))
    for number in range(12):
        published: dict[str, Parameter] = {"topic": 1 + number % 3, "level": level}
        made.append(Call(begun + 20 * number, more[-1], CallName.PUBLISH, published, b"%d" % number))
    return made


def _ring(network: Topology) -> Topology:
    """The network, with each appliance joined to each other one."""
    hosts = len(network.hosts())
    there = {(link.source, link.target) for link in network.links}
    new = (Link(a, b) for a in range(hosts) for b in range(hosts) if a != b and (a, b) not in there)
    return Topology(network.nodes, (*network.links, *new))


def _doubled(network: Topology) -> Topology:
    """The network, with each two appliances that are joined joined twice."""
    return Topology(network.nodes, (*network.links, *(network.links[one] for one in between(network))))


def _stream(draw: DrawFn, network: Topology) -> tuple[list[Call], LinkId]:
    """One client publishes again and again what another one gets, at another appliance where there is one; and the link
    that it takes first between appliances."""
    publisher, *others = draw(st.permutations(network.clients()))
    ways = [(route(network).path(network, publisher, other), other) for other in others]
    way, subscriber = next(((way, other) for way, other in ways if len(way) > _AT_ONE), ways[0])
    level, gap_ns = draw(st.integers(1, 2)), draw(st.integers(10, 40))
    subscribed: dict[str, Parameter] = {"filter": 1, "level": 2}
    published: dict[str, Parameter] = {"topic": 1, "level": level}
    made = [Call(200, subscriber, CallName.SUBSCRIBE, subscribed)]
    made += [Call(220 + gap_ns * at, publisher, CallName.PUBLISH, published, b"%d" % at) for at in range(MAX_STREAMED)]
    return made, network.links.index(network.links[way[1]]) if len(way) > _AT_ONE else between(network)[0]


@st.composite
def worse(draw: DrawFn, link: LinkId) -> tuple[tuple[Fault, ...], tuple[Failure, ...]]:
    """Packets in a row are late on the link, or it is cut for a while, or both."""
    how, first, many, late, early, long = draw(st.binary(min_size=_WORSE, max_size=_WORSE))
    slow = tuple(Fault(link, first % 24 + at, FaultKind.DELAY, 20 + late) for at in range(1 + many % MAX_LATE))
    cut_ns = 200 + early
    mended = Failure(cut_ns + 1 + 2 * long, FailureKind.MEND, link=link)
    cut = (Failure(cut_ns, FailureKind.CUT, link=link), mended)
    return slow if how % 4 else (), cut if how % 2 == 0 else ()


@st.composite
def networks(draw: DrawFn) -> Topology:
    """A tree of appliances, and two to four clients, each at any of them."""
    hosts = draw(st.sampled_from([1, 2, 2, MAX_APPLIANCES]))
    joined = [(draw(st.integers(0, one - 1)), one) for one in range(1, hosts)]
    return attached(hosts, joined, draw(st.lists(st.integers(0, hosts - 1), min_size=2, max_size=MAX_CLIENTS)))


@st.composite
def faults(draw: DrawFn, links: int) -> tuple[Fault, ...]:
    """On half of the draws up to 8, on the first 12 packets of a link."""
    numbers = draw(st.binary(min_size=1 + 3 * MAX_FAULTS, max_size=1 + 3 * MAX_FAULTS))
    found: dict[tuple[int, int], Fault] = {}
    for number in range(max(0, numbers[0] % (2 * MAX_FAULTS + 1) - MAX_FAULTS)):
        link, index, how = numbers[1 + 3 * number :][:3]
        kind = FaultKind.LOSE if how < 96 else FaultKind.DELAY if how < 176 else FaultKind.DUPLICATE
        place = (link % links, index % 12)
        found[place] = Fault(*place, kind, 0 if kind is FaultKind.LOSE else how)
    return tuple(found.values())


@st.composite
def failures(draw: DrawFn, nodes: int, last_ns: int) -> tuple[Failure, ...]:
    """On a quarter of the draws a node stands still for a while."""
    often, who, early, long = draw(st.binary(min_size=_PAUSE + 1, max_size=_PAUSE + 1))
    if often >= 64:
        return ()
    from_ns, node = early * (last_ns + 20) // 255, who % nodes
    resumed = Failure(from_ns + 1 + long, FailureKind.RESUME, node=node)
    return (Failure(from_ns, FailureKind.PAUSE, node=node), resumed)


def drawn() -> SearchStrategy[Schedule]:
    return _runs()
