"""The conformance cases of total order, as the files here have them: at least one a clause, and the edges that
implementations fall off."""

from __future__ import annotations

from pathlib import Path

from scatterproof.conformance.totalorder.cases.building import CASE_WORDS

_FILES = (
    "best_effort",
    "loss",
    "acknowledged",
    "structures",
    "choices",
    "adjustment",
    "failures",
    "notices",
    "numbers",
)
BY_FILE = {name: CASE_WORDS.read(Path(__file__).with_name(f"{name}.toml")) for name in _FILES}
CASES = tuple(case for cases in BY_FILE.values() for case in cases)
