"""What the command line has to know of a product: a record each, and the list of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scatterproof.conformance.judge import judge
from scatterproof.conformance.profile import read_profile
from scatterproof.conformance.verdict import ClauseResult
from scatterproof.spec.trace import Trace

# Carries steps out at a queue of this name, that is new. The number is the seed of the run.
Play = Callable[[str, Sequence[Any], int], Trace]


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A queue under test.

    name: as the command line has it.
    text: what it is, for people.
    profile: the file of what it promises, by its documentation.
    why_not: why it cannot be driven here, with what installs it; None where it can.
    serve: its server, in a folder, until the context ends.
    steps: of the run of a seed. Where the second argument is true, the run keeps clear of the mistakes that are known,
        and breaks nothing.
    """

    name: str
    text: str
    profile: Path
    why_not: Callable[[], str | None]
    serve: Callable[[Path], AbstractContextManager[Play]]
    steps: Callable[[int, bool], Sequence[Any]]

    def judged(self, trace: Trace) -> list[ClauseResult]:
        """Of the clauses that the profile claims."""
        profile = read_profile(self.profile)
        return [result for result in judge(trace) if profile.claims(result.clause)]
