"""The clauses as predicates over a whole trace: each returns the positions of the rows that break it.

Written from the clauses' sentences, slow and plain: each looks at all calls anew for every row, and keeps no running
state. They share nothing with the checks but the trace, so that each can find the other's mistakes. They expect a trace
that `scatterproof.conformance.judge.refuse` lets pass.
"""

from __future__ import annotations

from scatterproof.conformance.oracles.calls import latest_is_answered
from scatterproof.conformance.protocol import by_clause
from scatterproof.conformance.workqueue.oracles import crashes, groups, leases

# One that all protocols share, and those of doubts, which do not bear the clause's name.
_OTHERS = (latest_is_answered, groups.ready_without_doubt, groups.held_without_doubt)
ORACLES = by_clause("workqueue", groups, crashes, leases) | {oracle.__name__: oracle for oracle in _OTHERS}
