#!/usr/bin/env python3
"""A node of the total-order service: host and switch, for networks that lose nothing (environments A, B and C).

    scatterproof conform --profile profile.toml --iut stdio:'python3 node.py'

The harness starts this program once for every node of a network. It speaks newline-delimited JSON, as spec/ADAPTER.md
has it: a line comes in on stdin, and every line is answered on stdout. The harness is the network (we name the link
that a packet goes out on) and the clock (every line says what time it is), so there is no socket and no timer here.

How the protocol works, in four sentences. A sender stamps its messages with its clock. Every packet that carries a
barrier b promises that nothing with a timestamp below b will come over that link any more. A switch passes on the
least of the promises that it has heard; a host with nothing to say promises its clock, in packets called beacons.
A receiver sorts what it has by (timestamp, sender), and delivers what is below the least of its links' barriers.
"""

from __future__ import annotations

import base64
import heapq
import json
import sys
from typing import Any

JsonObject = dict[str, Any]
CONTRACT = 1  # the version of the adapter contract that this program speaks
DATA, BEACON = 1, 2  # kinds of packets
NO_BARRIER = -1  # in a packet that carries none
NOT_SPOKEN = 0  # the barrier of a link that has said nothing yet: it promises nothing


class Refused(Exception):
    """A packet that breaks a promise. It changes nothing; the harness is told why."""


class EgressLink:
    """A link that we send on. seq: the number of its next packet. promised: the greatest barrier that it has carried.
    spoke_at: the clock when a barrier last went over it, or a beacon would have had nothing new to say."""

    def __init__(self, interval: int) -> None:
        self.seq = 0
        self.promised = NOT_SPOKEN
        self.spoke_at = -interval  # so that the first beacon is due at once


class Node:
    """What hosts and switches have in common: links, their numbers and barriers, and beacons."""

    def __init__(self, config: JsonObject) -> None:
        parameters = config["parameters"]
        self.id: int = config["node"]
        self.interval: int = parameters["beacon_interval_ns"]
        self.data_carry = parameters["environment"] in ("A", "C")
        self.has_beacons = parameters["environment"] in ("B", "C")
        self.next_link: dict[int, int] = dict(config["next_link"])  # receiver -> egress link
        self.egress: dict[int, EgressLink] = {link: EgressLink(self.interval) for link in config["egress"]}
        # Of each ingress link, the newest barrier, and the number of the next packet.
        self.barriers: dict[int, int] = dict.fromkeys(config["ingress"], NOT_SPOKEN)
        self.expected: dict[int, int] = dict.fromkeys(config["ingress"], 0)
        self.effects: list[JsonObject] = []  # the answer to the line that is being handled

    def send(self, now: int, link: int, barrier: int, **fields: Any) -> None:
        """Put a packet on a link, with the link's next number. Whoever carries a barrier stands in for a beacon."""
        egress = self.egress[link]
        packet = {"link_seq": egress.seq, "barrier": barrier, **fields}
        self.effects.append({"type": "send", "link": link, "packet": packet})
        egress.seq += 1
        if barrier != NO_BARRIER:
            egress.promised = barrier
            egress.spoke_at = now

    def send_beacon(self, now: int, link: int, barrier: int) -> None:
        self.send(now, link, barrier, kind=BEACON, sender=self.id, receiver=0, number=0, timestamp=0, payload="")

    def take(self, link: int, packet: JsonObject) -> None:
        """Check the promises of the link, and take the barrier that came over it. Links are FIFO and lose nothing."""
        if packet["link_seq"] != self.expected[link]:
            raise Refused(f"packet {packet['link_seq']} came where {self.expected[link]} is next")
        carries = packet["kind"] == BEACON or self.data_carry
        if carries and packet["barrier"] < self.barriers[link]:
            raise Refused(f"barrier {packet['barrier']} is below {self.barriers[link]}, which was promised")
        if packet["kind"] == DATA and packet["timestamp"] < self.barriers[link]:
            raise Refused(f"timestamp {packet['timestamp']} is below the link's barrier {self.barriers[link]}")
        self.expected[link] += 1
        if carries:
            self.barriers[link] = packet["barrier"]


class Host(Node):
    """Scatters what its application submits, and delivers what arrives, in the one order."""

    def __init__(self, config: JsonObject) -> None:
        super().__init__(config)
        self.last = 0  # the last timestamp given
        self.numbers = dict.fromkeys(self.next_link, 0)  # receiver -> how many messages it was sent
        # A heap of what has arrived and is not delivered yet: (timestamp, sender, number, payload).
        self.buffer: list[tuple[int, int, int, bytes]] = []

    def submit(self, line: JsonObject) -> None:
        """One timestamp for all messages: the clock, but above the last timestamp, and not below a promise."""
        now = line["now"]
        promised = max(egress.promised for egress in self.egress.values())
        self.last = timestamp = max(now, self.last + 1, promised)
        for message in line["messages"]:
            receiver = message["receiver"]
            self.numbers[receiver] += 1
            self.send(
                now,
                self.next_link[receiver],
                timestamp if self.data_carry else NO_BARRIER,
                kind=DATA,
                sender=self.id,
                receiver=receiver,
                number=self.numbers[receiver],
                timestamp=timestamp,
                payload=message["payload"],
            )

    def packet(self, line: JsonObject) -> None:
        packet = line["packet"]
        self.take(line["link"], packet)
        if packet["kind"] == DATA:
            # A real application wants bytes; on the line they are base64.
            payload = base64.b64decode(packet["payload"])
            heapq.heappush(self.buffer, (packet["timestamp"], packet["sender"], packet["number"], payload))
        self.deliver()

    def deliver(self) -> None:
        """Strictly below the barrier: a link whose barrier is b may still bring a message of timestamp b."""
        barrier = min(self.barriers.values())
        while self.buffer and self.buffer[0][0] < barrier:
            timestamp, sender, number, payload = heapq.heappop(self.buffer)
            message = {
                "sender": sender,
                "number": number,
                "timestamp": timestamp,
                "payload": base64.b64encode(payload).decode(),
            }
            self.effects.append({"type": "deliver", "message": message})

    def tick(self, line: JsonObject) -> None:
        """A beacon on every link over which no barrier went for the interval. An idle host promises its clock."""
        now = line["now"]
        barrier = max(now, self.last)  # never below the last timestamp, which may be ahead of the clock
        for link, egress in self.egress.items():
            if now - egress.spoke_at >= self.interval:
                egress.spoke_at = now
                if barrier > egress.promised:
                    self.send_beacon(now, link, barrier)

    def deadline(self) -> int | None:
        """When we want a tick: as soon as a beacon may be due on one of the links."""
        if not self.has_beacons or not self.egress:
            return None
        return min(egress.spoke_at + self.interval for egress in self.egress.values())


class Switch(Node):
    """Forwards data at once, and passes on the least of the barriers that it has heard."""

    def __init__(self, config: JsonObject) -> None:
        super().__init__(config)
        # Egress link -> the ingress links whose data can go there. Others must not be waited for.
        self.reaching: dict[int, list[int]] = dict(zip(config["egress"], config["reaching"], strict=True))

    def least(self, link: int) -> int:
        return min(self.barriers[feeder] for feeder in self.reaching[link])

    def submit(self, line: JsonObject) -> None:
        raise ValueError("a switch has no application")

    def packet(self, line: JsonObject) -> None:
        now, packet = line["now"], line["packet"]
        if packet["kind"] == DATA and packet["receiver"] not in self.next_link:
            raise Refused(f"there is no route to {packet['receiver']}")
        self.take(line["link"], packet)
        if packet["kind"] == DATA:
            # Data first, beacons behind them: the new barrier speaks of these data, too.
            link = self.next_link[packet["receiver"]]
            fields = {name: packet[name] for name in ("kind", "sender", "receiver", "number", "timestamp", "payload")}
            self.send(now, link, self.least(link) if self.data_carry else NO_BARRIER, **fields)
        self.send_due_beacons(now)

    def tick(self, line: JsonObject) -> None:
        self.send_due_beacons(line["now"])

    def send_due_beacons(self, now: int) -> None:
        """At most one an interval on each link, and only where there is news."""
        for link, egress in self.egress.items():
            if self.has_news(link) and now - egress.spoke_at >= self.interval:
                self.send_beacon(now, link, self.least(link))

    def has_news(self, link: int) -> bool:
        return self.has_beacons and self.least(link) > self.egress[link].promised

    def deadline(self) -> int | None:
        """A beacon that may not leave yet leaves when its link has been silent for the interval."""
        due = [egress.spoke_at + self.interval for link, egress in self.egress.items() if self.has_news(link)]
        return min(due, default=None)


def answer(node: Host | Switch, line: JsonObject) -> list[JsonObject]:
    """The lines that answer one line: its effects in their order, then `done` with the deadline."""
    node.effects = []
    try:
        {"submit": node.submit, "packet": node.packet, "tick": node.tick}[line["type"]](line)
    except Refused as reason:
        node.effects = [{"type": "refuse", "link": line["link"], "reason": str(reason)}]
    return [*node.effects, {"type": "done", "deadline": node.deadline()}]


def main() -> None:
    node: Host | Switch | None = None
    for text in sys.stdin:
        line = json.loads(text)
        if line["type"] == "stop":
            return
        if line["type"] == "init":
            if line["contract"] != CONTRACT:
                sys.exit(f"this node speaks version {CONTRACT} of the contract, not {line['contract']}")
            node = Host(line["config"]) if line["config"]["role"] == "host" else Switch(line["config"])
            lines: list[JsonObject] = [{"type": "ready", "deadline": node.deadline()}]
        elif node is None:
            sys.exit(f"the first line is of type {line['type']!r}, not init")
        else:
            lines = answer(node, line)
        # One write for the whole answer. Without the flush the harness would wait for it until its patience ends.
        sys.stdout.write("".join(json.dumps(out) + "\n" for out in lines))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
