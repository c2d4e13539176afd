"""What TLC says of traces of the queue otherwise than the checks."""

from __future__ import annotations

from scatterproof.spark.tests.agreement import Differences, Otherwise

DIFFERENCES = Differences(
    otherwise={
        "Q-AS-PUT.handed-out-and-then-refused": Otherwise(
            position=2, why="a call is read with its end, so that TLC knows at the hand-out that the put is refused"
        )
    }
)
