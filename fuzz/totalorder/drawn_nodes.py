"""Small histories of one node of total order: what comes there and what it sends, with values next to right ones. What
is elsewhere is not recorded, so that no premise refuses them: they try the registers of links most."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from scatterproof.conformance.network.topologies import chain, diamond, mesh, star
from scatterproof.conformance.rows import row_of
from scatterproof.spec.core import Parameter
from scatterproof.spec.topology import Link, LinkId, Node, NodeId, Role, Topology, route
from scatterproof.spec.totalorder.messages import NO_BARRIER, Environment, PacketKind
from scatterproof.spec.trace import ABSENT, CLEAN, QUIESCENT, Header, Kind, Order, Row, Trace, schema

_SWITCHES = tuple(Node(f"s{number}", Role.SWITCH) for number in range(2))
_HOSTS = tuple(Node(f"h{number}", Role.HOST) for number in range(3))
# A switch with hosts and another switch, so that not every link feeds every other; and hosts are not the first nodes.
_TREE = Topology(
    (*_HOSTS[:2], *_SWITCHES, _HOSTS[2]),
    tuple(Link(*ends) for ends in ((2, 0), (0, 2), (2, 1), (1, 2), (2, 3), (3, 2), (3, 4), (4, 3))),
)
_NETWORKS = (star(2), star(3), chain(2, 1), diamond(2, 1), mesh(3), _TREE, _TREE)
_KINDS = (PacketKind.BEACON,) * 5 + (PacketKind.DATA,) * 4 + tuple(PacketKind)


class _OneNode:
    """low: by link, the greatest barrier, ack barrier and loss record that came.
    next: by link, the next number of a packet.
    lives: by node, how often it began anew.
    held: what came and is to be sent on, or delivered.
    """

    def __init__(self, draw: Random) -> None:
        self.draw, self.topology = draw, draw.choice(_NETWORKS)
        self.environment = draw.choice((*Environment, Environment.D8, Environment.D9))
        self.parameters: dict[str, Parameter] = {"environment": str(self.environment), "beacon_interval_ns": 2}
        if draw.random() < 0.5 and any(ack for _, ack in self.environment.beacons):
            self.parameters["failure_timeout_ns"] = draw.choice((2, 5, 8))
        elif draw.random() < 0.3 and self.environment in (Environment.B, Environment.D7, Environment.D8):
            self.parameters["switch"] = "two"
        for name in ("fill_barrier", "causal", "every_beacon", "host_flags"):
            if draw.random() < 0.3 and (name != "every_beacon" or "failure_timeout_ns" not in self.parameters):
                self.parameters[name] = 1
        self.node: NodeId = draw.choice([*self.topology.switches() * 3, *self.topology.hosts()])
        self.routes, self.hosts = route(self.topology), self.topology.hosts()
        self.now, self.ahead, self.rows = draw.choice((0, 1, 3)), draw.choice((0, 0, 1, 4)), list[Row]()
        links = len(self.topology.links)
        self.low, self.next, self.lives = [[0, 0, 0] for _ in range(links)], [0] * links, [0] * len(self.topology.nodes)
        self.held, self.last = list[dict[str, int]](), dict[LinkId, dict[str, int]]()
        self.clocks = draw.random() < 0.8

    def near(self, value: int) -> int:
        return value + self.draw.choice((0,) * 12 + (-1, 1, 1, 2))

    def write(self, kind: Kind, **known: int) -> None:
        clock = self.now + self.ahead if self.clocks and self.draw.random() < 0.95 else ABSENT
        given = {"time_ns": self.now, "clock_ns": clock, "node": self.node, **known}
        self.rows.append(row_of("totalorder", kind, **given))

    def packet(self, link: LinkId, said: list[int], message: Mapping[str, int]) -> dict[str, int]:
        """A packet, with what its environment has it carry of these three."""
        source, kind = self.topology.links[link].source, PacketKind(message["packet"])
        carries = (False, False)
        if kind is PacketKind.DATA:
            carries = self.environment.data_carry_barriers, self.environment.data_carry_ack_barriers
        elif kind is PacketKind.BEACON:
            carries = self.draw.choice(self.environment.beacons or ((True, False),))
        life = max(0, self.lives[source] - (self.draw.random() < 0.05))
        number = self.next[link] if self.draw.random() < 0.96 else self.draw.choice((0, max(0, self.next[link] - 1)))
        found = {**message, "link": link, "link_seq": number, "flags": 2 * life + message["flags"] % 2}
        self.next[link] += 1 if self.draw.random() < 0.9 else 2
        found["barrier"] = self.near(said[0]) if carries[0] or self.draw.random() < 0.03 else NO_BARRIER
        found["ack_barrier"] = self.near(said[1]) if carries[1] or self.draw.random() < 0.03 else NO_BARRIER
        found["loss_record"], found["greatest"] = max(0, self.near(said[2])), max(0, self.near(said[0] - 1))
        return found

    def message(self, link: LinkId, timestamp: int) -> dict[str, int]:
        kind = self.draw.choice(_KINDS)
        if kind is PacketKind.BEACON:
            return {"packet": kind, "sender": self.topology.links[link].source, "flags": 0}
        ends = {"sender": self.draw.choice(self.hosts), "receiver": self.draw.choice(self.hosts)}
        said = {"number": self.draw.randint(0, 3), "digest": 7, "timestamp": self.near(timestamp)}
        return {"packet": kind, **ends, **said, "flags": int(self.draw.random() < 0.2)}

    def arrive(self) -> None:
        link = self.draw.choice(self.topology.ingress(self.node))
        if self.draw.random() < 0.06 and link in self.last:  # the network made a copy
            self.write(Kind.ARRIVED, **self.last[link])
            return
        said = self.low[link]
        self.low[link] = [said[0] + self.draw.choice((0, 1, 1, 3)), said[1] + self.draw.choice((0, 1, 3)), said[2]]
        if self.draw.random() < 0.15:
            self.low[link][2] = said[0]
        if self.draw.random() < 0.05:
            self.lives[self.topology.links[link].source] += 1
            self.next[link] = 0
        packet = self.packet(link, self.low[link], self.message(link, said[0] + 1))
        self.last[link] = packet
        self.write(Kind.ARRIVED, **packet)
        if "receiver" in packet:
            self.held.append(packet)

    def send(self) -> None:
        link = self.draw.choice(self.topology.egress(self.node))
        self._send(link, self.message(link, self.now + self.ahead))

    def _send(self, link: LinkId, message: Mapping[str, int]) -> None:
        fed = self.routes.reaching[link] if self.draw.random() < 0.8 else self.topology.ingress(self.node)
        low, own = [self.low[one] for one in fed], self.now + self.ahead
        said = [own, own - 1, 0]
        if self.topology.nodes[self.node].role is Role.SWITCH and low:
            said = [min(one[0] for one in low), min(one[1] for one in low), max(one[2] for one in low)]
        self.write(Kind.SENT, **self.packet(link, said, message))

    def pass_on(self) -> None:
        """What came first, or after it: it goes on, or is delivered."""
        if not self.held:
            return
        message = self.held.pop(0 if self.draw.random() < 0.8 else -1)
        own = {name: message[name] for name in ("sender", "receiver", "number", "digest", "timestamp")}
        link = self.routes.next_link[self.node][message["receiver"]]
        if self.node not in self.hosts and link >= 0:
            self._send(link, {**own, "packet": message["packet"], "flags": message["flags"]})
        elif message["packet"] == PacketKind.DATA and message["receiver"] == self.node:
            self.write(Kind.DELIVERED, **own)
            if self.draw.random() < 0.1:
                self.held.append(message)

    def begin_anew(self) -> None:
        """The node, or a link of it alone."""
        link = self.draw.choice(self.topology.ingress(self.node)) if self.draw.random() < 0.3 else ABSENT
        if self.draw.random() < 0.5:
            self.write(Kind.CRASHED, link=link)
        if self.draw.random() < 0.9:
            self.write(Kind.RESTARTED, link=link)
        if link == ABSENT:
            self.lives[self.node] += 1
            self.held.clear()
            for one in self.topology.ingress(self.node):
                self.low[one] = self.low[one] if self.draw.random() < 0.4 else [0, 0, 0]

    def trace(self) -> Trace:
        ways = [self.arrive] * 5 + [self.send] * 3 + [self.pass_on] * 3 + [self.begin_anew] * (self.draw.random() < 0.7)
        for _ in range(self.draw.choice((6, 10, 16, 24))):
            self.now += self.draw.choice((0, 0, 1, 1, 2, int(self.parameters.get("failure_timeout_ns", 0))))
            self.draw.choice(ways)()
        for _ in range(len(self.held) - (self.draw.random() < 0.3) if self.draw.random() < 0.6 else 0):
            self.pass_on()
        flags = self.draw.choice((CLEAN, CLEAN | QUIESCENT, CLEAN | QUIESCENT))
        end = row_of("totalorder", Kind.ENDED, time_ns=self.now, clock_ns=ABSENT, node=ABSENT, flags=flags)
        complete: dict[str, tuple[NodeId, ...]] = dict.fromkeys(schema("totalorder").kinds, (self.node,))
        header = Header("totalorder", self.topology, self.parameters, complete, Order.NODE)
        return Trace(header, [*self.rows, end])


def history_of_one_node(draw: Random) -> Trace:
    return _OneNode(draw).trace()
