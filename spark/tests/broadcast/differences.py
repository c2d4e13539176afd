"""What TLC says of traces of the broadcast stack otherwise than the checks."""

from __future__ import annotations

from scatterproof.models.trace_validation import Judgement
from scatterproof.spark.tests.agreement import Differences, Otherwise

_TO_A_CRASHED_ONE = "a packet arrives at a process that has crashed: the checks let it be, to TLC it is no step"

DIFFERENCES = Differences(
    otherwise={
        "BC-LCB-CLOCKS.greater-than-any-count": Otherwise(
            judgement=Judgement.CANNOT_RUN, why="a clock is beyond TLC's integers of 32 bits"
        ),
        "BC-URB-AGREE.delivered-by-one-that-crashed": Otherwise(position=18, why=_TO_A_CRASHED_ONE),
        "BC-URB-SELF.waits-for-one-more": Otherwise(position=16, why=_TO_A_CRASHED_ONE),
    }
)
