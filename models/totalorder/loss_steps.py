"""The steps of a counterexample of LossOrder in words, read off the states before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import cast

from models.tla_values import Function, Value
from models.tlc import State

_Variables = dict[str, Value]


def loss_sentences(trace: Sequence[State]) -> list[str]:
    """One sentence for each state but the first; stuttering at the end is no step.

    s@t is the message of sender s with timestamp t. A host's link goes by the host's number.
    """
    return [
        " ".join([_deed(after.action, before.variables, after.variables), *_told(before.variables, after.variables)])
        for before, after in pairwise(trace)
        if before.variables != after.variables
    ]


def _deed(action: str, before: _Variables, after: _Variables) -> str:
    match action:
        case "Tick":
            sender = _changed(before, after, "clock")
            return f"The clock of host {sender} reads {_of(after, 'clock')[sender]}."
        case "Scatter":
            sender = _changed(before, after, "sent")
            last = cast("tuple[Function, ...]", _of(after, "sent")[sender])[-1]
            whom = " and ".join(str(r) for r in sorted(cast("frozenset[int]", last["receivers"])))
            return f"Host {sender} scatters {sender}@{last['timestamp']} to {whom}."
        case "NextCopy":
            return f"The next copy of host {_changed(before, after, 'pending')} leaves."
        case "Resend":
            return "A message that is not acknowledged is sent again."
        case "Learn":
            sender = _changed(before, after, "acked")
            return f"Host {sender} gets an acknowledgement."
        case "HostBeacon":
            return "A sender puts a beacon on its link."
        case "SwitchBeacon":
            return "The switch puts a beacon on a link to a receiver."
        case _:
            receiver = _changed(before, after, "delivered")
            last = cast("tuple[Function, ...]", _of(after, "delivered")[receiver])[-1]
            return f"Host {receiver} delivers {last['sender']}@{last['timestamp']}."


def _told(before: _Variables, after: _Variables) -> Iterator[str]:
    """What came of a packet: where it was lost, or what it left behind."""
    for host, held in _of(after, "buffer").items():
        was = cast("frozenset[Function]", _of(before, "buffer")[host])
        for message in cast("frozenset[Function]", held) - was:
            yield f"Host {host} receives {message['sender']}@{message['timestamp']}."
    if before["lost"] != after["lost"]:
        yield "The packet is lost."
    for host, now in cast("dict[int, Function]", _of(after, "held")).items():
        then = cast("dict[int, Function]", _of(before, "held"))[host]
        changes = [
            f"{name} {now[key]}"
            for key, name in (("barrier", "barrier"), ("ack", "ack barrier"))
            if now[key] != then[key]
        ]
        if changes:
            yield f"Link {host}: {', '.join(changes)}."
        if now["record"] != then["record"]:
            yield (
                f"Link {host}: loss state until {now['record']}." if now["record"] else f"Link {host}: loss state over."
            )


def _of(variables: _Variables, name: str) -> dict[Value, Value]:
    """A function as a dict: TLC prints one whose domain is 1..n as a sequence."""
    value = variables[name]
    if isinstance(value, tuple):
        return dict(enumerate(value, start=1))
    return cast("dict[Value, Value]", value)


def _changed(before: _Variables, after: _Variables, variable: str) -> int:
    old, new = _of(before, variable), _of(after, variable)
    return next(cast(int, host) for host in new if new[host] != old[host])
