"""The conformance cases of total order: at least one a clause, and the edges that implementations fall off."""

from __future__ import annotations

from scatterproof.conformance.totalorder.cases import (
    acknowledged,
    adjustment,
    best_effort,
    choices,
    failures,
    loss,
    notices,
    numbers,
    structures,
)

CASES = (
    *best_effort.CASES,
    *loss.CASES,
    *acknowledged.CASES,
    *structures.CASES,
    *choices.CASES,
    *adjustment.CASES,
    *failures.CASES,
    *notices.CASES,
    *numbers.CASES,
)
