"""The weakest twin: a process that uses the freedom which the clauses leave. No check may fail it.

It delivers later, in any order where none is promised, sends packets and acknowledgements again that need not be, and
waits longer for acknowledgements. At level lcb it delivers at once: every reception asks for that (BC-LCB-CHECK).

Clauses: BC-PL-RELIABLE, BC-PL-RESEND, BC-PL-PSEQ, BC-URB-VALID, BC-URB-AGREE, BC-FIFO-ORDER, BC-FIFO-FLOW.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from scatterproof.impl import node
from scatterproof.impl.broadcast import AnyCore
from scatterproof.impl.broadcast.link import Links, Out, Peer, again
from scatterproof.impl.broadcast.rules import MOST_TIMES, RULES, Rules
from scatterproof.impl.broadcast.runs import Run
from scatterproof.impl.broadcast.settings import Settings, settings
from scatterproof.impl.broadcast.stack import CausalProcess, FifoProcess, In, LinkProcess, Stack, UniformProcess
from scatterproof.spec.broadcast.messages import Level
from scatterproof.spec.core import NodeConfig, Send, TimerFired
from scatterproof.spec.topology import LinkId, NodeId

_AGAIN = 4  # one packet of four, as drawn, is sent twice


def make_core(config: NodeConfig) -> AnyCore:
    """The core for one process's configuration; its choices are a function of the process's number."""
    node.check(config)
    return LEVELS[settings(config).level](config, _RULES)


def _patient(mean: int, deviation: int, first: int, tries: int) -> int:
    return min(first << min(tries, 32), MOST_TIMES * first)


_RULES = replace(RULES, time_out=_patient, resent_at_once=lambda late, acknowledges: late)


class _Links(Links):
    def __init__(
        self, me: NodeId, egress: Mapping[NodeId, LinkId], settings: Settings, rules: Rules, draw: Random
    ) -> None:
        super().__init__(me, egress, settings, rules)
        self._draw = draw

    def _put(self, now: int, peer: Peer, run: Run, out: list[Out]) -> None:
        super()._put(now, peer, run, out)
        sent = out[-1]
        if isinstance(sent, Send) and self._draw.randrange(_AGAIN) == 0:
            out.append(Send(sent.link, again(sent.packet)))

    def _acknowledge(self, peer: Peer, out: list[Out]) -> None:
        before = len(out)
        super()._acknowledge(peer, out)
        out += [sent for sent in out[before:] if self._draw.randrange(_AGAIN) == 0]


class _Twin(Stack):
    """What a majority has, or has come at level pl, waits in `_held` until `_lets_at`."""

    def __init__(self, config: NodeConfig, rules: Rules) -> None:
        super().__init__(config, rules)
        self._draw = Random(config.node)
        self._links = _Links(self._me, dict(config.next_link), self._settings, rules, self._draw)
        self._held: list[Run] = []
        self._lets_at: int | None = None

    def handle(self, event: In) -> Sequence[Out]:
        found = super().handle(event)
        if isinstance(event, TimerFired) and self._lets_at is not None and event.now >= self._lets_at:
            held, self._held, self._lets_at = self._held, [], None
            self._draw.shuffle(held)
            self._let(held)
            return self._out
        return found

    def next_deadline(self) -> int | None:
        due = super().next_deadline()
        return due if self._lets_at is None else self._lets_at if due is None else min(due, self._lets_at)

    def _hold(self, runs: list[Run]) -> None:
        self._held += runs
        if self._held and self._lets_at is None:
            self._lets_at = self._now + self._draw.randrange(1, 2 + self._settings.resend_ns)

    def _let(self, runs: list[Run]) -> None:
        raise NotImplementedError


class _LinkTwin(_Twin, LinkProcess):
    def _receive(self, source: NodeId, run: Run) -> None:
        self._hold([run])

    def _let(self, runs: list[Run]) -> None:
        self._deliver(runs)


class _UniformTwin(_Twin, UniformProcess):
    def _deliverable(self, runs: list[Run]) -> None:
        self._hold(runs)

    def _let(self, runs: list[Run]) -> None:
        super()._deliverable(runs)
        self._begin()


class _FifoTwin(_UniformTwin, FifoProcess):
    pass


class _CausalTwin(_Twin, CausalProcess):
    pass


LEVELS: dict[Level, type[Stack]] = dict(zip(Level, (_LinkTwin, _UniformTwin, _FifoTwin, _CausalTwin), strict=True))
