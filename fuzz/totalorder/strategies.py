"""What a schedule of total order has beside the shared parts: its environment, and its beacon interval."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from spec.core import Parameter
from spec.schedule import FaultKind
from spec.totalorder.messages import Environment

MIN_INTERVAL_NS, MAX_INTERVAL_NS = 3, 20
# Links are FIFO and may lose messages; they never repeat one.
FAULT_KINDS = (FaultKind.DELAY, FaultKind.LOSE)


def environments() -> SearchStrategy[str]:
    """A, B and C; shrinks towards C, in which both carriers are used."""
    return st.sampled_from([Environment.C.value, Environment.B.value, Environment.A.value])


def beacon_intervals() -> SearchStrategy[int]:
    """3 to 20 ns: about the delays and the gaps between submissions, so that beacons and data meet. Shorter ones would
    make a run out of little but beacons."""
    return st.integers(MIN_INTERVAL_NS, MAX_INTERVAL_NS)


def parameters() -> SearchStrategy[dict[str, Parameter]]:
    """A run's `environment` and `beacon_interval_ns`."""
    return st.builds(
        lambda environment, interval: {"environment": environment, "beacon_interval_ns": interval},
        environments(),
        beacon_intervals(),
    )
