"""The queue with correlated message groups, as `spark` sees it."""

from __future__ import annotations

from scatterproof.spark.protocol import SparkPlugin
from scatterproof.spark.workqueue.parameters import KINDS

PLUGIN = SparkPlugin(kinds=KINDS)
