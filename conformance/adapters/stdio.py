"""Implementations under test that speak the stdio mode of spec/adapter.py: one process a node, the harness being their
network and their clock. In the simulator each is a core like any other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from scatterproof.conformance.adapters import lines
from scatterproof.conformance.network.contract import NodeFailed
from scatterproof.conformance.network.run import MakeNode, simulate
from scatterproof.conformance.supervisor import LIMITS, Child, ChildFailure, Limits, stop
from scatterproof.spec.adapter import (
    BeginOut,
    CallIn,
    DeliverOut,
    Done,
    Init,
    Log,
    PacketIn,
    Payload,
    Ready,
    RefuseOut,
    ReturnOut,
    SendOut,
    Stop,
    Submit,
    Tick,
)
from scatterproof.spec.core import (
    AnyCore,
    Began,
    Called,
    ClientEffect,
    ClientEvent,
    Deliver,
    NodeConfig,
    Outcome,
    PacketArrived,
    Refuse,
    Return,
    Send,
    Submitted,
)
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.scratch import scratch_folder
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Trace

MAX_EFFECTS = 100_000  # of one event


class StdioIut:
    """Starts `command` once a node for every run, and again for a node that restarts; nodes of other roles than `roles`
    are made by `others`, in this process. What the nodes wrote is kept in `folder`, if there is one: it holds the last
    run's `<node>.stdout` and `<node>.stderr`, and `<node>.1.stdout` of a node's second life."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path | None = None,
        limits: Limits = LIMITS,
        *,
        roles: Collection[Role] = tuple(Role),
        others: MakeNode | None = None,
    ) -> None:
        self.name = name
        self._command = tuple(command)
        self._folder = folder
        self._limits = limits
        self._roles = roles
        self._others = others

    def run(self, schedule: Schedule) -> Trace:
        """Raises CannotRun when the command cannot be started. Whatever a node does wrong ends the run cut."""
        names = [node.name for node in schedule.topology.nodes]
        limits = self._limits
        children: list[Child] = []  # crashed ones are collected at once
        with ExitStack() as resources:
            folder = self._folder or resources.enter_context(scratch_folder("nodes"))
            states = resources.enter_context(scratch_folder("state"))

            def start(config: NodeConfig) -> AnyCore:
                if self._others is not None and config.role not in self._roles:
                    return self._others(config)
                name = f"{config.node}-{names[config.node]}"
                incarnation = config.parameters.get("incarnation")
                child = Child(name if incarnation is None else f"{name}.{incarnation}", self._command, folder, limits)
                children.append(child)
                state = states / str(config.node)
                state.mkdir(exist_ok=True)
                return StdioNode(child, config, lambda: children.remove(child), state)

            try:
                trace = simulate(schedule, start, iut=self.name)
            finally:
                endings = stop(children, lines.encode(Stop()))
        if not trace.notes and endings:
            trace.header = msgspec.structs.replace(trace.header, notes=tuple(f"node {said}" for said in endings))
        return trace


class StdioNode:
    """One process as a core. Raises NodeFailed for what no node may do."""

    def __init__(self, child: Child, config: NodeConfig, forget: Callable[[], None], state: Path) -> None:
        """forget: to be called when the process was ended on purpose. state: the node's folder."""
        self._child = child
        self._forget = forget
        self._ingress = frozenset(config.ingress)
        self._contents = lines.contents(config.protocol)
        self._deadline: int | None = None
        self._ready = False
        # It gets ready while the others are started: its answer is read when it is first needed.
        lines.tell(child, Init(config, str(state)))

    def crash(self) -> None:
        """Kill the process, and whatever it started."""
        self._child.reap()
        self._forget()

    def next_deadline(self) -> int | None:
        if not self._ready:
            ready = lines.expect(self._child, Ready)
            if isinstance(ready, ChildFailure):
                raise NodeFailed(ready.reason)
            flaw = lines.flaw_of(ready)
            if flaw is not None:
                raise NodeFailed(flaw)
            self._ready = True
            self._take_deadline(ready.deadline)
        return self._deadline

    def handle(self, event: ClientEvent[Any]) -> Sequence[ClientEffect[Any, Any]]:
        if self._child.has_more():
            raise NodeFailed("wrote more after it was done")
        if isinstance(event, PacketArrived):
            packet = msgspec.Raw(lines.encode(event.packet))
            lines.tell(self._child, PacketIn(event.now, event.link, packet))
        elif isinstance(event, Submitted):
            messages = tuple(Payload(receiver, payload) for receiver, payload in event.messages)
            lines.tell(self._child, Submit(messages, event.now))
        elif isinstance(event, Called):
            arguments = dict(event.arguments)
            lines.tell(self._child, CallIn(event.now, event.operation, event.call, arguments, event.payload))
        else:
            lines.tell(self._child, Tick(event.now))
        return self._effects()

    def _effects(self) -> list[ClientEffect[Any, Any]]:
        effects: list[ClientEffect[Any, Any]] = []
        while len(effects) < MAX_EFFECTS:
            match lines.answer(self._child):
                case SendOut(link, raw):
                    effects.append(Send(link, _sound(self._contents.packet(raw))))
                case DeliverOut(raw):
                    effects.append(Deliver(_sound(self._contents.delivery(raw))))
                case BeginOut(raw):
                    effects.append(Began(_sound(self._contents.beginning(raw))))
                case ReturnOut(operation, outcome, results, payload):
                    effects.append(Return(operation, Outcome[outcome.upper()], results, payload))
                case RefuseOut(link, reason):
                    if link not in self._ingress:
                        raise NodeFailed(f"refused a packet from link {link}, which is no ingress link of it")
                    effects.append(Refuse(link, reason))
                case Log():
                    pass  # it is in the file of what the node wrote
                case Done(deadline):
                    self._take_deadline(deadline)
                    return effects
                case ChildFailure(reason):
                    raise NodeFailed(reason)
                case other:
                    raise NodeFailed(f"answered with {lines.type_of(other)!r} where effects and 'done' are due")
        raise NodeFailed(f"answered one event with {MAX_EFFECTS} effects")

    def _take_deadline(self, deadline: int | None) -> None:
        if deadline is not None and abs(deadline) >= 1 << 63:
            raise NodeFailed(f"asked for a tick at {deadline}, which does not fit into 64 bits")
        self._deadline = deadline


def _sound(found: Any) -> Any:
    if isinstance(found, ChildFailure):
        raise NodeFailed(found.reason)
    return found
