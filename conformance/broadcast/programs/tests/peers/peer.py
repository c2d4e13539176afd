"""A small program for the four levels, unlike the one in C wherever it can be; right unless it is told to be wrong.

    peer.py LEVEL FAULT --id ID --hosts FILE --output FILE CONFIG

It sends from another port than it listens at, names itself in its datagrams, answers the address that a datagram came
from, and takes nobody's word for an address. Faults: none, twice (delivers what comes again), selfish (delivers at
once, forwards nothing), gaps (leaves message 5 of process 1 out), carefree (looks at no clock), late (writes all its
output when it is asked to end), order (writes a delivery before the beginning), stray (names a process that is not
there), frozen (process 2 hears nothing any more after some datagrams, and all go on, and write all output at the end),
elsewhere (process 2 listens at another address).
"""

from __future__ import annotations

import argparse
import select
import signal
import socket
import sys
import time
from collections import defaultdict

WINDOW, TICK_S, BUDGET, PATIENT_S = 30, 0.03, 150, 0.3
Key = tuple[int, int]


class Peer:
    def __init__(self, words: argparse.Namespace) -> None:
        self.level, self.fault, self.me = words.level, words.fault, words.id
        with open(words.hosts) as file:
            lines = [line.split() for line in file]
        self.home = {int(number): (host, int(port)) for number, host, port in lines}
        with open(words.config) as file:
            first, *others = (list(map(int, line.split())) for line in file)
        self.total, self.receiver = first[0], first[1] if self.level == "pl" else 0
        self.depends = next((line[1:] for line in others if line[0] == self.me), [])
        self.output = open(words.output, "w")  # noqa: SIM115
        self.listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        away = self.fault == "elsewhere" and self.me == 2
        self.listening.bind(("127.0.0.1", 0) if away else self.home[self.me])
        self.frozen = False
        self.sending = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.begun, self.asked = 0, False
        self.following = dict.fromkeys(self.home, 1)
        self.have: dict[Key, set[int]] = {}
        self.clocks: dict[Key, list[int]] = {}
        self.waiting: set[Key] = set()
        self.done: set[Key] = set()
        self.unanswered: dict[tuple[int, Key], None] = {}
        self.heard_at: dict[int, float] = defaultdict(time.monotonic)

    def send(self, process: int, key: Key) -> None:
        text = " ".join(map(str, ("m", self.me, *key, *self.clocks[key])))
        self.sending.sendto(text.encode(), self.home[process])

    def send_all(self, key: Key) -> None:
        for process in self.home:
            if process != self.me and self.receiver in (0, process):
                self.unanswered[process, key] = None
                self.send(process, key)

    def begin(self) -> None:
        while self.begun < self.total and self.me != self.receiver:
            if not self.receiver and self.begun - self.following[self.me] >= WINDOW:
                return
            self.begun += 1
            key = (self.me, self.begun)
            self.clocks[key] = [self.following[p] - 1 if p in self.depends else 0 for p in sorted(self.home)]
            self.have[key] = {self.me}
            self.waiting.add(key)
            if self.fault == "order" and self.begun == 1:
                self.output.write("d 1 1\n" if self.me == 1 else "")
            self.output.write(f"b {self.begun}\n")
            self.send_all(key)

    def receive(self, at: socket.socket) -> None:
        datagram, source = at.recvfrom(2048)
        kind, *rest = datagram.decode().split()
        process, creator, number, *clock = map(int, rest)
        key = (creator, number)
        self.heard_at[process] = time.monotonic()
        if kind == "a":
            self.unanswered.pop((process, key), None)
            return
        at.sendto(f"a {self.me} {creator} {number}".encode(), source)
        known = key in self.have
        self.have.setdefault(key, {self.me, creator}).add(process)
        if self.receiver:
            if not known or self.fault == "twice":
                self.deliver(key)
        elif not known:
            self.clocks[key] = clock
            self.waiting.add(key)
            if self.fault != "selfish":
                self.send_all(key)

    def deliver(self, key: Key) -> None:
        creator, number = key
        self.done.add(key)
        if self.fault != "gaps" or key != (1, 5):
            self.output.write(f"d {creator} {number}\n")
        if self.fault == "stray" and number == 2:
            self.output.write(f"d {len(self.home) + 1} 1\n")

    def may_deliver(self, key: Key) -> bool:
        creator, number = key
        if self.fault != "selfish" and 2 * len(self.have[key]) <= len(self.home):
            return False
        if self.level == "urb":
            return True
        clock = enumerate(self.clocks[key], 1)
        early = self.level == "lcb" and self.fault != "carefree"
        return number == self.following[creator] and not (early and any(self.following[p] <= c for p, c in clock))

    def deliver_all(self) -> None:
        ready = True
        while ready:
            ready = False
            for key in sorted(self.waiting):
                if self.may_deliver(key):
                    self.waiting.remove(key)
                    self.deliver(key)
                    while (key[0], self.following[key[0]]) in self.done:
                        self.following[key[0]] += 1
                    ready = True

    def send_again(self) -> None:
        now = time.monotonic()
        for process, key in list(self.unanswered)[:BUDGET]:
            del self.unanswered[process, key]
            self.unanswered[process, key] = None  # at the end of the queue
            if now - self.heard_at[process] < PATIENT_S or int(now * 10) % 5 == 0:
                self.send(process, key)

    def run(self) -> None:
        last = 0.0
        while not self.asked:
            self.begin()
            open_ones = [] if self.frozen else [self.listening, self.sending]
            ready, _, _ = select.select(open_ones, [], [], TICK_S)
            for at in ready:
                self.receive(at)
            if self.fault == "frozen" and self.me == 2 and len(self.have) > 20 and not self.frozen:
                self.frozen = True
                print("Traceback (most recent call last):\nKeyError: 'who'", file=sys.stderr, flush=True)
            if not self.receiver:
                self.deliver_all()
            if time.monotonic() - last > TICK_S:
                self.send_again()
                last = time.monotonic()
                if self.fault not in ("late", "frozen"):
                    self.output.flush()
        self.output.close()

    def stop(self, *_: object) -> None:
        self.asked = True


def main() -> None:
    words = argparse.ArgumentParser()
    for name in ("level", "fault"):
        words.add_argument(name)
    words.add_argument("--id", type=int)
    words.add_argument("--hosts")
    words.add_argument("--output")
    words.add_argument("config")
    peer = Peer(words.parse_args())
    signal.signal(signal.SIGTERM, peer.stop)
    signal.signal(signal.SIGINT, peer.stop)
    peer.run()


if __name__ == "__main__":
    main()
