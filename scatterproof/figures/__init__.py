"""Figures of the protocols, drawn from simulation."""

from __future__ import annotations

import importlib.util
from pathlib import Path

PAGE = Path("results/figures/index.html")
MADE_BY = "ci/bench figures"


def has(protocol: str) -> bool:
    """Whether there are figures of the protocol to draw."""
    return importlib.util.find_spec(f"scatterproof.figures.{protocol}") is not None
