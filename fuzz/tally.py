"""Results over the traces of many runs, by clause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from scatterproof.conformance.case import Claims, cases
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.spec.trace import Trace


class ClauseStanding(msgspec.Struct, frozen=True, kw_only=True):
    """What may be said of a clause.

    at_stake: at how many rows.
    reason: why it is neither pass nor fail.
    """

    verdict: Verdict
    at_stake: int
    reason: str = ""


@dataclass(slots=True)
class FuzzTally:
    """runs: those that were judged.
    rows: events in their traces.
    at_stake: for each clause, at how many rows.
    undecided: for each clause, how many runs say nothing of it, by verdict and reason.
    unjudged: why the other runs could not be made, or judged.
    """

    runs: int = 0
    rows: int = 0
    at_stake: Counter[str] = field(default_factory=Counter)
    undecided: dict[str, Counter[tuple[Verdict, str]]] = field(default_factory=dict)
    unjudged: list[str] = field(default_factory=list)

    def add(self, trace: Trace, results: Sequence[ClauseResult]) -> None:
        self.runs += 1
        self.rows += len(trace.rows)
        for result in results:
            self.at_stake[result.clause] += result.held + result.broken
            if result.reason:
                self.undecided.setdefault(result.clause, Counter())[result.verdict, result.reason] += 1

    def merge(self, other: FuzzTally) -> None:
        self.runs += other.runs
        self.rows += other.rows
        self.unjudged += other.unjudged
        for clause, count in other.at_stake.items():
            self.at_stake[clause] += count  # also 0: the clause is listed
        for clause, reasons in other.undecided.items():
            self.undecided.setdefault(clause, Counter()).update(reasons)

    def standings(self, broken: Collection[str], not_asked: Mapping[str, str]) -> dict[str, ClauseStanding]:
        """What may be said of each clause, by its name, when these are broken. not_asked: as of `not_asked`."""
        return {
            clause: self._standing(clause, clause in broken, not_asked.get(clause)) for clause in sorted(self.at_stake)
        }

    def _standing(self, clause: str, broken: bool, not_asked: str | None) -> ClauseStanding:
        count = self.at_stake[clause]
        if broken or count:
            return ClauseStanding(verdict=Verdict.FAIL if broken else Verdict.PASS, at_stake=count)
        # Where one run left it open, it could have told; the others are not about it.
        (verdict, reason), runs = max(
            self.undecided[clause].items(), key=lambda item: (item[0][0] is Verdict.INCONCLUSIVE, item[1])
        )
        if verdict is Verdict.INCONCLUSIVE or runs < self.runs:
            reason = f"in {runs} of {self.runs} runs: {reason}"
            if not_asked is not None:
                verdict, reason = Verdict.NOT_APPLICABLE, not_asked
        return ClauseStanding(verdict=verdict, at_stake=0, reason=reason)


def not_asked(protocol: str, claims: Claims) -> dict[str, str]:
    """Clauses without a conformance case for an implementation with these claims, each with the reason: where drawn
    schedules do not put them at stake either, they are not applicable."""
    why: dict[str, list[str | None]] = {}
    for case in cases(protocol):
        why.setdefault(case.clause, []).append(claims.why_not(case))
    return {clause: f"no case of it is given: {reasons[0]}" for clause, reasons in why.items() if None not in reasons}
