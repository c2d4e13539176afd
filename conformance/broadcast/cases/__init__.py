"""The conformance cases of the broadcast stack: at least one a clause, and the edges that implementations fall off."""

from __future__ import annotations

from scatterproof.conformance.broadcast.cases import links, order, uniform

CASES = (*links.CASES, *uniform.CASES, *order.CASES)
