"""The conformance cases of total order: at least one a clause, and the edges that implementations fall off.

Times are ns of true time. Delays of links differ, so that messages arrive in another order than they were sent in.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.case import Case
from conformance.network.topologies import chain, diamond, first_example, one_way, second_example, star
from spec.schedule import Clock, Delay, Message, Schedule, Submission, validate
from spec.topology import Link, Node, NodeId, Role, Topology, route

INTERVAL_NS = 10_000

# Host a has a link of its own to each of two switches, b to the second one only; r1 hears from a alone, r2 from both.
_TWO_LINKS = Topology(
    (
        *(Node(name, Role.HOST) for name in ("a", "b", "r1", "r2")),
        *(Node(name, Role.SWITCH) for name in ("s1", "s2")),
    ),
    (Link(0, 4), Link(0, 5), Link(1, 5), Link(4, 2), Link(5, 3)),
)


def scatter(time_ns: int, node: NodeId, *receivers: NodeId, payload: bytes | None = None) -> Submission:
    """A scattering at time_ns; contents differ from receiver to receiver unless they are given."""
    contents = [bytes([node, receiver]) + time_ns.to_bytes(6) if payload is None else payload for receiver in receivers]
    return Submission(time_ns, node, tuple(map(Message, receivers, contents)))


def everybody(network: Topology, times_ns: Sequence[int]) -> tuple[Submission, ...]:
    """At each time every host scatters to all that it reaches, itself included."""
    routes = route(network)
    reached = {host: [r for r in network.hosts() if routes.path(network, host, r)] for host in network.hosts()}
    return tuple(
        scatter(time_ns, host, *reached[host]) for time_ns in times_ns for host in network.hosts() if reached[host]
    )


def case(
    name: str,
    stimulus: str,
    duty: str,
    network: Topology,
    environment: str,
    submissions: tuple[Submission, ...],
    *,
    delays: tuple[Delay, ...] | None = None,
    clocks: tuple[Clock, ...] = (),
    also: tuple[str, ...] = (),
) -> Case:
    """A case named CLAUSE/what; besides its clause it puts TO-COMPLETE at stake: the run must settle."""
    clause = name.split("/")[0]
    uneven = tuple(Delay(500 + 700 * (link % 3), 800) for link in range(len(network.links)))
    schedule = Schedule(
        protocol="totalorder",
        topology=network,
        delays=uneven if delays is None else delays,
        submissions=submissions,
        clocks=clocks,
        parameters={"environment": environment, "beacon_interval_ns": INTERVAL_NS},
        seed=1,
    )
    return Case(
        id=name,
        clause=clause,
        stimulus=stimulus,
        duty=duty,
        schedule=validate(schedule, f"case {name}"),
        at_stake=tuple(dict.fromkeys((clause, *also, "TO-COMPLETE"))),
    )


_SENDING = (
    case(
        "TO-SCATTER/everyone-itself-included",
        "every host of a star scatters to all hosts, itself included, twice",
        "sends each scattering's messages with one timestamp, and delivers its own like those of others",
        star(3),
        "C",
        everybody(star(3), (0, 7_000)),
    ),
    case(
        "TO-SCATTER/equal-contents",
        "one host scatters the same contents to all others",
        "sends one message to each receiver, all with one timestamp",
        star(4),
        "B",
        (scatter(0, 0, 1, 2, 3, payload=b"same"), scatter(1_000, 0, 1, 2, 3, payload=b"same")),
    ),
    case(
        "TO-SCATTER/two-links",
        "a host with two egress links scatters over both",
        "gives the messages on both links one timestamp",
        _TWO_LINKS,
        "C",
        tuple(scatter(4_000 * n, 0, 2, 3) for n in range(4)),
        also=("TO-BAR-HOST",),
    ),
    case(
        "TO-MONO/one-instant",
        "one host is given six scatterings at one and the same instant",
        "gives them six timestamps, each strictly above the one before, none further ahead than that asks for",
        star(2),
        "C",
        tuple(scatter(0, 0, 0, 1) for _ in range(6)),
    ),
    case(
        "TO-MONO/drifting-clocks",
        "clocks run apart by a tenth, and hosts scatter now and then",
        "takes every timestamp from the clock of the sender",
        star(3),
        "C",
        everybody(star(3), (0, 20_000, 40_000)),
        clocks=(Clock(0, 100_000_000), Clock(500, -100_000_000), Clock(0, 0), Clock(0, 0)),
    ),
    case(
        "TO-BAR-HOST/idle-host",
        "one host scatters, the others never do",
        "sends beacons with the clock of the idle host, so that it stops nobody",
        star(3),
        "C",
        (scatter(0, 0, 1, 2), scatter(30_000, 0, 1, 2)),
        also=("TO-DELIVER",),
    ),
    case(
        "TO-BAR-HOST/burst-ahead-of-the-clock",
        "thirty scatterings at one instant push the timestamps ahead of the clock, and beacons follow",
        "keeps the barriers of beacons at or above the last timestamp, and later timestamps at or above those barriers",
        star(2),
        "B",
        (*(scatter(9_999, 0, 1) for _ in range(30)), scatter(10_001, 0, 1), scatter(50_000, 0, 1)),
    ),
    case(
        "TO-BAR-HOST/barrier-on-every-message",
        "hosts scatter to each other where only data messages carry barriers",
        "puts each message's timestamp on it as barrier",
        star(2),
        "A",
        everybody(star(2), (0, 3_000, 6_000, 9_000)),
    ),
)

_BARRIERS = (
    case(
        "TO-BAR-MIN/example-1",
        "the four senders of the document's first example network scatter to both receivers",
        "sends the least of the newest barriers on both egress links of every switch",
        first_example(),
        "A",
        tuple(scatter(1_000 * n, n % 4, 4, 5) for n in range(12)),
    ),
    case(
        "TO-BAR-MIN/example-2",
        "in the document's second example network, two senders do not reach receiver 103b, and lag behind",
        "leaves them out of that receiver's barrier",
        second_example(),
        "C",
        (*(scatter(4_000 * n, 2 + n % 2, 4, 5) for n in range(6)), scatter(30_000, 0, 4), scatter(34_000, 1, 4)),
        clocks=tuple(Clock(-3_000 if node < 2 else 0) for node in range(10)),
        delays=tuple(Delay(9_000 if link < 2 else 500) for link in range(9)),
        also=("TO-DELIVER",),
    ),
    case(
        "TO-BAR-MIN/link-that-has-not-spoken",
        "where only data messages carry barriers, one host starts long after the others",
        "lets the silent link hold the minimum down until it has spoken",
        star(3),
        "A",
        (*(scatter(2_000 * n, n % 2, 0, 1, 2) for n in range(6)), scatter(40_000, 2, 0, 1, 2), scatter(50_000, 0, 1)),
        also=("TO-DELIVER",),
    ),
    case(
        "TO-BAR-MIN/chain-of-switches",
        "hosts at three switches in a row scatter to all",
        "aggregates hop by hop, so that a barrier covers senders that are far away",
        chain(3, 1),
        "C",
        everybody(chain(3, 1), (0, 15_000, 30_000)),
    ),
    case(
        "TO-BAR-PART/two-way-traffic",
        "two switches face each other, with traffic both ways",
        "does not let either wait for what it sends itself",
        chain(2, 1),
        "C",
        tuple(scatter(6_000 * n, n % 2, 0, 1) for n in range(8)),
        clocks=(Clock(0), Clock(2_000), Clock(0), Clock(0)),
    ),
    case(
        "TO-BAR-LINK/data-after-beacons",
        "hosts scatter right after beacons have left, on paths of different delays",
        "sends no message below a barrier that its link has carried",
        diamond(),
        "C",
        everybody(diamond(), (10_001, 20_001, 33_333)),
        also=("TO-BAR-RISE",),
    ),
    case(
        "TO-BAR-LINK/beacons-beside-data",
        "beacons and data without barriers share every link",
        "keeps a beacon behind the messages that its barrier follows",
        chain(2, 2),
        "B",
        everybody(chain(2, 2), (9_000, 9_999, 10_000, 10_001)),
    ),
    case(
        "TO-BAR-RISE/skewed-clocks",
        "clocks are apart by several beacon intervals",
        "never lets a barrier fall on a link",
        star(4),
        "C",
        everybody(star(4), (0, 12_000, 24_000)),
        clocks=(Clock(0), Clock(35_000), Clock(-20_000), Clock(7), Clock(0)),
    ),
)

_DELIVERING = (
    case(
        "TO-DELIVER/at-the-barrier",
        "where only data messages carry barriers, two senders use the same timestamps",
        "keeps a message at the barrier until the barrier is strictly above it",
        one_way(2, 2),
        "A",
        tuple(scatter(5_000 * n, sender, 2, 3) for n in range(5) for sender in (0, 1)),
        delays=tuple(Delay(1_000) for _ in range(4)),
        also=("TO-ORDER",),
    ),
    case(
        "TO-DELIVER/slow-link",
        "one sender is behind a link that is fifty times slower",
        "waits for that link's barrier before it delivers what came over the others",
        star(3),
        "C",
        everybody(star(3), (0, 10_000, 20_000)),
        delays=tuple(Delay(50_000 if link == 4 else 1_000) for link in range(6)),
        also=("TO-ORDER",),
    ),
    case(
        "TO-DELIVER/itself-only",
        "a host scatters to itself only, others to nobody",
        "delivers it by the same rule as any other message",
        star(2),
        "C",
        (scatter(0, 0, 0), scatter(1_000, 0, 0)),
    ),
    case(
        "TO-ORDER/ties",
        "two hosts scatter at the same instant with equal clocks; each is nearer to another receiver",
        "delivers equal timestamps in the order of senders at every receiver, not in that of arrival",
        first_example(),
        "C",
        tuple(scatter(3_000 * n, sender, 4, 5) for n in range(5) for sender in (2, 0)),
        # The links 107e and 107h are the slow ones: what 101a sends is late at 103a, what 101c sends at 103b.
        delays=tuple(Delay(4_000 if link in (4, 7) else 500) for link in range(10)),
    ),
    case(
        "TO-ORDER/skewed-clocks",
        "clocks are apart by much more than the network's delays",
        "still delivers in one order",
        star(3),
        "B",
        everybody(star(3), (0, 5_000, 10_000, 15_000)),
        clocks=(Clock(0), Clock(80_000), Clock(-40_000), Clock(0)),
    ),
    case(
        "TO-ORDER/far-apart-receivers",
        "hosts at both ends of a row of switches scatter to all at once",
        "delivers in one order at both ends",
        chain(3, 2),
        "C",
        everybody(chain(3, 2), (0, 2_000)),
    ),
    case(
        "TO-ONCE/same-contents-again",
        "the same contents are sent again and again, empty and long ones among them",
        "delivers each message once, and never takes two for one",
        star(2),
        "C",
        tuple(scatter(500 * n, 0, 0, 1, payload=b"" if n % 3 == 2 else b"x" * (1 + n % 3 * 1199)) for n in range(9)),
    ),
    case(
        "TO-COMPLETE/idle-hosts",
        "one host scatters once, everyone else is idle, and beacons are all there is",
        "delivers what has arrived, once beacons have passed it",
        star(4),
        "B",
        (scatter(0, 3, 0, 1, 2, 3),),
        also=("TO-DELIVER",),
    ),
    case(
        "TO-COMPLETE/two-way-traffic",
        "hosts at two switches scatter to all, over a link each way",
        "delivers everything: neither switch waits for the other for ever",
        chain(2, 2),
        "B",
        everybody(chain(2, 2), (0, 11_000, 22_000)),
        also=("TO-BAR-PART",),
    ),
    case(
        "TO-COMPLETE/last-messages-without-beacons",
        "where only data messages carry barriers, the stream simply ends",
        "delivers all that is strictly below the last barrier; the very last messages may wait",
        star(2),
        "A",
        everybody(star(2), (0, 2_000, 4_000, 6_000)),
    ),
)

_CARRIERS = (
    case(
        "TO-ENV-A/data-only",
        "hosts scatter, then fall silent for several intervals, then scatter again",
        "sends no beacon, and a barrier on every data message",
        chain(2, 1),
        "A",
        everybody(chain(2, 1), (0, 2_000, 60_000, 62_000)),
    ),
    case(
        "TO-ENV-B/beacons-only",
        "hosts scatter between beacons",
        "sends data messages without barriers",
        chain(2, 1),
        "B",
        everybody(chain(2, 1), (0, 4_000, 60_000)),
    ),
    case(
        "TO-ENV-C/idle-then-busy",
        "hosts scatter at every half interval, pause, and scatter again",
        "sends beacons on links that were without data for the interval, and on no others",
        star(3),
        "C",
        everybody(star(3), (*(5_000 * n for n in range(6)), 80_000)),
    ),
    case(
        "TO-ENV-C/one-busy-receiver",
        "a host with two egress links is busy on one of them; another host sends to the receiver on the other",
        "sends beacons on the idle link, however busy the host is elsewhere",
        _TWO_LINKS,
        "C",
        (scatter(0, 0, 3), *(scatter(3_000 * n, 0, 2) for n in range(1, 30)), scatter(20_000, 1, 3)),
        also=("TO-DELIVER",),
    ),
)

CASES = (*_SENDING, *_BARRIERS, *_DELIVERING, *_CARRIERS)
