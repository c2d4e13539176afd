"""The steps of a counterexample of BarrierOrder, or of a module that extends it, in words.

An extending module has actions of its own names around those of BarrierOrder; what a step is follows from what it
changes, so that only what is new needs words here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

from scatterproof.models.tla_values import Value
from scatterproof.models.tlc import State
from scatterproof.models.totalorder.telling.barrier_steps import (
    Link,
    arrow,
    changed,
    channels,
    items,
    message_name,
    step_of,
)
from scatterproof.models.totalorder.telling.path_steps import path_sentence

_Variables = dict[str, Value]


def variant_sentences(trace: Sequence[State]) -> list[str]:
    """One sentence for each state but the first; stuttering at the end is no step."""
    return [
        _sentence(before.variables, after.variables)
        for before, after in pairwise(trace)
        if before.variables != after.variables
    ]


def _sentence(before: _Variables, after: _Variables) -> str:
    if "local" in before and before["clock"] != after["clock"] and before["local"] == after["local"]:
        return _adjusted(before, after)
    if "queue" in before and (told := path_sentence(before, after)) is not None:
        return told
    if "idle" in before and all(before[name] == after[name] for name in before if name != "idle"):
        return f"A tick passes at switch {next(link[0] for link in _links_changed(before, after, 'idle'))}."
    step = step_of(_action(before, after), before, after)
    if step.action == "ForwardData" and step.taken is not None and step.taken["kind"] == "beacon":
        where = " and ".join(arrow(link) for link, _ in step.put)
        return (
            f"Switch {step.node} takes {message_name(step.taken)} from {arrow(step.taken_from)} "
            f"and puts {message_name(step.put[0][1])} on {where}."
        )
    return str(step)


def _links_changed(before: _Variables, after: _Variables, variable: str) -> list[Link]:
    old, new = items(before[variable]), items(after[variable])
    return [cast(Link, link) for link in new if new[link] != old[link]]


def _adjusted(before: _Variables, after: _Variables) -> str:
    host = changed(before, after, "clock")
    reading, local = items(after["clock"])[host], items(after["local"])[host]
    assert isinstance(reading, int)
    assert isinstance(local, int)
    return f"The adjustment of host {host} is {reading - local}: its adjusted clock reads {reading}."


def _action(before: _Variables, after: _Variables) -> str:
    """The action of BarrierOrder that changes what this step changes."""
    for variable, action in (("sent", "Scatter"), ("delivered", "Deliver"), ("clock", "Tick")):
        if before[variable] != after[variable]:
            return action
    lengths = {link: len(messages) for link, messages in channels(before).items()}
    now = {link: len(messages) for link, messages in channels(after).items()}
    took = any(now[link] < length for link, length in lengths.items())
    put = [link for link, length in lengths.items() if now[link] > length]
    hosts = set(items(before["clock"]))
    if took and put:
        return "ForwardData"
    if put:
        return "HostBeacon" if put[0][0] in hosts else "SwitchBeacon"
    taken_at = next(link[1] for link, length in lengths.items() if now[link] < length)
    return "Arrive" if taken_at in hosts else "TakeBeacon"
