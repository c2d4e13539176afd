"""Hypothesis strategies for topologies, delays, clocks, faults, submissions and whole schedules of any protocol.

Two laws: every value is one that the simulated network and the protocol's link assumption allow, and every value of
the described shape can be drawn. Times are small whole numbers of ns, so that ties, equal arrivals and timers that fire
at the very instant of a packet are common. All shrink towards one switch, two senders, one receiver, one submission,
and time 0.

Speed: every draw of Hypothesis is slow, so the numbers of a part are the bytes of one draw of fixed size, and a small
value uses only the first bytes; and the delay of each packet is a function of (seed, link, index), never drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from scatterproof.conformance.network.topologies import diamond, fat_tree, first_example, second_example
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Clock, Delay, Failure, Fault, FaultKind, Message, Schedule, Submission
from scatterproof.spec.topology import NO_LINK, Link, Node, NodeId, Role, Topology, route

MAX_SWITCHES = 3
MAX_HOSTS = 5
MAX_SUBMISSIONS = 8
MAX_FAULTS = 4
FAULTY = 16
MAX_GAP_NS = 12
MAX_DELAY_NS = 8
MAX_OFFSET_NS = 24
# A fifth: far beyond any real clock, so that drift shows within some tens of ns.
MAX_DRIFT_PPB = 200_000_000

_SENDS, _RECEIVES, _BOTH = range(3)
_TWO_WAY, _DOWN, _UP = range(3)


# What fails in a run, from 32 bytes, the network, and when the last submission is made.
Failures: TypeAlias = Callable[[bytes, Topology, int], tuple[Failure, ...]]


@dataclass(frozen=True, slots=True)
class Network:
    """A topology, and whom each host that can send at all can reach, in ascending order."""

    topology: Topology
    reach: tuple[tuple[NodeId, tuple[NodeId, ...]], ...]


@lru_cache(maxsize=4096)
def network_of(topology: Topology) -> Network:
    """The topology with its reach. Raises BadInput where its routes are cyclic."""
    table = route(topology).next_link
    hosts = topology.hosts()
    reach = tuple((s, tuple(r for r in hosts if table[s][r] != NO_LINK)) for s in hosts)
    return Network(topology, tuple((sender, receivers) for sender, receivers in reach if receivers))


def topologies() -> SearchStrategy[Topology]:
    """Trees of 1 to 3 switches, joined both ways or one way, with 3 to 5 hosts that send, receive or both and are
    attached to one switch or two: routes in a tree of switches never make a barrier wait for itself. Now and then a
    diamond, a fat tree or an example of the source document. Some host reaches another."""
    return networks().map(lambda network: network.topology)


def networks() -> SearchStrategy[Network]:
    """As `topologies`, with whom each host can reach."""
    return _numbers(_NETWORK).map(_network)


def delays(topology: Topology) -> SearchStrategy[tuple[Delay, ...]]:
    """One a link: 0 to 8 ns, and as much jitter; on half of the draws one pair for all links."""
    return _numbers(1 + 2 * len(topology.links)).map(lambda numbers: _delays(numbers, topology))


def clocks(topology: Topology) -> SearchStrategy[tuple[Clock, ...]]:
    """One a node, or none at all: offsets of 0 to 24 ns, and a drift of at most a fifth on a few."""
    return _numbers(1 + 2 * len(topology.nodes)).map(lambda numbers: _clocks(numbers, topology))


def submissions(network: Network) -> SearchStrategy[tuple[Submission, ...]]:
    """1 to 8 in rising time, gaps of 0 to 12 ns, each to any set of receivers that its host can reach, with contents
    that are equal or differ."""
    return _numbers(_SUBMISSIONS).map(lambda numbers: _submissions(numbers, network))


def faults(topology: Topology, kinds: tuple[FaultKind, ...]) -> SearchStrategy[tuple[Fault, ...]]:
    """At most 4, of the given kinds only, on the first packets of a link; none on most draws."""
    return _numbers(_FAULTS).map(lambda numbers: _faults(numbers, topology, kinds))


@st.composite
def schedules(
    draw: DrawFn,
    protocol: str,
    *,
    parameters: SearchStrategy[dict[str, Parameter]],
    fault_kinds: tuple[FaultKind, ...] = (),
    places: SearchStrategy[Network] | None = None,
    often_faulty: bool = False,
    answered: bool = False,
    tree: bool = False,
    spread: int = 1,
    failures: Failures | None = None,
    faulty: int = FAULTY,
) -> Schedule:
    """Schedules of `protocol` that run until all has settled. `fault_kinds` are those that its links may show; `places`
    draws other networks than `networks()` does. often_faulty: three of four schedules have faults, not one of four.
    answered: every receiver can send back. tree: as `answered`, with one path only. spread: a factor for the gaps
    between submissions. failures: what fails, from some bytes, the network and the time of the last submission. faulty:
    how many of the first packets of a link may have faults."""
    numbers = draw(_SCHEDULE)
    network = _network(numbers, answered=answered or tree, tree=tree) if places is None else draw(places)
    topology = network.topology
    at = _NETWORK
    sent = _submissions(numbers[at:], network, spread)
    at += _SUBMISSIONS
    delayed = _delays(numbers[at:], topology)
    at += 1 + 2 * len(topology.links)
    set_to = _clocks(numbers[at:], topology)
    at += 1 + 2 * len(topology.nodes)
    return Schedule(
        protocol=protocol,
        topology=topology,
        delays=delayed,
        submissions=sent,
        clocks=set_to,
        parameters=draw(parameters),
        faults=_faults(numbers[at:], topology, fault_kinds, often=often_faulty, faulty=faulty),
        failures=() if failures is None else failures(draw(_numbers(_FAILURE)), topology, sent[-1].time_ns),
        seed=int.from_bytes(numbers[-2:], "big"),
    )


def _numbers(count: int) -> SearchStrategy[bytes]:
    return st.binary(min_size=count, max_size=count)


# How many bytes each part uses at most; two more are the seed.
_NETWORK = 2 + (MAX_SWITCHES - 1) + MAX_HOSTS
_SUBMISSIONS = 1 + 4 * MAX_SUBMISSIONS
_FAULTS = 2 + 4 * MAX_FAULTS
_FAILURE = 32
_MAX_LINKS, _MAX_NODES = 32, 16
_SCHEDULE = _numbers(_NETWORK + _SUBMISSIONS + 1 + 2 * _MAX_LINKS + 1 + 2 * _MAX_NODES + _FAULTS + 2)


@cache
def _known() -> tuple[Network, ...]:
    """Networks with several routes between switches, and with partial reach."""
    shapes = (diamond(2, 1), fat_tree(4), first_example(), second_example())
    return tuple(network_of(topology) for topology in shapes)


@cache
def _known_answered() -> tuple[Network, ...]:
    """The known networks in which every receiver can answer."""
    return tuple(network for network in _known() if all_answered(network))


def all_answered(network: Network) -> bool:
    """Whether all receivers of each host reach it, too."""
    reach = dict(network.reach)
    return all(sender in reach.get(receiver, ()) for sender, receivers in network.reach for receiver in receivers)


def _network(numbers: bytes, *, answered: bool = False, tree: bool = False) -> Network:
    known = _known_answered() if answered else _known()
    if numbers[0] >= 224 and not tree:
        return known[numbers[1] % len(known)]
    switches = numbers[0] % MAX_SWITCHES + 1
    hosts = numbers[1] % (MAX_HOSTS - 2) + 3
    joints, attachments = numbers[2 : 1 + MAX_SWITCHES], numbers[1 + MAX_SWITCHES :]
    joined = tuple((joints[child - 1] % child, joints[child - 1] // 8 % 3) for child in range(1, switches))
    attached = tuple(_attachment(number, attachments[number], switches) for number in range(hosts))
    if answered:
        joined = tuple((parent, _TWO_WAY) for parent, _ in joined)
        attached = tuple((_BOTH, home, home if tree else second) for _, home, second in attached)
    return _tree(joined, attached)


def _attachment(number: int, byte: int, switches: int) -> tuple[int, int, int]:
    """(direction, switch, second switch or the same): the first two hosts send, the third receives, whatever else."""
    if number > 2:
        direction = byte % 3
    elif byte % 2:
        direction = _BOTH
    else:
        direction = _RECEIVES if number == 2 else _SENDS
    home, second = byte // 4 % switches, byte // 16
    # Most hosts have one link.
    return direction, home, second if 0 < second < switches else home


@lru_cache(maxsize=4096)
def _tree(joints: tuple[tuple[int, int], ...], attachments: tuple[tuple[int, int, int], ...]) -> Network:
    """joints[k]: the switch that switch k + 1 hangs from, and the way that data go between the two."""
    first_switch = len(attachments)
    nodes = [Node(f"h{number}", Role.HOST) for number in range(first_switch)]
    nodes += [Node(f"s{number}", Role.SWITCH) for number in range(len(joints) + 1)]
    links: list[Link] = []
    for host, (direction, home, second) in enumerate(attachments):
        for switch in sorted({home, second}):
            if direction != _RECEIVES:
                links.append(Link(host, first_switch + switch))
            if direction != _SENDS:
                links.append(Link(first_switch + switch, host))
    for child, (parent, way) in enumerate(joints, start=1):
        if way != _UP:
            links.append(Link(first_switch + parent, first_switch + child))
        if way != _DOWN:
            links.append(Link(first_switch + child, first_switch + parent))
    network = network_of(Topology(tuple(nodes), tuple(links)))
    if any(receivers != (sender,) for sender, receivers in network.reach):
        return network
    # Every way leads away from every receiver: join the switches both ways.
    return _tree(tuple((parent, _TWO_WAY) for parent, _ in joints), attachments)


def _delays(numbers: bytes, topology: Topology) -> tuple[Delay, ...]:
    count = len(topology.links)
    used = numbers[1 : 1 + 2 * count] if numbers[0] % 2 else numbers[1:3] * count
    small = [byte % (MAX_DELAY_NS + 1) for byte in used]
    return tuple(Delay(base, jitter) for base, jitter in zip(small[::2], small[1::2], strict=True))


def _clocks(numbers: bytes, topology: Topology) -> tuple[Clock, ...]:
    if numbers[0] % 2 == 0:
        return ()
    used = numbers[1 : 1 + 2 * len(topology.nodes)]
    return tuple(
        Clock(offset % (MAX_OFFSET_NS + 1), _drift(drift)) for offset, drift in zip(used[::2], used[1::2], strict=True)
    )


def _drift(byte: int) -> int:
    """None for most bytes; the rest spread over both signs."""
    return 0 if byte < 192 else (byte - 223) * (MAX_DRIFT_PPB // 32)


def _submissions(numbers: bytes, network: Network, spread: int = 1) -> tuple[Submission, ...]:
    made: list[Submission] = []
    now = 0
    for number in range(numbers[0] % MAX_SUBMISSIONS + 1):
        gap, sender, receivers, contents = numbers[4 * number + 1 : 4 * number + 5]
        # Half of them follow at once: a burst pushes a sender's timestamps ahead of its clock.
        now += spread * (gap % (MAX_GAP_NS + 1)) if gap < 128 else 0
        if sender < 192 or number == 0:
            node, reachable = network.reach[sender % len(network.reach)]
        chosen = receivers % ((1 << len(reachable)) - 1) + 1
        messages = tuple(
            Message(receiver, bytes([number]) + (bytes([receiver]) if contents % 2 else b""))
            for place, receiver in enumerate(reachable)
            if chosen >> place & 1
        )
        made.append(Submission(now, node, messages))
    return tuple(made)


def _faults(
    numbers: bytes, topology: Topology, kinds: tuple[FaultKind, ...], *, often: bool = False, faulty: int = FAULTY
) -> tuple[Fault, ...]:
    if not kinds or numbers[0] < (64 if often else 192):
        return ()
    found: dict[tuple[int, int], Fault] = {}
    for at in range(numbers[1] % MAX_FAULTS + 1):
        link, index, kind, delay = numbers[2 + 4 * at : 6 + 4 * at]
        place = (link % len(topology.links), index % faulty)
        chosen = kinds[kind % len(kinds)]
        found[place] = Fault(*place, chosen, delay % 64 if chosen is FaultKind.DELAY else 0)
    return tuple(found.values())
