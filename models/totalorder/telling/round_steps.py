"""The steps of a counterexample of AdjustmentRounds in words, read off the states before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import cast

from scatterproof.models.tla_values import Function, Value
from scatterproof.models.tlc import State
from scatterproof.models.totalorder.telling.barrier_steps import items

_Variables = dict[str, Value]


def round_sentences(trace: Sequence[State]) -> list[str]:
    """One sentence for each state but the first; stuttering at the end is no step. S1 is sender 1, R1 receiver 1."""
    return [
        " ".join(_told(after.action, before.variables, after.variables))
        for before, after in pairwise(trace)
        if before.variables != after.variables
    ]


def _told(action: str, before: _Variables, after: _Variables) -> Iterator[str]:
    match action:
        case "Send":
            sender = _changed(before, after, "sentAt")
            yield f"S{sender} sends its local time to all."
        case "Hear":
            receiver = _changed(before, after, "heard")
            heard = [f"{one['value']} of S{s}" for s, one in _news(before, after, "heard", receiver)]
            yield f"R{receiver} hears {' and '.join(heard)}."
            if before["returned"] != after["returned"]:
                yield f"It returns {cast(Function, items(after['returned'])[receiver])['value']}."
        case "Take":
            sender = _changed(before, after, "third")
            taken = [f"{one['value']} at {one['at']} for R{r}" for r, one in _news(before, after, "third", sender)]
            yield f"S{sender} makes {' and '.join(taken)}."
            if before["adjustment"] != after["adjustment"]:
                yield f"Its adjustment is {items(after['adjustment'])[sender]}."
        case "NextRound":
            yield f"Round {after['round']} begins."
        case _:
            yield f"It is {after['now']}."


def _news(before: _Variables, after: _Variables, name: str, host: Value) -> Iterator[tuple[Value, Function]]:
    """The messages that `host` did not have before, each with its other end."""
    old = items(items(before[name])[host])
    for other, one in items(items(after[name])[host]).items():
        if one != old[other]:
            yield other, cast(Function, one)


def _changed(before: _Variables, after: _Variables, variable: str) -> Value:
    old, new = items(before[variable]), items(after[variable])
    return next(host for host in new if new[host] != old[host])
