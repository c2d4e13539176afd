"""The conformance cases of the queue, from cases.toml: at least one for each clause."""

from __future__ import annotations

from pathlib import Path

from scatterproof.conformance.workqueue.cases.building import CASE_WORDS

CASES = CASE_WORDS.read(Path(__file__).with_name("cases.toml"))
