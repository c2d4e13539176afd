"""The clauses as predicates over a whole trace: each returns the positions of the rows that break it.

Written from the clauses' sentences, slow and plain: every one looks at all rows before the one that it judges, and
keeps no running state. They share nothing with the checks but the trace, so that each can find the other's mistakes.
They expect a trace that `scatterproof.conformance.judge.refuse` lets pass.
"""

from __future__ import annotations

from scatterproof.conformance.protocol import by_clause
from scatterproof.conformance.totalorder.oracles import (
    acks,
    adjustment,
    best_effort,
    failures,
    formats,
    loss,
    promises,
    resending,
)

ORACLES = by_clause("totalorder", best_effort, resending, loss, acks, formats, promises, adjustment, failures)
