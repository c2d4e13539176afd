"""Tells a counterexample of the work queue in sentences, read off the states before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scatterproof.models.narrating import Tell, Told, narrator

LEGEND = "Groups are numbered by their places in the queue."


def _queue_step(before: Told, after: Told) -> str:
    for name, tell in _TOLD_BY:
        if before[name] != after[name]:
            return tell(before, after)
    return "Nothing happens."


def _server_step(before: Told, after: Told) -> str:
    for server in after["down"] - before["down"]:
        return f"The receiver on server {server} crashes."
    (server,) = before["down"] - after["down"]
    freed = [
        f"the {old['lock']} lock of group {old['place']}"
        for old, new in zip(before["table"], after["table"], strict=True)
        if old["lock"] != new["lock"]
    ]
    return f"The receiver on server {server} starts again, and releases {_listed(freed)}."


def _sender_step(before: Told, after: Told) -> str:
    sender = _changed(before["sender"], after["sender"])
    was, now = before["sender"][sender], after["sender"][sender]
    if was["up"] != now["up"]:
        return f"Sender {sender} crashes."
    if now["group"]:
        row = after["table"][-1]
        mark = ", marked as the last" if row["last"] else ""
        told = f"correlation {row['correlation']}, priority {row['priority']}{mark}"
        return f"Sender {sender} on server {row['server']} begins group {row['place']} ({told})."
    group = was["group"]
    old, new = before["table"][group - 1], after["table"][group - 1]
    if new["closed"] and not old["closed"]:
        told = "." if old["there"] else ", which is gone, and is told that it is done."
        return f"Sender {sender} ends group {group}{told}"
    if old["there"] and not new["there"]:
        return f"Sender {sender} takes group {group} back."
    return f"Sender {sender} is refused, and gives group {group} up."


def _worker_step(before: Told, after: Told) -> str:
    worker = _changed(before["worker"], after["worker"])
    was, now = before["worker"][worker], after["worker"][worker]
    group = was["group"] or now["group"]
    old, new = before["table"][group - 1], after["table"][group - 1]
    if not was["group"]:
        lock = "" if new["lock"] == "receive" else ", which it locks for sending"
        return f"Worker {worker} is handed group {group} with token {now['token']}{lock}."
    if not now["group"]:
        if old["there"] and not new["there"]:
            return f"Worker {worker} removes group {group}, in which nothing is left."
        return f"Worker {worker} is refused, and gives group {group} up."
    if now["message"]:
        return f"Worker {worker} reads message {now['message']} of group {group}."
    if old == new:
        return f"The handler of worker {worker} fails at message {was['message']} of group {group}."
    return f"Worker {worker} pops message {was['message']} of group {group}."


def _list_step(before: Told, after: Told) -> str:
    worker = _changed(before["list"], after["list"])
    was, now = before["list"][worker], after["list"][worker]
    if len(now) > len(was):
        return f"Worker {worker} looks, and has {_listed(f'group {group}' for group in now)} on its list."
    return f"Worker {worker} passes group {was[0]} over, which is locked or gone."


def _table_step(before: Told, after: Told) -> str:
    """A sender's message, a message set aside, or cleaning; the failures tell whether the holder was only slow."""
    old, new = next((old, new) for old, new in zip(before["table"], after["table"], strict=True) if old != new)
    group = new["place"]
    if new["made"] > old["made"]:
        return f"Sender {new['by']} sends message {new['made']} of group {group}."
    if new["aside"] != old["aside"]:
        return f"Message {new['aside'][-1]} of group {group} is set aside."
    holder = "is only slow" if after["failures"] > before["failures"] else "is gone"
    what = f"releases group {group}" if new["there"] else f"removes group {group}"
    who = "sender" if old["lock"] == "send" else "worker"
    return f"Cleaning {what}, whose {who} {holder}."


_TOLD_BY: Sequence[tuple[str, Tell]] = (
    ("down", _server_step),
    ("sender", _sender_step),
    ("worker", _worker_step),
    ("list", _list_step),
    ("table", _table_step),
)
"""The variable that gives a step its sentence: the first that changes."""


def _flow_step(before: Told, after: Told) -> str:
    old, new = before["waiting"], after["waiting"]
    if len(new) > len(old):
        return f"A group of priority {new[-1]['priority']} comes."
    taken = sum(row["priority"] for row in old) - sum(row["priority"] for row in new)
    return f"The worker takes a group of priority {taken}."


narrate = narrator({"table": _queue_step, "waiting": _flow_step})


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> str:
    """The sender or worker that changes."""
    return next(name for name in after if before[name] != after[name])


def _listed(names: Iterable[str]) -> str:
    return " and ".join(names) or "nothing"
