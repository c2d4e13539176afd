"""A network of appliances and clients in memory: packets are carried in the order in which they were sent, or are held
back, lost and repeated by hand."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from scatterproof.impl.pubsub import Rules, make_core
from scatterproof.spec.core import (
    Called,
    Deliver,
    Outcome,
    PacketArrived,
    Parameter,
    Return,
    Send,
    TimerFired,
    node_config,
)
from scatterproof.spec.pubsub.messages import CallName, Delivery, Packet
from scatterproof.spec.topology import Link, LinkId, Node, NodeId, Role, Topology, route

GIVEN: dict[str, Parameter] = {"topics": "T1.T2\nT1.T3\nT1.T2.T3", "filters": "T1.*\nT1.T2\nT1.>\nT2"}
TOPIC, TOPIC_3, DEEP = 1, 2, 3
STAR, EXACT, REST, OTHER = 1, 2, 3, 4


class Network:
    """Appliances in a row, and clients by the appliance that each is joined to. got: what each client was delivered;
    returned: how each of its calls ended; carried: what was on each link, in order."""

    def __init__(self, appliances: int, clients: Sequence[NodeId], rules: Rules | None = None) -> None:
        pairs = [(one, one + 1) for one in range(appliances - 1)]
        pairs += [(appliances + number, at) for number, at in enumerate(clients)]
        links = tuple(link for a, b in pairs for link in (Link(a, b), Link(b, a)))
        names = [Node(f"h{one}", Role.HOST) for one in range(appliances)]
        names += [Node(f"c{appliances + one}", Role.CLIENT) for one in range(len(clients))]
        self.topology = Topology(tuple(names), links)
        given = {**GIVEN, "appliances": appliances, "retry_ns": 100}
        configs = [node_config(n, self.topology, route(self.topology), "pubsub", given) for n in range(len(names))]
        self.nodes = [make_core(config, rules) for config in configs]
        self.clients = tuple(range(appliances, len(names)))
        self.now = 0
        self.waiting: deque[tuple[LinkId, Packet]] = deque()
        self.held: set[LinkId] = set()
        self.lost: set[LinkId] = set()
        self.got: dict[NodeId, list[Delivery]] = defaultdict(list)
        self.returned: dict[NodeId, list[Outcome]] = defaultdict(list)
        self.carried: dict[LinkId, list[Packet]] = defaultdict(list)
        self._made: dict[NodeId, int] = defaultdict(int)

    def link(self, source: NodeId, target: NodeId) -> LinkId:
        return self.topology.links.index(Link(source, target))

    def call(self, client: NodeId, call: CallName, payload: bytes = b"", **arguments: Parameter) -> Outcome | None:
        """How the call ended, once all is quiet; None for one that goes on."""
        self._made[client] += 1
        self._handle(client, Called(self.now, self._made[client], call, arguments, payload))
        self.run()
        ended = self.returned[client]
        return ended[-1] if len(ended) == self._made[client] else None

    def run(self) -> None:
        """Carry what may be carried."""
        while ready := [one for one in self.waiting if one[0] not in self.held]:
            link, packet = ready[0]
            self.waiting.remove(ready[0])
            self.carried[link].append(packet)
            if link not in self.lost:
                self._handle(self.topology.links[link].target, PacketArrived(self.now, link, packet))

    def pass_time(self, by_ns: int) -> None:
        """Each timer that is due fires once."""
        self.now += by_ns
        for node, core in enumerate(self.nodes):
            deadline = core.next_deadline()
            if deadline is not None and deadline <= self.now:
                self._handle(node, TimerFired(self.now))
        self.run()

    def _handle(self, node: NodeId, event: object) -> None:
        for effect in self.nodes[node].handle(event):
            match effect:
                case Send(link, packet):
                    self.waiting.append((link, packet))
                case Deliver(message):
                    self.got[node].append(message)
                case Return(_, outcome):
                    self.returned[node].append(outcome)
                case _:
                    raise AssertionError(f"node {node}: {effect}")
