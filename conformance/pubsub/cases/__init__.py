"""The conformance cases of publish and subscribe: at least one a clause, with what an implementation with that mistake
gets wrong."""

from __future__ import annotations

from scatterproof.conformance.pubsub.cases import routing

CASES = routing.CASES
