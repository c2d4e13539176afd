"""What narrations of protocols share: sentences are read off the states before and after a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

from scatterproof.models.tlc import TlcRun

# Variables by name, their values as of `scatterproof.models.tla_values`.
Told: TypeAlias = Mapping[str, Any]
Tell: TypeAlias = Callable[[Told, Told], str]


def narrator(by_variable: Mapping[str, Tell]) -> Callable[[TlcRun], list[str]]:
    """A function that gives one sentence a step; for liveness, also what happens for ever after. A module is known by a
    variable that it alone has; a step of a module without sentences is its action's name."""

    def narrate(run: TlcRun) -> list[str]:
        tell = next((tell for name, tell in by_variable.items() if name in run.trace[0].variables), None)
        sentences = [
            after.action if tell is None else tell(before.variables, after.variables)
            for before, after in pairwise(run.trace)
            if before.variables != after.variables
        ]
        return [*sentences, *run.for_ever]

    return narrate
