"""Programs with the course's command line, judged by the files that they write.

Clauses: BC-IO-HOSTS, BC-IO-CONFIG, BC-IO-OUT, BC-IO-STRESS, and of each level what output can show: BC-PL-RELIABLE,
BC-PL-ONCE, BC-PL-REAL; BC-URB-VALID, BC-URB-ONCE, BC-URB-REAL, BC-URB-AGREE; BC-FIFO-ORDER, BC-FIFO-FLOW;
BC-LCB-CAUSAL, BC-LCB-FIFO.
"""

from __future__ import annotations

from scatterproof.conformance.broadcast.programs.tester import tester
from scatterproof.conformance.broadcast.programs.workload import LEVELS

__all__ = ["LEVELS", "tester"]
