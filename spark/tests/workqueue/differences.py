"""What TLC says of traces of the queue otherwise than the checks: nothing, as no module reads them yet."""

from __future__ import annotations

from scatterproof.conformance.protocol import load
from scatterproof.models.trace_validation import Judgement
from scatterproof.spark.tests.agreement import TRACES, Differences, Otherwise

_WHY = "no module of spec/workqueue reads traces yet"

DIFFERENCES = Differences(
    left_out={check.clause: _WHY for check in load("workqueue").checks},
    otherwise={
        path.stem: Otherwise(judgement=Judgement.CANNOT_RUN, why=_WHY)
        for label in ("conforming", "violating")
        for path in (TRACES / "workqueue" / label).glob("*.ndjson")
    },
)
