"""Verdicts: what may be said of a clause after a run, and nothing more than that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from scatterproof.spec import clauses


class Verdict(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"  # the trace lacks what the check needs, or the clause was never at stake
    NOT_APPLICABLE = "not applicable"  # the implementation, or the environment, does not claim the clause
    NOT_RUN = "not run"  # a tool is missing


class Violation(msgspec.Struct, frozen=True):
    """One row that breaks a clause. witness is the position of the earlier row that it contradicts, or -1."""

    clause: str
    position: int
    expected: int
    found: int
    witness: int
    sentence: str


class ClauseResult(msgspec.Struct, frozen=True):
    """held: at how many rows the clause was at stake, and held.
    broken: how many rows break it; `violations` shows the first of them.
    reason: why the verdict is neither pass nor fail.
    """

    clause: str
    name: str
    verdict: Verdict
    held: int
    violations: tuple[Violation, ...]
    reason: str = ""
    broken: int = 0


def foremost(protocol: str, results: Iterable[ClauseResult], own: str = "") -> list[ClauseResult]:
    """Those that are broken, the most telling first: that of clause `own`, then the others as they are given; but one
    whose first broken row is explained by a more specific clause (`explains` in the catalogue) comes behind that."""
    waiting = [found for found in results if found.verdict is Verdict.FAIL]
    if len(waiting) < 2:
        return waiting
    waiting.sort(key=lambda found: found.clause != own)
    by_id = clauses.load(protocol).by_id if protocol in clauses.protocols() else {}
    ordered: list[ClauseResult] = []
    while waiting:
        first = next(one for one in waiting if not any(_explains(by_id, other, one) for other in waiting))
        waiting.remove(first)
        ordered.append(first)
    return ordered


def _explains(by_id: Mapping[str, clauses.Clause], one: ClauseResult, other: ClauseResult) -> bool:
    if one.clause not in by_id or other.clause not in by_id[one.clause].explains or not other.violations:
        return False
    return other.violations[0].position in (violation.position for violation in one.violations)
