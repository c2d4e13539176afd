"""The steps of a counterexample of BarrierOrder, read off the states before and after, as values and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

from scatterproof.models.tla_values import Function, Value
from scatterproof.models.tlc import State

Link = tuple[int, int]  # (source, target), as in the modules


@dataclass(frozen=True, slots=True, kw_only=True)
class BarrierStep:
    """`node` does it; `taken` left the head of `taken_from`; `put` are the messages put on links, in their order."""

    action: str
    node: int
    timestamp: int = 0
    receivers: tuple[int, ...] = ()
    taken_from: Link | None = None
    taken: Function | None = None
    put: tuple[tuple[Link, Function], ...] = ()
    delivered: Function | None = None

    def __str__(self) -> str:
        """One sentence; s@t is the message of sender s with timestamp t."""
        match self.action:
            case "Tick":
                return f"The clock of host {self.node} reads {self.timestamp}."
            case "Scatter":
                whom = " and ".join(map(str, self.receivers))
                return f"Host {self.node} scatters {self.node}@{self.timestamp} to {whom}."
            case "Deliver":
                return f"Host {self.node} delivers {message_name(self.delivered)}."
            case "HostBeacon" | "SwitchBeacon":
                (link, message), *_ = self.put
                return (
                    f"{self.action.removesuffix('Beacon')} {self.node} puts {message_name(message)} on {arrow(link)}."
                )
            case "ForwardData":
                (link, message), *_ = self.put
                return (
                    f"Switch {self.node} takes {message_name(self.taken)} from {arrow(self.taken_from)} "
                    f"and puts it{_barrier(message)} on {arrow(link)}."
                )
            case _:
                where = "Switch" if self.action == "TakeBeacon" else "Host"
                return f"{where} {self.node} takes {message_name(self.taken)} from {arrow(self.taken_from)}."


def steps_of(trace: Sequence[State]) -> tuple[BarrierStep, ...]:
    """One step for each state but the first; stuttering at the end is no step."""
    return tuple(
        step_of(after.action, before.variables, after.variables)
        for before, after in pairwise(trace)
        if before.variables != after.variables
    )


def step_of(action: str, before: dict[str, Value], after: dict[str, Value]) -> BarrierStep:
    """The step between two states, by an action of BarrierOrder."""
    if action == "Tick":
        node = changed(before, after, "clock")
        return BarrierStep(action=action, node=node, timestamp=cast(int, items(after["clock"])[node]))
    if action == "Deliver":
        node = changed(before, after, "delivered")
        deliveries = cast("tuple[Function, ...]", items(after["delivered"])[node])
        return BarrierStep(action=action, node=node, delivered=deliveries[-1])
    put: list[tuple[Link, Function]] = []
    taken_from = taken = None
    for link, messages in channels(after).items():
        held = channels(before)[link]
        if len(messages) < len(held):
            taken_from, taken = link, held[0]
        put.extend((link, message) for message in messages[len(held) :])
    if action == "Scatter":
        node = changed(before, after, "sent")
        last = cast("tuple[Function, ...]", items(after["sent"])[node])[-1]
        receivers = tuple(sorted(cast("frozenset[int]", last["receivers"])))
        return BarrierStep(
            action=action, node=node, timestamp=cast(int, last["timestamp"]), receivers=receivers, put=tuple(put)
        )
    node = taken_from[1] if taken_from is not None else put[0][0][0]
    return BarrierStep(action=action, node=node, taken_from=taken_from, taken=taken, put=tuple(put))


def items(value: Value) -> dict[Value, Value]:
    """A function as a dict: TLC prints one whose domain is 1..n as a sequence."""
    if isinstance(value, tuple):
        return dict(enumerate(value, start=1))
    return cast(Function, value)


def channels(variables: dict[str, Value]) -> dict[Link, tuple[Function, ...]]:
    return cast("dict[Link, tuple[Function, ...]]", items(variables["channel"]))


def changed(before: dict[str, Value], after: dict[str, Value], variable: str) -> int:
    """The host for which the variable changed."""
    old, new = items(before[variable]), items(after[variable])
    return next(cast(int, node) for node in new if new[node] != old[node])


def message_name(message: Function | None) -> str:
    assert message is not None
    if message.get("kind") == "beacon":
        return f"a beacon with barrier {message['barrier']}"
    to = f" for {message['receiver']}" if "receiver" in message else ""
    return f"{message['sender']}@{message['timestamp']}{to}"


def _barrier(message: Function) -> str:
    return "" if message["barrier"] == -1 else f" with barrier {message['barrier']}"


def arrow(link: Link | None) -> str:
    assert link is not None
    return f"link {link[0]}-{link[1]}"
