"""Small runs of the broadcast stack, by number, of which judges have to say the same, whatever they are: most of what
packets say is right, and what is not is next to it."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from scatterproof.conformance.broadcast.parameters import MAX_NUMBER, MAX_RUN
from scatterproof.conformance.network.topologies import mesh
from scatterproof.fuzz.damages import renumbered
from scatterproof.fuzz.loose_runs import LooseRun
from scatterproof.spec.broadcast.messages import Level, PacketKind, dependencies, in_words
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import EVERYBODY
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.trace import Kind, Trace

_STEPS = (20, 60, 100, 140)
_LARGE = (MAX_RUN, MAX_NUMBER, 1 << 59, 1 << 60)
_DATA, _ACK = int(PacketKind.DATA), int(PacketKind.ACK)


def _parameters(draw: Random, processes: int) -> dict[str, Parameter]:
    level = draw.choice((*Level, Level.LCB, Level.LCB))
    found: dict[str, Parameter] = {"level": str(level), "resend_ns": 1}
    if draw.random() < 0.5:
        found["window"] = draw.choice((1, 2, 3))
    if draw.random() < 0.5:
        found["most_undelivered"] = draw.choice((1, 2))
    if level is Level.LCB:
        found["dependencies"] = in_words(
            sorted(draw.sample(range(processes), draw.randint(0, processes))) for _ in range(processes)
        )
    return found


class _Run(LooseRun):
    """What processes have and said, mostly as the rules have it."""

    def __init__(self, draw: Random) -> None:
        count = draw.choice((2, 3, 3, 3, 4))
        super().__init__("broadcast", mesh(count), draw, is_fifo=False)
        self.parameters = _parameters(draw, count)
        self.level = Level(str(self.parameters["level"]))
        most = self.parameters.get("most_undelivered") if self.level in (Level.FIFO, Level.LCB) else None
        self.most = 99 if most is None else int(most)
        self.depends, self.nodes = dependencies(self.parameters, count), range(count)
        self.handed: dict[tuple[NodeId, NodeId], list[int]] = {}  # by sender and receiver, the digests
        self.begun: dict[tuple[NodeId, NodeId], int] = {}
        self.waiting: list[tuple[LinkId, dict[str, int]]] = []  # what is to be sent, and where
        self.pseq = [0] * len(self.topology.links)
        self.unacked: list[list[dict[str, int]]] = [[] for _ in self.topology.links]
        self.come: list[set[int]] = [set() for _ in self.topology.links]
        self.heard: dict[tuple[NodeId, NodeId, int], set[NodeId]] = {}  # by process, creator and number
        self.digests: dict[tuple[NodeId, NodeId, int], int] = {}
        self.delivered: list[list[int]] = [[0] * count for _ in self.nodes]
        self.crashed: set[NodeId] = set()
        self.needs: dict[tuple[NodeId, int], list[int]] = {}  # by creator and number, what is to be delivered first
        self.wrong = draw.choice((0.0, 0.1, 1.0, 1.0))  # how often, of what is said to be so often
        self.is_causal, self.is_late = draw.random() < 0.3, draw.random() < 0.3
        self.goes_on, self.is_lazy, self.slow = draw.random() < 0.05, draw.random() < 0.1, draw.randint(-2, count - 1)
        self.held_back: list[tuple[NodeId, dict[str, int]]] = []  # beginnings that are written later

    def near(self, value: int, often: float = 0.12) -> int:
        return super().near(value, often * self.wrong)

    def near_or_large(self, value: int, often: float) -> int:
        if self.draw.random() < 0.3 * often * self.wrong:
            return self.draw.choice(_LARGE) + self.draw.choice((-2, -1, 0, 1))
        return self.near(value, often)

    def run(self, steps: int) -> None:
        ways = [self.submit, self.begin, self.begin, self.send, self.send, self.send, self.arrive, self.arrive]
        ways += [self.arrive, self.arrive, self.answer, self.answer, self.deliver, self.deliver, self.deliver]
        ways += [self.send_again, self.lose_one, self.refuse, self.crash, self.cut]
        for _ in range(steps):
            self.now += self.draw.choice((0, 1, 1, 3))
            self.draw.choice(ways)()
        while self.draw.random() < 0.97 and (any(self.on_link) or self.waiting):
            self.draw.choice((self.arrive, self.send, self.deliver, self.answer))()
        self.write_beginnings()
        if self.draw.random() < 0.6:
            self.settle()

    def settle(self) -> None:
        """All is begun with, what came is acknowledged, what was lost is sent again, and all that is due is delivered:
        mostly."""
        for _ in range(4):
            while self.waiting:
                self.send()
            for link, packets in enumerate(self.unacked):
                ends = {self.topology.links[link].source, self.topology.links[link].target}
                for packet in [] if ends & self.crashed else list(packets):
                    if packet["pseq"] not in self.come[link]:
                        self.put(link, **{**packet, "flags": 1})
                    elif self.draw.random() < 0.97:
                        self.answer(link)
            while any(self.on_link):
                self.arrive()
            for _ in range(3 * len(self.nodes)):
                self.deliver()
                self.begin()
        for _ in range(4 * len(self.heard)):
            self.deliver()

    def link_of(self, source: NodeId, target: NodeId) -> LinkId:
        ends = [(link.source, link.target) for link in self.topology.links]
        return ends.index((source, target))

    def live(self) -> NodeId:
        return self.draw.choice([node for node in self.nodes if node not in self.crashed])

    def submit(self) -> None:
        node = self.live()
        others = [other for other in self.nodes if other != node]
        receiver = self.draw.choice(others) if self.level is Level.PL else EVERYBODY
        handed = self.handed.setdefault((node, receiver), [])
        handed.append(self.draw.choice((7, 7, 8)))
        message = {"sender": node, "receiver": receiver, "number": len(handed), "digest": handed[-1]}
        self.write(Kind.SUBMITTED, node, **message)

    def begin(self) -> None:
        if not self.handed:
            return
        node, receiver = self.draw.choice(list(self.handed))
        before, handed = self.begun.get((node, receiver), 0), self.handed[node, receiver]
        if before >= len(handed) or node in self.crashed:
            return
        undelivered = before - self.delivered[node][node]
        if (self.is_lazy and before > 0) or (undelivered >= self.most and self.draw.random() > 0.3 * self.wrong):
            return
        upto = before + 1
        most = min(len(handed), self.delivered[node][node] + self.most)
        while upto < most and handed[upto] == handed[before] and self.draw.random() < 0.6:
            upto += 1
        first, count = self.near(before + 1, 0.04), self.near(upto - before, 0.03)
        self.begun[node, receiver] = upto
        run = {"sender": node, "number": first, "digest": handed[before], "count": count}
        self.held_back.append((node, {"receiver": receiver, **run}))
        if self.draw.random() > 0.05 * self.wrong:
            self.write_beginnings()
        for number in range(first, first + count):
            self.heard[node, node, number] = {node}
            self.digests[node, node, number] = handed[before]
            self.needs[node, number] = list(self.delivered[node])
        if self.level is Level.LCB:
            clock = [had if at in self.depends[node] else 0 for at, had in enumerate(self.delivered[node])]
            clock[node] = first - 1
            run["clock_sum"] = self.near_or_large(sum(clock), 0.05)
            run["clock_weighted"] = self.near_or_large(sum(at * entry for at, entry in enumerate(clock, 1)), 0.05)
        targets = [other for other in self.nodes if other != node] if receiver == EVERYBODY else [receiver]
        self.waiting += [(self.link_of(node, other), run) for other in targets]

    def write_beginnings(self) -> None:
        for node, run in self.held_back:
            self.write(Kind.BEGUN, node, **run)
        self.held_back = []

    def send(self) -> None:
        if self.waiting:
            link, run = self.waiting.pop(self.draw.choice((0, 0, 0, len(self.waiting) - 1)))
            if self.topology.links[link].source in self.crashed:
                return
            pseq = self.pseq[link] = self.near_or_large(self.pseq[link] + 1, 0.04)
            target = self.topology.links[link].target
            packet = {**run, "receiver": target, "flags": self.near(0, 0.02), "packet": _DATA, "pseq": pseq}
            packet["count"] = self.near(run["count"], 0.02)
            packet["sender"] = max(0, min(self.near(run["sender"], 0.02), len(self.nodes) - 1))
            if "clock_weighted" in packet:
                packet["clock_weighted"] = self.near(packet["clock_weighted"], 0.02)
            self.unacked[link].append(packet)
            self.put(link, **packet)

    def send_again(self) -> None:
        links = [link for link, packets in enumerate(self.unacked) if packets]
        if links:
            link = self.draw.choice(links)
            packet = dict(self.draw.choice(self.unacked[link]))
            if self.draw.random() < 0.1 * self.wrong:
                self.waiting += [(link, _run_of(packet))] * 2  # as if they were new
            if self.draw.random() < 0.05:
                column = self.draw.choice(("number", "digest", "count", "sender"))
                packet[column] = max(0, self.near(packet[column], 1.0))
                packet["sender"] = min(packet["sender"], len(self.nodes) - 1)
            if self.topology.links[link].source not in self.crashed:
                self.put(link, **{**packet, "flags": self.near(1, 0.03)})

    def arrive(self) -> None:
        links = self.busy_links()
        if not links:
            return
        link = self.draw.choice(links)
        source, node = self.topology.links[link].source, self.topology.links[link].target
        if node in self.crashed or self.draw.random() < 0.1:
            self.lose(link)
            return
        packet = self.take(link)
        if self.draw.random() < 0.06:
            self.on_link[link].append(packet)  # the network doubles it
        self.write(Kind.ARRIVED, node, link=link, **packet)
        if packet["packet"] == _DATA:
            self.come[link].add(packet["pseq"])
            self._hear(node, source, packet)
            if self.draw.random() < 0.05:
                self.write(Kind.REFUSED, node, link=link)
            return
        acked = range(packet["pseq"], packet["pseq"] + packet["count"])
        back = self.link_of(node, source)
        self.unacked[back] = [
            one for one in self.unacked[back] if one["pseq"] not in acked and one["pseq"] > packet["number"]
        ]

    def _hear(self, node: NodeId, source: NodeId, packet: dict[str, int]) -> None:
        new = False
        for number in range(packet["number"], packet["number"] + packet["count"]):
            key = (node, packet["sender"], number)
            new = new or key not in self.heard
            self.heard.setdefault(key, {node}).add(source)
            self.digests.setdefault(key, packet["digest"])
        if new and self.level is not Level.PL and self.draw.random() > 0.05 * self.wrong:
            run = _run_of(packet)
            targets = [other for other in self.nodes if other != source or self.draw.random() > 0.1 * self.wrong]
            parts = self._in_parts(run) if self.draw.random() < 0.3 else [run]
            self.waiting += [(self.link_of(node, other), part) for other in targets if other != node for part in parts]

    def _in_parts(self, run: dict[str, int]) -> list[dict[str, int]]:
        """A run as two: the creator's own entry of the clock is greater in the second."""
        first = self.draw.randint(1, max(1, run["count"] - 1))
        later = {"number": first, "count": -first}
        if "clock_sum" in run:
            later |= {"clock_sum": first, "clock_weighted": first * (run["sender"] + 1)}
        rest = {name: value + later.get(name, 0) for name, value in run.items()}
        return [{**run, "count": first}, rest] if rest["count"] > 0 else [run]

    def answer(self, link: LinkId | None = None) -> None:
        links = [link for link, come in enumerate(self.come) if come]
        if not links:
            return
        link = self.draw.choice(links) if link is None else link
        source, node = self.topology.links[link].source, self.topology.links[link].target
        come = sorted(self.come[link])
        upto = next((one for one, later in pairwise([0, *come, come[-1] + 2]) if later != one + 1), 0)
        first = self.draw.choice(come)
        last = first + 1
        while last in self.come[link] and self.draw.random() < 0.5:
            last += 1
        packet = {"sender": node, "receiver": source, "number": self.near_or_large(upto, 0.03), "flags": 0}
        packet |= {"packet": _ACK, "pseq": self.near_or_large(first, 0.03)}
        packet["count"] = self.near_or_large(last - first, 0.03)
        if node not in self.crashed:
            self.put(self.link_of(node, source), **packet)

    def deliver(self) -> None:
        node = self.live()
        if node == self.slow and self.draw.random() < 0.8:
            return
        able = [key for key in self.heard if key[0] == node and self._is_due(key)]
        if self.draw.random() < 0.04 * self.wrong:
            able = [key for key in self.heard if key[0] == node]
        if able:
            _, creator, number = able[-1] if self.is_late or node == self.slow else self.draw.choice(able)
            digest, said = self.near(self.digests[node, creator, number], 0.02), self.near(number, 0.01)
            named = self.near(creator, 0.01)
            self.write(Kind.DELIVERED, node, sender=named, receiver=node, number=said, digest=digest)
            self.delivered[node][creator] = max(self.delivered[node][creator], number)

    def _is_due(self, key: tuple[NodeId, NodeId, int]) -> bool:
        node, creator, number = key
        if self.level is Level.PL:
            return creator != node and number > self.delivered[node][creator]
        majority = 2 * len(self.heard[key] | {creator}) > len(self.nodes)
        ahead = number - self.delivered[node][creator]
        if self.is_causal and (creator, number) in self.needs:
            needed = self.needs[creator, number]
            majority &= all(needed[other] <= self.delivered[node][other] for other in self.depends[creator] - {creator})
        return majority and (ahead == 1 or (ahead > 1 and self.draw.random() < 0.3 * self.wrong))

    def refuse(self) -> None:
        link = self.draw.randrange(len(self.topology.links))
        if self.draw.random() < 0.3:
            self.write(Kind.REFUSED, self.topology.links[link].target, link=link)

    def crash(self) -> None:
        if self.draw.random() < 0.2 and len(self.crashed) < len(self.nodes) - 1:
            node = self.live()
            self.crashed.add(node)
            self.write(Kind.CRASHED, node)
            if self.goes_on:
                self.crashed = set()

    def cut(self) -> None:
        """A link is cut, or mended; or a process begins anew with another clock, as none does here."""
        link = self.draw.randrange(len(self.topology.links))
        node = self.topology.links[link].source
        if self.draw.random() < 0.5:
            self.write(self.draw.choice((Kind.CRASHED, Kind.RESTARTED)), node, link=link)
        elif self.draw.random() < 0.3:
            self.begin_anew(node)


def _run_of(packet: dict[str, int]) -> dict[str, int]:
    names = ("sender", "number", "digest", "count", "clock_sum", "clock_weighted")
    return {name: packet[name] for name in names if name in packet}


def drawn_history(number: int) -> Trace:
    draw = Random(number)
    run = _Run(draw)
    run.run(draw.choice(_STEPS))
    trace = run.trace(run.parameters, gaps=0.15)
    # The list of dependencies has the numbers that processes have now.
    return renumbered(trace) if draw.random() < 0.3 and "dependencies" not in run.parameters else trace
