"""The clauses as predicates over a whole trace: each returns the positions of the rows that break it.

Written from the clauses' sentences, slow and plain: each looks at all rows anew, and keeps no running state. They share
nothing with the checks but the trace and its parameters, so that each can find the other's mistakes. They expect a
trace that `scatterproof.conformance.judge.refuse` lets pass.
"""

from __future__ import annotations

from scatterproof.conformance.broadcast.oracles import links, uniform
from scatterproof.conformance.protocol import by_clause

ORACLES = by_clause("broadcast", links, uniform)
