"""The broadcast stack, as `spark` sees it."""

from __future__ import annotations

from scatterproof.spark.broadcast.parameters import KINDS
from scatterproof.spark.protocol import SparkPlugin

# Compared is the same run, over links without and with loss.
PLUGIN = SparkPlugin(kinds=KINDS, compared=("fifo", "fifo, loss"))
