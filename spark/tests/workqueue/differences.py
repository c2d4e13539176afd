"""What TLC says of traces of the queue otherwise than the checks."""

from __future__ import annotations

from scatterproof.models.trace_validation import Judgement
from scatterproof.spark.tests.agreement import Differences, Otherwise, traces_of

_LEASED = "the trace is of a queue with leases, of which no module reads traces: spec/workqueue/TRACES.md"
_UNREAD = Otherwise(why=_LEASED, judgement=Judgement.CANNOT_RUN)
DIFFERENCES = Differences(
    left_out={
        "Q-ANSWER": "packets are not read: spec/workqueue/TRACES.md",
        **dict.fromkeys(("Q-LEASE", "Q-LEASE-ALL", "Q-RECEIPT", "Q-DEDUP"), _LEASED),
    },
    otherwise={
        name: _UNREAD
        for name, (_, trace) in traces_of("workqueue").items()
        if trace.header.parameters.get("leased") == 1
    },
)
