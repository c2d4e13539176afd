"""How far the models that are being checked have come, by weight."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

OnProgress = Callable[["ModelProgress"], None]


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """News of the models that are being checked.

    name: of the model that has news.
    distinct: its states so far.
    done, total: the weight of the models that have ended, and of all.
    """

    name: str
    distinct: int
    done: float
    total: float

    def __str__(self) -> str:
        return f"{self.done / self.total:.0%}, {self.name}, {self.distinct} distinct states"


class ModelNews:
    """Reports how far the models have come, by the weights of those that have ended."""

    def __init__(self, weights: Iterable[float], on_progress: OnProgress | None) -> None:
        self._total = sum(weights)
        self._done = 0.0
        self._on_progress = on_progress
        self._lock = threading.Lock()

    def tell(self, name: str, distinct: int) -> None:
        with self._lock:
            if self._on_progress is not None:
                self._on_progress(ModelProgress(name, distinct, self._done, self._total))

    def end(self, name: str, weight: float, distinct: int) -> None:
        with self._lock:
            self._done += weight
        self.tell(name, distinct)
