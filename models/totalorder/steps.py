"""The steps of a counterexample of BarrierOrder, read off the states before and after, in words and as values.

Those of LossOrder are in ``loss_steps``, in words alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

from models.tla_values import Function, Value
from models.tlc import State, TlcRun
from models.totalorder.loss_steps import loss_sentences

Link = tuple[int, int]  # (source, target), as in the modules


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
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
                return f"Host {self.node} delivers {_name(self.delivered)}."
            case "HostBeacon" | "SwitchBeacon":
                (link, message), *_ = self.put
                return f"{self.action.removesuffix('Beacon')} {self.node} puts {_name(message)} on {_arrow(link)}."
            case "ForwardData":
                (link, message), *_ = self.put
                return (
                    f"Switch {self.node} takes {_name(self.taken)} from {_arrow(self.taken_from)} "
                    f"and puts it{_barrier(message)} on {_arrow(link)}."
                )
            case _:
                where = "Switch" if self.action == "TakeBeacon" else "Host"
                return f"{where} {self.node} takes {_name(self.taken)} from {_arrow(self.taken_from)}."


def steps_of(trace: Sequence[State]) -> tuple[Step, ...]:
    """One step for each state but the first; stuttering at the end is no step."""
    return tuple(
        _step(after.action, before.variables, after.variables)
        for before, after in pairwise(trace)
        if before.variables != after.variables
    )


def narrate(run: TlcRun) -> list[str]:
    """The counterexample as sentences; for liveness, with what it does for ever after."""
    under_loss = "held" in run.trace[0].variables
    sentences = loss_sentences(run.trace) if under_loss else [str(step) for step in steps_of(run.trace)]
    if run.back_to is not None:
        if run.back_to == len(run.trace) - 1:
            sentences.append("Nothing happens any more.")
        else:
            sentences.append(f"It goes on from step {run.back_to + 1} for ever.")
    return sentences


def _step(action: str, before: dict[str, Value], after: dict[str, Value]) -> Step:
    if action == "Tick":
        node = _changed(before, after, "clock")
        return Step(action=action, node=node, timestamp=cast(int, items(after["clock"])[node]))
    if action == "Deliver":
        node = _changed(before, after, "delivered")
        deliveries = cast("tuple[Function, ...]", items(after["delivered"])[node])
        return Step(action=action, node=node, delivered=deliveries[-1])
    put: list[tuple[Link, Function]] = []
    taken_from = taken = None
    for link, messages in channels(after).items():
        held = channels(before)[link]
        if len(messages) < len(held):
            taken_from, taken = link, held[0]
        put.extend((link, message) for message in messages[len(held) :])
    if action == "Scatter":
        node = _changed(before, after, "sent")
        last = cast("tuple[Function, ...]", items(after["sent"])[node])[-1]
        receivers = tuple(sorted(cast("frozenset[int]", last["receivers"])))
        return Step(
            action=action, node=node, timestamp=cast(int, last["timestamp"]), receivers=receivers, put=tuple(put)
        )
    node = taken_from[1] if taken_from is not None else put[0][0][0]
    return Step(action=action, node=node, taken_from=taken_from, taken=taken, put=tuple(put))


def items(value: Value) -> dict[Value, Value]:
    """A function as a dict: TLC prints one whose domain is 1..n as a sequence."""
    if isinstance(value, tuple):
        return dict(enumerate(value, start=1))
    return cast(Function, value)


def channels(variables: dict[str, Value]) -> dict[Link, tuple[Function, ...]]:
    return cast("dict[Link, tuple[Function, ...]]", items(variables["channel"]))


def _changed(before: dict[str, Value], after: dict[str, Value], variable: str) -> int:
    """The host for which the variable changed."""
    old, new = items(before[variable]), items(after[variable])
    return next(cast(int, node) for node in new if new[node] != old[node])


def _name(message: Function | None) -> str:
    assert message is not None
    if message.get("kind") == "beacon":
        return f"a beacon with barrier {message['barrier']}"
    to = f" for {message['receiver']}" if "receiver" in message else ""
    return f"{message['sender']}@{message['timestamp']}{to}"


def _barrier(message: Function) -> str:
    return "" if message["barrier"] == -1 else f" with barrier {message['barrier']}"


def _arrow(link: Link | None) -> str:
    assert link is not None
    return f"link {link[0]}-{link[1]}"
