"""What TLC says of traces of publish and subscribe otherwise than the checks: nothing yet, as no module reads them."""

from __future__ import annotations

from scatterproof.conformance.protocol import load
from scatterproof.models.trace_validation import Judgement
from scatterproof.spark.tests.agreement import Differences, Otherwise, traces_of

_UNREAD = "no module reads traces of the protocol yet"
DIFFERENCES = Differences(
    left_out={check.clause: _UNREAD for check in load("pubsub").checks},
    otherwise={name: Otherwise(why=_UNREAD, judgement=Judgement.CANNOT_RUN) for name in traces_of("pubsub")},
)
