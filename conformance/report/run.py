"""A conformance run as the reports see it: one implementation, its case results, and what they come to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.case import CaseResult
from conformance.verdict import ClauseResult, Verdict

# What a terminal may obey and XML 1.0 cannot say, however it is escaped; an implementation's words may contain it.
_UNSAYABLE = re.compile("[^\t\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# The gravest first: what a run comes to is the gravest verdict of its cases.
GRAVITY = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.NOT_RUN, Verdict.PASS, Verdict.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceRun:
    """catalogue: version of the clause catalogue. profile: the file that says what the implementation claims; empty
    where it claims everything. seconds: how long each case took, by id, where that is known."""

    protocol: str
    iut: str
    catalogue: str
    results: tuple[CaseResult, ...]
    profile: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """The gravest verdict of the cases; nothing passes when nothing was run."""
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
    """The clauses that the case's run breaks, the case's own first."""
    failed = [found for found in result.results if found.verdict is Verdict.FAIL]
    return sorted(failed, key=lambda found: found.clause != result.case.clause)


def folder_name(case_id: str) -> str:
    """The case's id as the name of a folder."""
    return case_id.replace("/", ".")


def printable(said: str) -> str:
    """The text with a sign in place of every character that is not for reading."""
    return _UNSAYABLE.sub("\N{REPLACEMENT CHARACTER}", said)
