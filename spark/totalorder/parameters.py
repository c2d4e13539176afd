"""The parameters that a run of total order is drawn with: what carries barriers, and how often beacons leave."""

from __future__ import annotations

from random import Random

from spec.core import Parameter
from spec.totalorder.messages import WITHOUT_LOSS


def draw_parameters(draw: Random, span_ns: int) -> dict[str, Parameter]:
    """environment and beacon_interval_ns of a run whose submissions are spread over `span_ns`.

    The interval is a fifth to a fiftieth of the span: beacons matter, and do not crowd out the data.
    """
    environment = draw.choice(WITHOUT_LOSS)
    return {"environment": environment.value, "beacon_interval_ns": max(1, span_ns // draw.randint(5, 50))}
