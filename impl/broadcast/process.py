"""One process of the program: carries datagrams, time and the assignment to the core, and its effects out; and its
output file."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

from scatterproof.impl.broadcast.codec import Malformed, decode_all
from scatterproof.impl.broadcast.course_files import Assignment
from scatterproof.impl.broadcast.sockets import Mesh
from scatterproof.impl.broadcast.stack import In, Stack
from scatterproof.impl.drivers.line_file import LineFile
from scatterproof.spec.broadcast.messages import Beginning, Delivery
from scatterproof.spec.core import Began, Deliver, PacketArrived, Send, Submitted, TimerFired
from scatterproof.spec.schedule import EVERYBODY
from scatterproof.spec.topology import NodeId

# Datagrams taken in one turn: enough that what is forwarded to a peer shares datagrams, though peers are many, and few
# enough that timers and signals are heard.
_TURN = 64
_TURN_A_PROCESS = 8
# Messages handed over together, whenever fewer wait in the core.
_HANDED = 4_096
_FULL = 4_096  # lines that are written together
AGAINST_PROTOCOL = "against_protocol"


class OutputWriter(LineFile):
    """The output file (BC-IO-OUT): `b SEQ` and `d SENDER SEQ`, in their order."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "output")

    def begin(self, beginning: Beginning) -> None:
        first = beginning.number
        self.waiting += [b"b %d\n" % number for number in range(first, first + beginning.count)]

    def deliver(self, delivery: Delivery) -> None:
        self.waiting.append(b"d %d %d\n" % (delivery.creator + 1, delivery.number))

    def write_if_many(self) -> None:
        if len(self.waiting) >= _FULL:
            self.write()


class Process:
    """refused: how many datagrams or packets, by reason."""

    def __init__(self, me: NodeId, core: Stack, assignment: Assignment, mesh: Mesh, output: OutputWriter) -> None:
        self._me = me
        self._core = core
        self._mesh = mesh
        self._output = output
        self._left = 0 if assignment.receiver == me else assignment.messages
        self._receiver = EVERYBODY if assignment.receiver is None else assignment.receiver
        self._most = max(_TURN, _TURN_A_PROCESS * mesh.processes)
        self.refused = Counter[str]()

    def turn(self, readable: bool) -> float | None:
        """Do what is due; the seconds until something is due again, None for never."""
        if readable:
            for datagram in self._mesh.arrived(self._most):
                self._take(datagram)
        now = time.monotonic_ns()
        deadline = self._core.next_deadline()
        if deadline is not None and now >= deadline:
            self._handle(TimerFired(now))
        if self._left and self._core.backlog < _HANDED:
            handed = min(self._left, _HANDED)
            self._left -= handed
            self._handle(Submitted(now, ((self._receiver, b""),) * handed))
        self._mesh.flush()
        if self._left and self._core.backlog < _HANDED:
            return 0
        deadline = self._core.next_deadline()
        return None if deadline is None else max(0, deadline - time.monotonic_ns()) / 1_000_000_000

    def _take(self, datagram: bytes) -> None:
        packets = decode_all(datagram)
        if isinstance(packets, Malformed):
            self.refused[packets] += 1
            return
        now = time.monotonic_ns()
        for packet in packets:
            self._handle(PacketArrived(now, packet.source, packet))

    def _handle(self, event: In) -> None:
        put, deliver = self._mesh.put, self._output.deliver
        for effect in self._core.handle(event):
            if isinstance(effect, Deliver):
                deliver(effect.message)
            elif isinstance(effect, Send):
                put(effect.packet)
            elif isinstance(effect, Began):
                self._output.begin(effect.message)
            else:
                self.refused[AGAINST_PROTOCOL] += 1
        self._output.write_if_many()

    def tell_refusals(self) -> None:
        """One line on stderr when something was refused."""
        if self.refused:
            counts = ", ".join(f"{reason} {count}" for reason, count in sorted(self.refused.items()))
            print(f"process {self._me + 1} refused {self.refused.total()}: {counts}", file=sys.stderr)
