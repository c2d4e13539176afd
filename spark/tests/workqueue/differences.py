"""What TLC says of traces of the queue otherwise than the checks."""

from __future__ import annotations

from scatterproof.spark.tests.agreement import Differences

DIFFERENCES = Differences(left_out={"Q-ANSWER": "packets are not read: spec/workqueue/TRACES.md"})
