"""The conformance cases of publish and subscribe, as cases.toml has them: at least one a clause, with what an
implementation with that mistake gets wrong."""

from __future__ import annotations

from pathlib import Path

from scatterproof.conformance.pubsub.cases.building import CASE_WORDS

CASES = CASE_WORDS.read(Path(__file__).with_name("cases.toml"))
