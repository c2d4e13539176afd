"""Verdicts: what may be said of a clause after a run, and nothing more than that."""

from __future__ import annotations

from enum import StrEnum

import msgspec


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
    """held: at how many rows the clause was at stake, and held. broken: how many rows break it; `violations` shows the
    first of them. reason: why the verdict is neither pass nor fail."""

    clause: str
    name: str
    verdict: Verdict
    held: int
    violations: tuple[Violation, ...]
    reason: str = ""
    broken: int = 0
