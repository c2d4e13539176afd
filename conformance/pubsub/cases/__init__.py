"""The conformance cases of publish and subscribe, from cases.toml: at least one for each clause, with the mistake that
it shows."""

from __future__ import annotations

from pathlib import Path

from scatterproof.conformance.pubsub.cases.building import CASE_WORDS

CASES = CASE_WORDS.read(Path(__file__).with_name("cases.toml"))
