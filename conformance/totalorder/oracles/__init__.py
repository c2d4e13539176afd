"""The clauses as predicates over a whole trace: each returns the positions of the rows that break it.

Written from the clauses' sentences, slow and plain: an oracle looks at all rows up to the one that it judges, and keeps
no running state. Oracles and checks share nothing but the trace, so that each can find the other's mistakes. The trace
is one that `scatterproof.conformance.judge.refuse` lets pass.
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
