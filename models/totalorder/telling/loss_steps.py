"""The steps of a counterexample of LossOrder in words, read off the states before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import cast

from scatterproof.models.tla_values import Function, Value
from scatterproof.models.tlc import State

_Variables = dict[str, Value]

_SAID = (("barrier", "barrier"), ("ack", "ack barrier"))


def loss_sentences(trace: Sequence[State]) -> list[str]:
    """One sentence or more for each state but the first; stuttering at the end is no step.

    s@t is the message of sender s with timestamp t, a-b the link from a to b.
    """
    return [
        " ".join(
            [
                _deed(after.action, before.variables, after.variables),
                *_told(before.variables, after.variables),
                *(() if after.action == "Learn" else _learnt(before.variables, after.variables)),
            ]
        )
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
            return next(_learnt(before, after))
        case "HostBeacon":
            return "A sender puts a beacon on its link."
        case "SwitchBeacon":
            return "A switch puts a beacon on a link."
        case "Take":
            return f"Link {_link(_changed(before, after, 'channel'))} brings its oldest packet."
        case "Restart":
            return "A switch restarts."
        case _:
            host = _changed(before, after, "delivered")
            message = cast("tuple[Function, ...]", _of(after, "delivered")[host])[-1]
            return f"Host {host} delivers {message['sender']}@{message['timestamp']}."


def _learnt(before: _Variables, after: _Variables) -> Iterator[str]:
    """What senders have come to know: in the step that sends a message, too, where acknowledgements travel."""
    was = _of(before, "acked")
    for pair, number in _of(after, "acked").items():
        if number != was[pair]:
            sender, receiver = cast("tuple[int, int]", pair)
            yield f"Host {sender} gets acknowledgement {number} of host {receiver}."


def _told(before: _Variables, after: _Variables) -> Iterator[str]:
    """What came of a packet: where it was lost, or what it left behind."""
    for host, held in _of(after, "buffer").items():
        was = cast("frozenset[Function]", _of(before, "buffer")[host])
        for message in cast("frozenset[Function]", held) - was:
            yield f"Host {host} receives {message['sender']}@{message['timestamp']}."
    lost = before["lost"] != after["lost"]
    now, then = (cast("dict[Value, Function]", _of(one, "held")) for one in (after, before))
    opened = [link for link in now if now[link]["gap"] and not then[link]["gap"]]
    if lost:
        yield f"The packet is lost on link {_link(opened[0])}." if opened else "The packet is lost."
    for link, held in now.items():
        changes = [f"{name} {held[key]}" for key, name in _SAID if held[key] != then[link][key]]
        if held["record"] != then[link]["record"]:
            changes.append(f"loss record {held['record']}" if held["record"] else "loss record reached")
        if changes:
            yield f"Link {_link(link)}: {', '.join(changes)}."


def _link(link: Value) -> str:
    source, target = cast("tuple[int, int]", link)
    return f"{source}-{target}"


def _of(variables: _Variables, name: str) -> dict[Value, Value]:
    """A function as a dict: TLC prints one whose domain is 1..n as a sequence."""
    value = variables[name]
    if isinstance(value, tuple):
        return dict(enumerate(value, start=1))
    return cast("dict[Value, Value]", value)


def _changed(before: _Variables, after: _Variables, variable: str) -> Value:
    old, new = _of(before, variable), _of(after, variable)
    return next(host for host in new if new[host] != old[host])
