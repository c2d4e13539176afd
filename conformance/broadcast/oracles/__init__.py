"""The clauses as predicates over a whole trace: each returns the positions of the rows that break it.

Written from the clauses' sentences, slow and plain: an oracle looks at all rows anew, and keeps no running state.
Oracles and checks share nothing but the trace and its parameters, so that each can find the other's mistakes. The trace
is one that `scatterproof.conformance.judge.refuse` lets pass.
"""

from __future__ import annotations

from scatterproof.conformance.broadcast.oracles import links, uniform
from scatterproof.conformance.protocol import by_clause

ORACLES = by_clause("broadcast", links, uniform)
