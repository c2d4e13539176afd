"""Cleaning away what dead senders and receivers left (Q-CRASH-SEND, Q-CRASH-DEAD)."""

from __future__ import annotations

from dataclasses import dataclass

from scatterproof.impl.workqueue.stores.access import Access, Cleaned
from scatterproof.spec.errors import BadInput

_MS = 1_000_000  # ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """Who is taken for dead: a sender or a receiver that has not used its lock for so long, by the store's clock. A
    worker uses its lock when it reads and dequeues, so that receivers_ms has to be more than any one message takes: a
    slow worker that is taken for dead does no harm, as its calls are refused, and costs that its message is processed
    again. every_ms: how often a receiver cleans."""

    senders_ms: float = 3_600_000.0
    receivers_ms: float = 3_600_000.0
    every_ms: float = 60_000.0

    def __post_init__(self) -> None:
        for name in ("senders_ms", "receivers_ms", "every_ms"):
            if not 0 <= getattr(self, name) <= 3.2e12:  # a century
                raise BadInput(f"cleaning: {name} is {getattr(self, name)}; give 0 or more, and a century at most")


def clean(access: Access, cleaning: Cleaning) -> Cleaned:
    """Remove the groups of dead senders, and release the locks of dead receivers."""
    now = access.now_ns()
    return access.clean(now - int(cleaning.senders_ms * _MS), now - int(cleaning.receivers_ms * _MS))
