"""Small runs of appliances, and what they and their clients put on links: most of it is right, and what is not is next
to it."""

from __future__ import annotations

from random import Random

from scatterproof.conformance.network.topologies import attached
from scatterproof.conformance.pubsub.cases.building import WORDS, words
from scatterproof.fuzz.loose_runs import LooseRun
from scatterproof.spec.core import Outcome, Parameter
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.trace import ABSENT, Kind, schema

_CALLS, _PACKETS = schema("pubsub").calls, schema("pubsub").packets
_REQUEST, _ANSWER, _WANT, _DROP = (_PACKETS[name] for name in ("request", "answer", "want", "drop"))
_MESSAGE = _PACKETS["message"]
_SHAPES = {
    "one": (attached(1, (), (0, 0)), attached(2, [(0, 1)], (0, 1)), attached(3, [(0, 1), (1, 2)], (0, 2))),
    "all": (attached(3, [(0, 1), (1, 2), (0, 2)], (0, 1)), attached(2, [(0, 1)], (0, 1, 1))),
    "best": (attached(2, [(0, 1)] * 2, (0, 1)), attached(3, [(0, 1), (0, 1), (1, 2)], (0, 2))),
}
Message = tuple[NodeId, int]


class PacketRun(LooseRun):
    """within: by client, the call that it is in. heard: by client, the outcome that it was told.
    come: by client and call, requests that came and were not answered.
    serials: by source and target, the last serial. told: by link, what was announced, with its serial.
    first: by source, target and message, the serial of its first copy. has: by appliance, the messages that it got."""

    def __init__(self, draw: Random) -> None:
        paths = draw.choice(sorted(_SHAPES))
        super().__init__("pubsub", draw.choice(_SHAPES[paths]), draw, is_fifo=False)
        grammar = draw.choice(sorted(WORDS))
        self.appliances, clients = len(self.topology.hosts()), self.topology.clients()
        self.parameters: dict[str, Parameter] = {**words(grammar), "appliances": self.appliances, "paths": paths}
        self.filters = draw.sample(range(1, len(WORDS[grammar][1]) + 1), 3)
        self.within, self.made = dict.fromkeys(clients, 0), dict.fromkeys(clients, 0)
        self.call_of = dict.fromkeys(clients, 1)
        self.heard: dict[Message, int] = {}
        self.come: list[Message] = []
        self.serials: dict[tuple[NodeId, NodeId], int] = {}
        self.told: dict[LinkId, list[dict[str, int]]] = {}
        self.first: dict[tuple[NodeId, NodeId, Message], int] = {}
        self.has: dict[NodeId, dict[Message, dict[str, int]]] = {node: {} for node in range(self.appliances)}
        self.busy = draw.choice(((1, 1, 1), (6, 1, 1), (1, 6, 1), (1, 1, 6)))

    def run(self, steps: int) -> None:
        calling, telling, passing = self.busy
        ways = [self.call, self.ask, self.answer, self.answer, self.give_back, self.give_back] * calling
        ways += [self.tell, self.tell, self.withdraw] * telling + [self.begin, self.pass_on, self.pass_on] * passing
        ways += [self.arrive, self.lose_one, *([self.arrive] * (len(ways) // 2))]
        for _ in range(steps):
            self.now += self.draw.choice((0, 1, 1, 3))
            self.draw.choice(ways)()
        if self.draw.random() < 0.7:
            for _ in range(3 * steps):
                self.draw.choice((self.arrive, self.pass_on, self.answer, self.give_back))()

    def link(self, source: NodeId, target: NodeId) -> LinkId:
        ends = [(link.source, link.target) for link in self.topology.links]
        return self.draw.choice([at for at, pair in enumerate(ends) if pair == (source, target)])

    def neighbours(self, node: NodeId) -> list[NodeId]:
        return sorted({link.target for link in self.topology.links if link.source == node})

    def others(self, node: NodeId) -> list[NodeId]:
        """The appliances next to it."""
        return [other for other in self.neighbours(node) if other < self.appliances]

    def call(self) -> None:
        client = self.draw.choice(list(self.within))
        if self.draw.random() < 0.05:
            link = self.draw.choice((ABSENT, ABSENT, 0))
            self.write(Kind.CRASHED, client, link=link)
            self.within[client] *= link == 0  # its link alone is cut
        if self.within[client]:
            return
        self.made[client] += 1
        self.within[client], self.call_of[client] = self.made[client], self.draw.choice((1, 2))
        given = {"filter": 1, "level": 1, "group": 0}
        if self.call_of[client] == _CALLS["publish"]:
            given = {"topic": 1, "level": 1, "digest": 7, "retain": 0, "expiry_ns": 0}
        self.write(Kind.CALLED, client, call=self.call_of[client], operation=self.made[client], **given)
        if self.draw.random() < 0.9:
            self.ask(client)

    def ask(self, client: NodeId | None = None) -> None:
        client = self.draw.choice(list(self.within)) if client is None else client
        if self.within[client] or (self.made[client] and self.draw.random() < 0.1):
            asked = {"sender": client, "operation": self.near(self.made[client], 0.03), "call": self.call_of[client]}
            packet = _REQUEST if self.draw.random() < 0.97 else _PACKETS["ack"]
            self.put(self.link(client, self.neighbours(client)[0]), packet=packet, **asked)

    def answer(self) -> None:
        if not self.come:
            return
        client, number = self.draw.choice(self.come)
        if self.draw.random() < 0.9:
            self.come.remove((client, number))
        outcome = int(self.draw.choice((Outcome.OK, Outcome.OK, Outcome.OK, Outcome.REFUSED)))
        of = client if self.draw.random() < 0.95 else self.draw.choice(list(self.within))
        said = {"sender": of, "operation": number, "outcome": outcome, "call": self.call_of[client]}
        self.put(self.link(self.neighbours(client)[0], client), packet=_ANSWER, **said)

    def give_back(self) -> None:
        client = self.draw.choice(list(self.within))
        number = self.within[client]
        if self.draw.random() < 0.03:
            told = {"sender": client, "number": 1, "digest": 7, "topic": 1, "level": 1, "again": 0, "retain": 0}
            self.write(Kind.DELIVERED, client, **told)
        outcome = self.heard.get((client, number))
        if number == 0 or (outcome is None and self.draw.random() < 0.9):
            return
        said = self.near(int(Outcome.UNKNOWN) if outcome is None else outcome, 0.05)
        self.write(Kind.RETURNED, client, call=self.call_of[client], operation=number, outcome=max(1, min(3, said)))
        self.within[client] = 0

    def arrive(self) -> None:
        links = self.busy_links()
        if not links:
            return
        link = self.draw.choice(links)
        packet, node = self.take(link), self.topology.links[link].target
        if self.draw.random() < 0.06:
            self.on_link[link].append(packet)  # the network doubles it
        self.write(Kind.ARRIVED, node, link=link, **packet)
        message = packet.get("sender", ABSENT), packet.get("operation", packet.get("number", ABSENT))
        if packet["packet"] == _REQUEST and message not in self.come:
            self.come.append(message)
        elif packet["packet"] == _ANSWER and message not in self.heard:
            self.heard[message] = packet["outcome"]
        elif packet["packet"] == _MESSAGE and node < self.appliances:
            new = message not in self.has[node]
            self.has[node].setdefault(message, packet)
            if new and self.parameters["paths"] == "all":
                for other in self.others(node):
                    if other != self.topology.links[link].source and self.draw.random() < 0.95:
                        self.send(node, other, message)

    def serial(self, source: NodeId, target: NodeId) -> int:
        self.serials[source, target] = self.serials.get((source, target), 0) + 1
        return self.serials[source, target]

    def tell(self, packet: int = _WANT) -> None:
        """An appliance announces a filter to another one, or tells it once more."""
        node = self.draw.randrange(self.appliances)
        if not self.others(node):
            return
        other = self.draw.choice(self.others(node))
        link = self.link(node, other)
        told = self.told.setdefault(link, [])
        said = {"packet": packet, "filter": self.near(self.draw.choice(self.filters), 0.03), "level": 1}
        said["serial"] = self.near(self.serial(node, other), 0.05)
        if told and self.draw.random() < 0.15:
            said = self.draw.choice(told)
        told.append(said)
        self.put(link, **said)

    def withdraw(self) -> None:
        self.tell(_DROP)

    def begin(self) -> None:
        """A client publishes a message, which comes to its appliance."""
        node = self.draw.randrange(self.appliances)
        sender = self.draw.choice(list(self.within))
        message = sender, self.draw.randint(1, 4)
        level = self.draw.choice((0, 1, 1, 2))
        self.has[node].setdefault(message, {"digest": 7, "topic": self.draw.randint(1, 2), "level": level})
        for other in self.neighbours(node):
            if self.draw.random() < 0.8:
                self.send(node, other, message)

    def pass_on(self) -> None:
        """An appliance sends a message on, or again."""
        node = self.draw.randrange(self.appliances)
        sent = [(target, message) for source, target, message in self.first if source == node]
        if sent and self.draw.random() < (0.3 if self.parameters["paths"] == "all" else 0.7):
            self.send(node, *self.draw.choice(sent))
        elif self.has[node] and self.draw.random() < 0.4:
            self.send(node, self.draw.choice(self.neighbours(node)), self.draw.choice(list(self.has[node])))

    def send(self, node: NodeId, target: NodeId, message: Message) -> None:
        copy, key = self.has[node].get(message), (node, target, message)
        if copy is None:
            return
        if key not in self.first:
            self.first[key] = self.serial(node, target) if copy["level"] else 0
        told = {name: copy[name] for name in ("digest", "topic", "level")}
        serial = self.near(self.first[key], 0.05)
        told["level"] = self.near(told["level"], 0.1)
        name = {"sender": message[0], "number": message[1]}
        self.put(self.link(node, target), packet=_MESSAGE, **name, **told, again=0, serial=serial)
