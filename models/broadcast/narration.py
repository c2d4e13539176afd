"""Tells a counterexample of any module of the broadcast stack in sentences, read off the states before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scatterproof.models.narrating import Tell, Told, narrator
from scatterproof.models.tla_values import ModelValue

LEGEND = "p#n is message n of process p."


def _or_crash(tell: Tell) -> Tell:
    """A process's crash, or what else the module's step is."""

    def told(before: Told, after: Told) -> str:
        new = after["crashed"] - before["crashed"]
        return "".join(f"Process {_name(process)} crashes." for process in new) or tell(before, after)

    return told


def _link_step(before: Told, after: Told) -> str:
    came, gone = after["channel"] - before["channel"], before["channel"] - after["channel"]
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


def _stored(gone: frozenset[Any], acks: list[Any], *, delivered: bool) -> str:
    what = "It is delivered" if delivered else "It is stored"
    answer = " and acknowledged" if acks else ""
    if not gone:
        return f"A packet arrives, and a copy of it stays under way. {what}{answer}."
    (packet,) = gone
    return f"{_packet(packet).capitalize()} arrives. {what}{answer}."


def _ended(before: Told, after: Told, gone: frozenset[Any]) -> str:
    """A packet that left the channel and brought none, or a sender that forgets."""
    forgetful = _changed(before, after, "pending")
    removed = set() if forgetful is None else _at(before, "pending", forgetful) - _at(after, "pending", forgetful)
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


def _packet(packet: Mapping[str, Any]) -> str:
    return f"packet {packet['number']} from {packet['from']} to {packet['to']}"


def _uniform_step(before: Told, after: Told) -> str:
    if (process := _changed(before, after, "delivered")) is not None:
        message = _at(after, "delivered", process)[-1]
        having = _at(before, "heard", process, message)
        verb = "has" if len(having) == 1 else "have"
        return f"Process {_name(process)} delivers {_message(message)}, which {_names(having)} {verb}."
    if (process := _changed(before, after, "begun")) is not None:
        return f"Process {_name(process)} broadcasts {_name(process)}#{_at(after, 'begun', process)}."
    for sender, receiver, message in before["link"] - after["link"]:
        head = f"Process {_name(receiver)} receives {_message(message)} from {_name(sender)}"
        known = _at(after, "heard", receiver, message)
        if not known:
            return f"{head}, and needs it no more."
        forwards = ", forwards it," if after["link"] - before["link"] else ""
        return f"{head}{forwards} and counts {_names(known)}."
    return f"Process {_name(_changed(before, after, 'owes'))} forwards what it received."


def _ordered_step(before: Told, after: Told) -> str:
    if (process := _changed(before, after, "delivered")) is not None:
        (message,) = _at(after, "delivered", process) - _at(before, "delivered", process)
        return f"Process {_name(process)} delivers {_message(message)}."
    if (process := _changed(before, after, "begun")) is not None:
        number = _at(after, "begun", process)
        told = f"Process {_name(process)} broadcasts {_name(process)}#{number}"
        if "clock" not in after:
            return f"{told}, and pauses." if _at(after, "paused", process) else f"{told}."
        clock = _entries(_at(after, "clock", (process, number)))
        return f"{told} with clock ({', '.join(str(clock[key]) for key in sorted(clock, key=_name))})."
    if (process := _changed(before, after, "received")) is not None:
        (message,) = _at(after, "received", process) - _at(before, "received", process)
        return f"Process {_name(process)} receives {_message(message)}, which a majority has."
    process = _changed(before, after, "looking")
    waiting = sorted(_message(message) for message in _at(after, "waiting", process))
    kept = f" {' and '.join(waiting)} {'waits' if len(waiting) == 1 else 'wait'}." if waiting else ""
    return f"Process {_name(process)} finds nothing to deliver.{kept}"


narrate = narrator(
    {"channel": _or_crash(_link_step), "heard": _or_crash(_uniform_step), "looking": _or_crash(_ordered_step)}
)


def _entries(value: Any) -> Mapping[Any, Any]:
    """A function by its arguments; TLC prints one over 1 to n as a sequence."""
    return dict(enumerate(value, start=1)) if isinstance(value, tuple) else value


def _at(variables: Told, name: str, *keys: Any) -> Any:
    value = variables[name]
    for key in keys:
        value = _entries(value)[key]
    return value


def _changed(before: Told, after: Told, name: str) -> Any:
    """The process at which a variable changes, or None."""
    old, new = _entries(before[name]), _entries(after[name])
    return next((key for key in new if old[key] != new[key]), None)


def _name(value: Any) -> str:
    return value.name if isinstance(value, ModelValue) else str(value)


def _names(processes: Iterable[Any]) -> str:
    return " and ".join(sorted(map(_name, processes))) or "nobody"


def _message(message: tuple[Any, int]) -> str:
    process, number = message
    return f"{_name(process)}#{number}"
