"""The steps of a counterexample of BeaconPath that go by a queue or by a proxy host, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from scatterproof.models.tla_values import Function, Value
from scatterproof.models.totalorder.telling.barrier_steps import Link, arrow, channels, items, message_name

_Variables = dict[str, Value]
_Sequences = dict[Value, tuple[Value, ...]]


def path_sentence(before: _Variables, after: _Variables) -> str | None:
    """None for a step that changes neither a queue nor what is on the way to a proxy or back."""
    taken_from = next((link for link, held in channels(before).items() if len(channels(after)[link]) < len(held)), None)
    handed, returning, queued = (_news(before, after, name) for name in ("handed", "returning", "queue"))
    if taken_from is not None and handed.added:
        return " ".join(_handed_over(before, after, taken_from))
    if handed.removed:
        ((switch, (_, barrier)),) = cast("list[tuple[int, tuple[Link, int]]]", handed.removed)
        return f"The proxy of switch {switch} takes a beacon with barrier {barrier}."
    if returning.added:
        ((link, barrier),) = cast("list[tuple[Link, int]]", returning.added)
        return f"The proxy of switch {link[0]} sends a beacon with barrier {barrier} back, for {arrow(link)}."
    if queued.removed:
        ((link, message),) = cast("list[tuple[Link, Function]]", queued.removed)
        return f"Switch {link[0]} puts {message_name(message)} on {arrow(link)}."
    if not queued.added:
        return None
    ((link, message),) = cast("list[tuple[Link, Function]]", queued.added)
    name, place = message_name(message), f"the queue of {arrow(link)}"
    if taken_from is not None:
        return f"Switch {link[0]} takes {name} from {arrow(taken_from)} into {place}."
    where = "" if items(after["queue"])[link] == _behind(before, link, message) else ", ahead of what waits there"
    came = "comes back to" if returning.removed else "is made by"
    return f"{name.capitalize()} {came} switch {link[0]} and goes to {place}{where}."


class _News:
    """What sequences have lost and gained between two states, each with its key."""

    def __init__(self, old: _Sequences, new: _Sequences) -> None:
        self.added = [(key, one) for key in new for one in _more(old[key], new[key])]
        self.removed = [(key, one) for key in old for one in _more(new[key], old[key])]


def _more(few: tuple[Value, ...], many: tuple[Value, ...]) -> Iterator[Value]:
    """What `many` has that `few` has not, counting equals."""
    left = list(few)
    for one in many:
        if one in left:
            left.remove(one)
        else:
            yield one


def _news(before: _Variables, after: _Variables, name: str) -> _News:
    return _News(cast(_Sequences, items(before[name])), cast(_Sequences, items(after[name])))


def _behind(before: _Variables, link: Link, message: Function) -> tuple[Value, ...]:
    return (*cast("tuple[Value, ...]", items(before["queue"])[link]), message)


def _handed_over(before: _Variables, after: _Variables, link: Link) -> Iterator[str]:
    beacon = message_name(channels(before)[link][0])
    yield f"Switch {link[1]} hands {beacon} from {arrow(link)} to its proxy."
    for passed, barrier in cast("dict[Link, int]", items(after["newest"])).items():
        if items(before["newest"])[passed] != barrier:
            yield f"Switch {passed[1]}, on the way, takes it for one of {arrow(passed)}."
