"""Steps of TLC's behaviours as they are: the action, and what it changed. Counterexamples are shown so where a protocol
has no sentences for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from scatterproof.models.tla_values import Function, Value, format_value
from scatterproof.models.tlc import TlcRun


def steps(run: TlcRun) -> list[str]:
    """One line a step; for liveness, with what it does for ever after."""
    told = []
    for before, after in pairwise(run.trace):
        changed = [
            change
            for name in sorted(after.variables)
            for change in _changes(name, before.variables[name], after.variables[name])
        ]
        told.append(f"{after.action}: {', '.join(f'`{change}`' for change in changed)}" if changed else after.action)
    return [*told, *run.for_ever]


def _changes(name: str, before: Value, after: Value) -> Iterator[str]:
    """What is new, by its place in functions and records: `link[1][2] = <<3>>`, `faults.number = 1`."""
    if before == after:
        return
    if isinstance(before, Function) and isinstance(after, Function) and before.keys() == after.keys():
        for key in sorted(after, key=str):
            place = f".{key}" if isinstance(key, str) else f"[{format_value(key)}]"
            yield from _changes(f"{name}{place}", before[key], after[key])
    else:
        yield f"{name} = {format_value(after)}"
