"""One process of the broadcast stack: perfect links, and above them as many layers as the level has."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TypeAlias, assert_never

from scatterproof.impl.broadcast.link import Links, Out, Refusal
from scatterproof.impl.broadcast.order import Causal, Fifo
from scatterproof.impl.broadcast.rules import Rules
from scatterproof.impl.broadcast.runs import Run
from scatterproof.impl.broadcast.settings import MAX_NUMBER, MAX_PAYLOAD_BYTES, settings
from scatterproof.impl.broadcast.uniform import Uniform
from scatterproof.spec.broadcast.messages import NO_CLOCK, Beginning, Delivery, Level, Packet, PacketKind
from scatterproof.spec.core import (
    Began,
    Deliver,
    Event,
    LocalProtocolError,
    NodeConfig,
    PacketArrived,
    Refuse,
    Submitted,
    TimerFired,
)
from scatterproof.spec.schedule import EVERYBODY
from scatterproof.spec.topology import NodeId

In: TypeAlias = Event[Packet]

_DATA, _ACK = int(PacketKind.DATA), int(PacketKind.ACK)


class Stack:
    """What all levels share. Not reentrant; effects are collected in `_out` while an event is handled."""

    def __init__(self, config: NodeConfig, rules: Rules) -> None:
        self._settings = settings(config)
        self._me = config.node
        self._rules = rules
        self._processes = self._settings.processes
        self._clock_length = self._processes if self._settings.level is Level.LCB else 0
        self._links = Links(self._me, dict(config.next_link), self._settings, rules)
        self._now = 0
        self._out: list[Out] = []

    @property
    def backlog(self) -> int:
        """How many messages were handed over that the process has not begun with."""
        return 0

    def handle(self, event: In) -> Sequence[Out]:
        self._now = event.now
        out = self._out = []
        if isinstance(event, PacketArrived):
            try:
                self._take(event.packet)
            except Refusal as refusal:
                return (Refuse(event.link, str(refusal)),)
        elif isinstance(event, TimerFired):
            self._links.wake(event.now, out)
        elif isinstance(event, Submitted):
            self._check_handed(event.messages)
            self._submit(event.messages)
        else:
            assert_never(event)
        return out

    def next_deadline(self) -> int | None:
        return self._links.deadline

    def _take(self, packet: Packet) -> None:
        """Raises Refusal before anything has changed."""
        source = packet.source
        if source not in self._links.peers:
            raise Refusal(f"process {source} is none of the others")
        if packet.receiver != self._me:
            raise Refusal(f"the packet is for process {packet.receiver}, and this is {self._me}")
        if packet.kind == _ACK:
            self._links.check_ack(packet)
            self._links.take_ack(self._now, packet, self._out)
            return
        if packet.creator >= self._processes:
            raise Refusal(f"its creator, {packet.creator}, is none of the {self._processes} processes")
        if len(packet.clock) != self._clock_length:
            raise Refusal(f"its clock has {len(packet.clock)} entries; at this level clocks have {self._clock_length}")
        self._links.check_data(packet)
        run = Run(packet.creator, packet.first, packet.first + packet.count - 1, packet.payload, packet.clock)
        self._check_run(source, run)
        if self._links.take_data(self._now, packet):
            self._receive(source, run)
        self._links.acknowledge_many(source, self._out)

    def _check_run(self, source: NodeId, run: Run) -> None:
        raise NotImplementedError

    def _receive(self, source: NodeId, run: Run) -> None:
        raise NotImplementedError

    def _submit(self, messages: Sequence[tuple[NodeId, bytes]]) -> None:
        raise NotImplementedError

    def _may_be_for(self, receiver: NodeId) -> bool:
        return receiver == EVERYBODY

    def _check_handed(self, messages: Sequence[tuple[NodeId, bytes]]) -> None:
        """Raise LocalProtocolError for messages that cannot be sent."""
        if not messages:
            raise LocalProtocolError("a submission has at least one message")
        for receiver, payload in messages:
            if not self._may_be_for(receiver):
                raise LocalProtocolError(
                    f"process {self._me} cannot send to {receiver} at level {self._settings.level}"
                )
            if len(payload) > MAX_PAYLOAD_BYTES:
                raise LocalProtocolError(f"a payload has {len(payload)} bytes; at most {MAX_PAYLOAD_BYTES} can be sent")

    def _began(self, run: Run, receiver: NodeId) -> None:
        if run.last > MAX_NUMBER:
            raise LocalProtocolError(f"process {self._me} has begun with {MAX_NUMBER} messages, and no number is left")
        self._out.append(Began(Beginning(run.first, run.last - run.first + 1, run.payload, receiver)))

    def _deliver(self, runs: list[Run]) -> None:
        append = self._out.append
        for run in runs:
            creator, payload = run.creator, run.payload
            for number in range(run.first, run.last + 1):
                append(Deliver(Delivery(creator, number, payload)))


class LinkProcess(Stack):
    """Level pl: what is handed over goes to its receiver, and what arrives is delivered."""

    def __init__(self, config: NodeConfig, rules: Rules) -> None:
        super().__init__(config, rules)
        self._begun = [0] * self._processes  # by receiver

    def _may_be_for(self, receiver: NodeId) -> bool:
        return receiver in self._links.peers

    def _submit(self, messages: Sequence[tuple[NodeId, bytes]]) -> None:
        at = 0
        while at < len(messages):
            receiver, payload = messages[at]
            end = at + 1
            if not payload:
                limit = min(len(messages), at + self._settings.most_in_run)
                while end < limit and messages[end] == (receiver, b""):
                    end += 1
            first = self._begun[receiver] + 1
            run = Run(self._me, first, first + end - at - 1, payload)
            self._began(run, receiver)
            self._begun[receiver] = run.last
            self._links.send(self._now, receiver, run, self._out)
            at = end

    def _check_run(self, source: NodeId, run: Run) -> None:
        if run.creator != source:
            raise Refusal(f"process {source} sends a message of process {run.creator}; at this level nobody forwards")

    def _receive(self, source: NodeId, run: Run) -> None:
        self._deliver([run])


class UniformProcess(Stack):
    """Level urb: what is handed over is broadcast at once, and what a majority has is delivered."""

    def __init__(self, config: NodeConfig, rules: Rules) -> None:
        super().__init__(config, rules)
        self._uniform = Uniform(self._me, self._processes, rules, self._forward)
        self._begun = 0
        # What is handed over and not begun: payloads, and how many empty ones in a row (for others, 1).
        self._handed: deque[tuple[bytes, int]] = deque()

    @property
    def backlog(self) -> int:
        return sum(count for _, count in self._handed)

    def _forward(self, peer: NodeId, run: Run) -> None:
        self._links.send(self._now, peer, run, self._out)

    def _submit(self, messages: Sequence[tuple[NodeId, bytes]]) -> None:
        handed = self._handed
        for _, payload in messages:
            if not payload and handed and not handed[-1][0]:
                handed[-1] = (b"", handed[-1][1] + 1)
            else:
                handed.append((payload, 1))
        self._begin()

    def _may_begin(self, begun: int) -> bool:
        """Whether a message may be begun with after this many."""
        return True

    def _begin(self) -> None:
        """Begin with what may be begun with."""
        handed = self._handed
        while handed and self._may_begin(self._begun):
            payload, count = handed.popleft()
            first, last = self._begun + 1, self._begun + 1
            most = self._begun + min(count, self._settings.most_in_run)
            while last < most and self._may_begin(last):
                last += 1
            left = count - (last - first + 1)
            if left:
                handed.appendleft((payload, left))
            run = Run(self._me, first, last, payload, self._clock())
            self._began(run, EVERYBODY)
            self._begun = last
            self._deliverable(self._uniform.begin(run))

    def _clock(self) -> tuple[int, ...]:
        return NO_CLOCK

    def _check_run(self, source: NodeId, run: Run) -> None:
        self._uniform.check(run)

    def _receive(self, source: NodeId, run: Run) -> None:
        self._deliverable(self._uniform.receive(source, run))
        if self._handed:
            self._begin()

    def _deliverable(self, runs: list[Run]) -> None:
        """A majority has these runs."""
        self._deliver(runs)


class FifoProcess(UniformProcess):
    """Level fifo: in the creators' order, with a bound on one's own undelivered messages."""

    def __init__(self, config: NodeConfig, rules: Rules) -> None:
        super().__init__(config, rules)
        self._fifo = Fifo(self._processes, rules)

    def _may_begin(self, begun: int) -> bool:
        return self._rules.may_begin(begun - self._fifo.delivered[self._me], self._settings.most_undelivered)

    def _deliverable(self, runs: list[Run]) -> None:
        for run in runs:
            self._deliver(self._fifo.receive(run))


class CausalProcess(UniformProcess):
    """Level lcb: dependencies first, with the same bound."""

    def __init__(self, config: NodeConfig, rules: Rules) -> None:
        super().__init__(config, rules)
        self._causal = Causal(self._me, self._processes, self._settings.dependencies, rules)

    def _may_begin(self, begun: int) -> bool:
        return self._rules.may_begin(begun - self._causal.delivered[self._me], self._settings.most_undelivered)

    def _clock(self) -> tuple[int, ...]:
        return self._causal.clock(self._begun)

    def _deliverable(self, runs: list[Run]) -> None:
        for run in runs:
            self._deliver(self._causal.receive(run))


LEVELS: dict[Level, type[Stack]] = dict(
    zip(Level, (LinkProcess, UniformProcess, FifoProcess, CausalProcess), strict=True)
)
