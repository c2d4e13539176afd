"""Tells a counterexample of any module of the broadcast stack in sentences, read off the states before and after.

Modules are told apart by a variable that one of them alone has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import cast

from scatterproof.models.tla_values import Function, ModelValue, Value
from scatterproof.models.tlc import TlcRun

LEGEND = "p#n is message n of process p."

_Variables = dict[str, Value]


def narrate(run: TlcRun) -> list[str]:
    """One sentence a step; for liveness, with what it does for ever after."""
    variables = run.trace[0].variables
    tell = next(tell for name, tell in _NARRATORS.items() if name in variables)
    sentences = [
        _crash(before.variables, after.variables) or tell(before.variables, after.variables)
        for before, after in pairwise(run.trace)
        if before.variables != after.variables
    ]
    return [*sentences, *run.for_ever]


def _crash(before: _Variables, after: _Variables) -> str:
    new = _set(after["crashed"]) - _set(before["crashed"])
    return "".join(f"Process {_name(process)} crashes." for process in new)


def _link_step(before: _Variables, after: _Variables) -> str:
    came = cast("frozenset[Function]", _set(after["channel"]) - _set(before["channel"]))
    gone = cast("frozenset[Function]", _set(before["channel"]) - _set(after["channel"]))
    acks = [packet for packet in came if packet["kind"] == "ACK"]
    if sent := _changed(before, after, "numbered"):
        (packet,) = came
        return f"Process {_name(sent)} sends message {packet['message']} to {packet['to']} as {_packet(packet)}."
    if before["copies"] != after["copies"] or before["record"] != after["record"]:
        return _stored(gone, acks, delivered=before["copies"] != after["copies"])
    if acks and not gone:
        return f"A copy of packet {acks[0]['number']} arrives, and process {acks[0]['from']} acknowledges it once more."
    if acks:
        (packet,) = gone
        return f"Process {packet['to']} acknowledges {_packet(packet)}, and does not store it."
    if came:
        (packet,) = came
        return f"Process {packet['from']} sends message {packet['message']} again, as {_packet(packet)}."
    return _ended(before, after, gone)


def _stored(gone: frozenset[Function], acks: list[Function], *, delivered: bool) -> str:
    what = "It is delivered" if delivered else "It is stored"
    answer = " and acknowledged" if acks else ""
    if not gone:
        return f"A packet arrives, and a copy of it stays under way. {what}{answer}."
    (packet,) = gone
    return f"{_packet(packet).capitalize()} arrives. {what}{answer}."


def _ended(before: _Variables, after: _Variables, gone: frozenset[Function]) -> str:
    """A packet that left the channel and brought none, or a sender that forgets."""
    forgetful = _changed(before, after, "pending")
    messages = ""
    if forgetful is not None:
        removed = _set(_at(before, "pending", forgetful)) - _set(_at(after, "pending", forgetful))
        messages = " and ".join(sorted(map(str, removed)))
    if not gone:
        return f"Process {_name(forgetful)} gives up message {messages}."
    (packet,) = gone
    if packet["kind"] == "ACK" and forgetful is not None:
        return (
            f"The acknowledgement of packet {packet['number']} by process {packet['from']} arrives: process "
            f"{_name(forgetful)} removes message {messages}."
        )
    if packet["kind"] == "ACK":
        return f"The acknowledgement of packet {packet['number']} by process {packet['from']} is gone."
    return f"{_packet(packet).capitalize()} is gone."


def _packet(packet: Function) -> str:
    return f"packet {packet['number']} from {packet['from']} to {packet['to']}"


def _uniform_step(before: _Variables, after: _Variables) -> str:
    if (process := _changed(before, after, "delivered")) is not None:
        message = cast("tuple[Value, ...]", _at(after, "delivered", process))[-1]
        having = _at_two(before, "heard", process, message)
        verb = "has" if len(_set(having)) == 1 else "have"
        return f"Process {_name(process)} delivers {_message(message)}, which {_names(having)} {verb}."
    if (process := _changed(before, after, "begun")) is not None:
        return f"Process {_name(process)} broadcasts {_name(process)}#{_at(after, 'begun', process)}."
    gone = _set(before["link"]) - _set(after["link"])
    if gone:
        ((sender, receiver, message),) = cast("frozenset[tuple[Value, Value, Value]]", gone)
        head = f"Process {_name(receiver)} receives {_message(message)} from {_name(sender)}"
        known = _set(_at_two(after, "heard", receiver, message))
        if not known:
            return f"{head}, and needs it no more."
        forwards = ", forwards it," if _set(after["link"]) - _set(before["link"]) else ""
        return f"{head}{forwards} and counts {_names(known)}."
    return f"Process {_name(_changed(before, after, 'owes'))} forwards what it received."


def _ordered_step(before: _Variables, after: _Variables) -> str:
    if (process := _changed(before, after, "delivered")) is not None:
        (message,) = _set(_at(after, "delivered", process)) - _set(_at(before, "delivered", process))
        return f"Process {_name(process)} delivers {_message(message)}."
    if (process := _changed(before, after, "begun")) is not None:
        number = _at(after, "begun", process)
        told = f"Process {_name(process)} broadcasts {_name(process)}#{number}"
        if "clock" not in after:
            return f"{told}, and pauses." if _at(after, "paused", process) else f"{told}."
        clock = _entries(_at(after, "clock", (process, number)))
        return f"{told} with clock ({', '.join(str(clock[key]) for key in sorted(clock, key=_name))})."
    if (process := _changed(before, after, "received")) is not None:
        (message,) = _set(_at(after, "received", process)) - _set(_at(before, "received", process))
        return f"Process {_name(process)} receives {_message(message)}, which a majority has."
    process = _changed(before, after, "looking")
    waiting = sorted(_message(message) for message in _set(_at(after, "waiting", process)))
    kept = f" {' and '.join(waiting)} {'waits' if len(waiting) == 1 else 'wait'}." if waiting else ""
    return f"Process {_name(process)} finds nothing to deliver.{kept}"


_NARRATORS: dict[str, Callable[[_Variables, _Variables], str]] = {
    "channel": _link_step,
    "heard": _uniform_step,
    "looking": _ordered_step,
}


def _entries(value: Value) -> Mapping[Value, Value]:
    """A function by its arguments; TLC prints one over 1 to n as a sequence."""
    if isinstance(value, tuple):
        return dict(enumerate(value, start=1))
    return cast(Function, value)


def _at(variables: _Variables, name: str, key: Value | None) -> Value:
    return _entries(variables[name])[cast(Value, key)]


def _at_two(variables: _Variables, name: str, key: Value, second: Value) -> Value:
    return _entries(_at(variables, name, key))[second]


def _changed(before: _Variables, after: _Variables, name: str) -> Value | None:
    """The process at which a variable changes, if it does."""
    old, new = _entries(before[name]), _entries(after[name])
    return next((key for key in new if old[key] != new[key]), None)


def _set(value: Value) -> frozenset[Value]:
    return cast("frozenset[Value]", value)


def _name(value: Value | None) -> str:
    return value.name if isinstance(value, ModelValue) else str(value)


def _names(value: Value) -> str:
    return " and ".join(sorted(_name(process) for process in _set(value))) or "nobody"


def _message(message: Value) -> str:
    process, number = cast("tuple[Value, int]", message)
    return f"{_name(process)}#{number}"
