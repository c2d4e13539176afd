"""A conformance run as the reports see it: one implementation, its case results, and what they come to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from scatterproof.conformance.case import CaseResult
from scatterproof.conformance.verdict import ClauseResult, Verdict, foremost
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.trace import Trace

# Characters that a terminal may obey, or that XML 1.0 cannot contain even if escaped; and those that change the
# direction of reading, so that people would see another order than machines read. An implementation's words may
# contain them.
_UNSAYABLE = re.compile(
    "[^\t\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)

# The gravest first: the verdict of a run is the gravest of its cases.
GRAVITY = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.NOT_RUN, Verdict.PASS, Verdict.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Small:
    """A failing case made small: the schedule, and what the implementation did under it.

    runs: how many it took to find it.
    minimal: whether no further step keeps the failure; False where time ran out first.
    """

    schedule: Schedule
    trace: Trace
    results: tuple[ClauseResult, ...]
    runs: int
    minimal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceRun:
    """catalogue: version of the clause catalogue.
    profile: the file that says what the implementation claims; empty where it claims everything.
    seconds: how long each case took, by id, where that is known.
    small: failing cases that were made small, by id.
    folder: where its schedules and traces are, as a user would type it; empty where they are not kept, so that nothing
        can be run again.
    """

    protocol: str
    iut: str
    catalogue: str
    results: tuple[CaseResult, ...]
    profile: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    small: Mapping[str, Small] = field(default_factory=dict)
    folder: str = ""

    @property
    def verdict(self) -> Verdict:
        """The gravest verdict of the cases; NOT_RUN where there is no case."""
        found = {result.verdict for result in self.results}
        return next((verdict for verdict in GRAVITY if verdict in found), Verdict.NOT_RUN)

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many cases ended with each verdict, the gravest first; verdicts that no case has are left out."""
        counts = Counter(result.verdict for result in self.results)
        return {verdict: counts[verdict] for verdict in GRAVITY if counts[verdict]}

    @property
    def sentence(self) -> str:
        said = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())
        claimed = f", as claimed in {self.profile}" if self.profile else ""
        version = self.catalogue or "without a version"
        return f"{self.iut}: {said or 'no case'} ({self.protocol}, clauses {version}{claimed})"


def broken(result: CaseResult) -> list[ClauseResult]:
    """The clauses that the case's run breaks, the most telling first."""
    return foremost(result.case.schedule.protocol, result.results, result.case.clause)


def folder_name(case_id: str) -> str:
    """The case's id as the name of a folder."""
    return case_id.replace("/", ".")


def rows_of(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def printable(said: str) -> str:
    """The text, with a replacement for every character that must not be shown."""
    return _UNSAYABLE.sub("\N{REPLACEMENT CHARACTER}", said)
