"""Small runs of total order, by number, of which judges have to say the same, whatever they are: most of what packets
say is right, and what is not is next to it. Times, timestamps and numbers are small, so that there are ties."""

from __future__ import annotations

from random import Random

from scatterproof.conformance.network.topologies import chain, diamond, mesh, one_way, star
from scatterproof.fuzz.damages import renumbered
from scatterproof.fuzz.loose_runs import LooseRun
from scatterproof.fuzz.totalorder.drawn_nodes import history_of_one_node
from scatterproof.spec.core import Parameter
from scatterproof.spec.topology import NO_LINK, Link, LinkId, Node, NodeId, Role, Topology, route
from scatterproof.spec.totalorder.messages import ANSWER, NO_BARRIER, Environment, PacketKind
from scatterproof.spec.trace import ABSENT, Kind, Trace

_HOSTS = tuple(Node(f"h{number}", Role.HOST) for number in range(3))
_WITH_A_STRANGER = Topology(_HOSTS, (Link(0, 2), Link(2, 0)))  # there are fewer links than nodes
_NETWORKS = (
    *(star(2), star(3), star(3), mesh(2), mesh(3), chain(2, 1), one_way(2, 1), one_way(2, 2), diamond(2, 1)),
    _WITH_A_STRANGER,
)
_LOSSY = (Environment.D6, Environment.D7, Environment.D8, Environment.D9, Environment.D9)
_STEPS = (6, 12, 20, 30, 40)


def _parameters(draw: Random) -> dict[str, Parameter]:
    environment = draw.choice((*Environment, *_LOSSY))
    found: dict[str, Parameter] = {"environment": str(environment), "beacon_interval_ns": draw.choice((1, 2, 5, 30))}
    for name in ("host_flags", "fill_barrier", "causal", "every_beacon"):
        if draw.random() < 0.4:
            found[name] = draw.randint(0, 1)
    if draw.random() < 0.35:
        found["adjustment_interval_ns"] = draw.choice((1, 3, 10))
    if draw.random() < 0.55 and any(ack for _, ack in environment.beacons):
        found |= {"failure_timeout_ns": draw.choice((1, 3, 8, 20, 20))}
        found.pop("every_beacon", None)
    elif draw.random() < 0.4 and environment in (Environment.B, Environment.D7, Environment.D8):
        found["switch"] = "two"
    return found


class _Run(LooseRun):
    """Numbers of what was said and came, mostly as the rules have them."""

    def __init__(self, draw: Random, parameters: dict[str, Parameter]) -> None:
        network = draw.choice(_NETWORKS)
        super().__init__("totalorder", network, draw, is_fifo=True)
        self.environment = Environment(str(parameters["environment"]))
        self.adjusts = "adjustment_interval_ns" in parameters or draw.random() < 0.1
        self.timeout = int(parameters.get("failure_timeout_ns", 0))
        # Whether it goes on until all has come, so that its end is judged.
        self.ends = draw.random() < (0.6 if self.timeout else 0.4)
        self.tells_loss = parameters.get("host_flags") == 1
        self.routes, self.hosts = route(network), network.hosts()
        links, nodes = len(network.links), len(network.nodes)
        self.barrier, self.ack, self.record = [0] * links, [0] * links, [0] * links  # by link, what came
        self.greatest = [0] * links  # by link, the greatest timestamp put on it
        self.last, self.promised, self.lives = [0] * nodes, [0] * nodes, [0] * nodes
        self.submitted: dict[tuple[NodeId, NodeId], int] = {}
        self.scatterings = [0] * nodes
        self.owed: list[dict[str, int]] = []  # what is submitted and not sent
        self.given: list[dict[str, int]] = []  # data messages as they were sent first
        self.held: list[tuple[int, NodeId, dict[str, int]]] = []  # timestamp, host, what came there
        self.done: dict[tuple[NodeId, NodeId], int] = {}  # by receiver and sender, all up to it has come
        self.passing: list[tuple[NodeId, dict[str, int]]] = []
        self.told: list[dict[str, int]] = []  # what was delivered
        self.down: list[NodeId] = []  # nodes that stopped
        self.rounds = [0] * nodes
        self.asked: list[tuple[NodeId, dict[str, int], int]] = []

    def run(self, steps: int) -> None:
        ways = [self.submit, self.give, self.give, self.arrive, self.arrive, self.arrive, self.arrive, self.pass_on]
        ways += [self.pass_on, self.deliver, self.deliver, self.beacon, self.beacon, self.acknowledge, self.lose_one]
        ways += [self.give_again, self.stop]
        ways += [self.ask, self.ask, self.answer, self.answer] * self.adjusts + [self.deliver_anything]
        ways += [self.tell, self.tell, self.tell, self.stop] * (self.timeout > 0)
        ways += [self.tell] * (self.draw.random() < 0.15) + [self.give_again, self.acknowledge] * self.tells_loss
        ways += [self.submit, self.submit, self.give, self.deliver, self.deliver, self.arrive] * self.ends
        if self.environment.loses and self.draw.random() < 0.2:  # it is mostly about acknowledgements
            ways = [self.submit, self.give, self.pass_on, self.pass_on, self.pass_on, self.beacon, self.lose_one]
            ways += [self.give_again] * 2 + [self.acknowledge] * 3 + [self.arrive] * 5
        pauses = self.draw.choice(((0, 0, 1, 1, 2, 6), (0, 0, 1, 1, 2, 6), (0, 0, 1, max(1, self.timeout)), (0,)))
        for _ in range(steps):
            self.now += self.draw.choice(pauses)
            self.draw.choice(ways)()
        if self.ends:
            self.end()
            return
        while self.draw.random() < 0.98 and (any(self.on_link) or self.passing):
            (self.arrive if any(self.on_link) else self.pass_on)()
        for _ in range(self.draw.choice((0, len(self.held)))):
            self.deliver()

    def end(self) -> None:
        """Most of what there is comes to its end: it is given, arrives, and is delivered. Then hosts hear of others."""
        for _ in range(len(self.owed) - (self.draw.random() < 0.3)):
            self.give()
        if self.timeout and not self.down and self.draw.random() < 0.8:
            self.stop()
        self.settle()
        for _ in range(len(self.held)):
            self.deliver()
        for _, node, packet in self.held:
            if self.draw.random() < (0.6 if node in self.down else 0.8):
                self.deliver_as_it_is(node, packet)
        self.now += self.draw.choice((0, 1, self.timeout))
        for role in (Role.HOST, Role.SWITCH, Role.SWITCH):
            for number, link in enumerate(self.topology.links):
                if self.topology.nodes[link.source].role is role and self.draw.random() < 0.8:
                    self.beacon(number)
            self.settle()

    def settle(self) -> None:
        while any(self.on_link) or self.passing:
            (self.arrive if any(self.on_link) else self.pass_on)()

    def submit(self) -> None:
        node, digest = self.draw.choice(self.hosts), self.draw.randint(6, 8)
        able = [host for host in self.hosts if self.routes.next_link[node][host] >= 0]
        if not able or any(one["sender"] == node for one in self.owed):
            return
        self.scatterings[node] += 1
        for receiver in self.draw.sample(able, min(len(able), self.draw.choice((1, 1, 2, len(able))))):
            number = self.submitted[node, receiver] = self.submitted.get((node, receiver), 0) + 1
            message = {"sender": node, "receiver": receiver, "number": number, "digest": digest}
            self.write(Kind.SUBMITTED, node, scattering=self.scatterings[node], **message)
            self.owed.append({**message, "timestamp": ABSENT})

    def give(self) -> None:
        if not self.owed:
            return
        message = self.owed.pop(0)
        node = message["sender"]
        if message["timestamp"] == ABSENT:
            due = max(self.clock(node), self.last[node] + 1, self.promised[node])
            self.last[node] = due = max(0, self.near(due))
            for other in (message, *(one for one in self.owed if one["sender"] == node)):
                other["timestamp"] = due
        self.given.append(message)
        packet = {**message, "timestamp": self.near(message["timestamp"], 0.03), "flags": 2 * self.lives[node]}
        packet["number"] = self.near(packet["number"], 0.02)
        if self.draw.random() < 0.02:
            packet["sender"] = self.draw.choice(self.hosts)
        self._send(node, self.routes.next_link[node][message["receiver"]], PacketKind.DATA, packet["timestamp"], packet)

    def give_again(self) -> None:
        if self.given:
            message = self.draw.choice(self.given[-3:])
            node = message["sender"]
            link = self.routes.next_link[node][message["receiver"]]
            packet = {**message, "digest": self.near(message["digest"], 0.05), "flags": 1 + 2 * self.lives[node]}
            packet["timestamp"] = self.near(message["timestamp"], 0.05)
            barrier = max(self.clock(node), self.last[node], self.promised[node])
            self._send(node, link, PacketKind.DATA, barrier, packet)

    def _send(self, node: NodeId, link: LinkId, kind: PacketKind, barrier: int, packet: dict[str, int]) -> None:
        """A packet of a host, or of a switch, with what its environment has it carry."""
        if link < 0:
            return
        if self.draw.random() < 0.03:
            link = self.draw.choice(self.topology.egress(node))
        is_host = self.topology.nodes[node].role is Role.HOST
        carries, carries_ack = self.environment.data_carry_barriers, self.environment.data_carry_ack_barriers
        if kind is PacketKind.BEACON:
            carries, carries_ack = self.draw.choice(self.environment.beacons or ((True, False),))
        elif kind is not PacketKind.DATA:
            carries = carries_ack = False
        feeding = self.routes.reaching[link] or self.topology.ingress(node)
        if is_host:
            waiting = [one["timestamp"] for one in self.given if one["sender"] == node and not self._is_done(one)]
            forgets = self.ends and self.draw.random() < 0.4
            ack = min([] if forgets else waiting, default=max(self.clock(node), self.last[node])) - 1
        else:
            barrier = min((self.barrier[one] for one in feeding), default=0)
            ack = min((self.ack[one] for one in feeding), default=0)
        record = max((self.record[one] for one in self.topology.ingress(node)), default=0)
        if is_host:
            again = [one["timestamp"] for one in self.given if one["sender"] == node]
            record = self.draw.choice((0, *again)) if self.tells_loss else 0
        columns = {
            "barrier": self.near(barrier) if carries else self.near(NO_BARRIER, 0.02),
            "ack_barrier": self.near(max(ack, 0)) if carries_ack else self.near(NO_BARRIER, 0.02),
        }
        if self.environment.loses:
            columns |= {"loss_record": max(0, self.near(record)), "greatest": max(0, self.near(self.greatest[link]))}
        else:
            # Nobody reads them, whatever they are.
            columns |= {"loss_record": self.near(0), "greatest": self.near(0)}
            columns["ack_barrier"] = self.near(columns["ack_barrier"])
        if carries and is_host:
            self.promised[node] = max(self.promised[node], columns["barrier"])
        if self.draw.random() < 0.02:
            packet = {**packet, "flags": self.draw.choice((1, 2, 3))}
        if kind is PacketKind.DATA:
            self.greatest[link] = max(self.greatest[link], packet["timestamp"])
        self.put(link, **{"flags": 2 * self.lives[node], **packet, **columns, "packet": int(kind)})

    def _is_done(self, message: dict[str, int]) -> bool:
        return self.done.get((message["receiver"], message["sender"]), 0) >= message["number"]

    def arrive(self) -> None:
        links = self.busy_links()
        if not links:
            return
        link = self.draw.choice(links)
        if self.environment.loses and self.draw.random() < 0.15:
            self.lose(link)
            return
        packet, node = self.take(link), self.topology.links[link].target
        self.write(Kind.ARRIVED, node, link=link, **packet)
        self.barrier[link] = max(self.barrier[link], packet["barrier"])
        self.ack[link] = max(self.ack[link], packet["ack_barrier"])
        self.record[link] = max(self.record[link], packet["loss_record"])
        if packet["packet"] == PacketKind.BEACON:
            return
        if packet.get("receiver") != node:
            self.passing.append((node, packet))
        elif packet["packet"] == PacketKind.DATA:
            key = (node, packet["sender"])
            self.done[key] = max(self.done.get(key, 0), packet["number"])
            self.held.append((packet["timestamp"], node, packet))
        elif packet["packet"] == PacketKind.ADJUST:
            self.asked.append((node, packet, self.clock(node)))

    def lose_one(self) -> None:
        if self.environment.loses:
            super().lose_one()

    def pass_on(self) -> None:
        if self.passing:
            node, packet = self.passing.pop(0)
            if self.topology.nodes[node].role is Role.SWITCH:
                names = ("sender", "receiver", "number", "digest", "timestamp")
                own: dict[str, int] = {name: packet[name] for name in names if name in packet}
                own["flags"] = 2 * self.lives[node] + packet["flags"] % 2
                link = self.routes.next_link[node][packet["receiver"]]
                self._send(node, link, PacketKind(packet["packet"]), 0, own)

    def beacon(self, link: LinkId = NO_LINK) -> None:
        link = self.draw.randrange(len(self.topology.links)) if link == NO_LINK else link
        node = self.topology.links[link].source
        barrier = max(self.clock(node), self.last[node], self.promised[node])
        self._send(node, link, PacketKind.BEACON, barrier, {"sender": node})

    def acknowledge(self) -> None:
        if self.done and self.environment.loses:
            (node, sender), number = self.draw.choice(list(self.done.items()))
            number = self.draw.choice((number, number, number, self.draw.randint(0, max(0, number))))
            packet = {"sender": node, "receiver": sender, "number": max(0, self.near(number))}
            self._send(node, self.routes.next_link[node][sender], PacketKind.ACK, 0, packet)

    def deliver(self) -> None:
        if self.held:
            if self.draw.random() < 0.9:
                self.held.sort(key=lambda one: (one[0], one[2]["sender"]))
            timestamp, node, packet = self.held.pop(0)
            low = min((self.barrier[link] for link in self.topology.ingress(node)), default=0)
            if timestamp >= low and self.draw.random() < 0.8:
                self.held.append((timestamp, node, packet))
                return
            self.deliver_as_it_is(node, {**packet, "timestamp": self.near(timestamp, 0.05)})

    def deliver_as_it_is(self, node: NodeId, packet: dict[str, int]) -> None:
        message = {name: packet[name] for name in ("sender", "number", "digest", "timestamp")}
        self.told.append({"receiver": node, **message})
        self.write(Kind.DELIVERED, node, **self.told[-1])

    def deliver_anything(self) -> None:
        """What was delivered already, somewhere, or was sent."""
        if self.draw.random() < 0.3 and (self.told or self.given):
            message = self.draw.choice([*self.told, *self.given])
            node = self.draw.choice((message["receiver"], self.draw.choice(self.hosts)))
            self.write(Kind.DELIVERED, node, **{**message, "receiver": self.draw.choice((node, message["receiver"]))})

    def ask(self) -> None:
        node = self.draw.choice(self.hosts)
        self.rounds[node] += 1
        number = self.near(self.rounds[node], 0.05)
        for receiver in self.hosts:
            link = self.routes.next_link[node][receiver]
            if receiver != node and self.draw.random() < 0.9 and link >= 0:
                packet = {"sender": node, "receiver": receiver, "number": number}
                packet["timestamp"] = self.near(self.clock(node), 0.05)
                self._send(node, link, PacketKind.ADJUST, 0, packet)

    def answer(self) -> None:
        if not self.asked:
            return
        node, packet, came = self.asked.pop(0)
        others = [one for one in self.asked if one[0] == node] + [(node, packet, came)]
        latest = max(clock for _, _, clock in others)
        most = max(other["timestamp"] + latest - clock for _, other, clock in others)
        for _, other, clock in others:
            answer = {"sender": node, "receiver": other["sender"], "number": other["number"]}
            answer |= {"timestamp": self.near(most), "digest": self.near(self.clock(node) - clock)}
            link = self.routes.next_link[node][other["sender"]]
            self._send(node, link, PacketKind.ADJUSTED, 0, answer)
        self.asked = [one for one in self.asked if one[0] != node]

    def tell(self) -> None:
        """A notice, a recall or an answer; the node that it names need not have failed."""
        node, receiver = self.draw.randrange(len(self.topology.nodes)), self.draw.choice(self.hosts)
        sender = self.draw.choice([*self.hosts, *self.down])
        number = self.draw.choice((0, 0, 0, 1, 2, ANSWER, ANSWER + 1))
        stamps = [ABSENT, self.now, self.near(self.last[sender], 0.5)]
        stamps += [one["timestamp"] for one in self.given if one["sender"] == sender]
        packet = {"sender": sender, "receiver": receiver, "number": number, "timestamp": self.draw.choice(stamps)}
        if self.given and self.draw.random() < 0.3:  # all of this is as it should be
            message = self.draw.choice(self.given)
            node, receiver = message["sender"], message["receiver"]
            packet = {name: message[name] for name in ("sender", "receiver", "number", "timestamp")}
            if self.draw.random() < 0.4:
                node, receiver = receiver, node
                packet |= {"sender": node, "receiver": receiver, "number": ANSWER + message["number"]}
        self._send(node, self.routes.next_link[node][receiver], PacketKind.NOTICE, 0, packet)

    def stop(self) -> None:
        """A node, or a link alone, stops, and may come back."""
        link = self.draw.randrange(len(self.topology.links))
        node, where = self.topology.links[link].source, {"link": link} if self.draw.random() < 0.4 else {}
        if self.draw.random() < 0.5:
            self.write(Kind.CRASHED, node, **where)
            self.down += [] if where else [node]
            if self.draw.random() < (0.3 if self.ends else 0.5):
                self.lives[node] += not where
                if self.draw.random() < 0.5:
                    self.forget(node)
                self.write(Kind.RESTARTED, node, **where)

    def forget(self, node: NodeId) -> None:
        """What it was told and what it said are gone, as where it begins anew, and keeps none of it."""
        self.last[node] = self.promised[node] = 0
        for link in self.topology.egress(node):
            self.greatest[link] = 0
        for link in self.topology.ingress(node):
            self.barrier[link] = self.ack[link] = self.record[link] = 0


def drawn_history(number: int) -> Trace:
    draw = Random(number)
    if number % 4 == 0:
        return history_of_one_node(draw)
    parameters = _parameters(draw)
    run = _Run(draw, parameters)
    run.run(draw.choice(_STEPS))
    trace = run.trace(parameters)
    return renumbered(trace) if draw.random() < 0.3 else trace
