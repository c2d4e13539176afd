"""Ctrl-C and SIGTERM, so that what was found until then is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import TypeAlias

# Within such a context the work may be broken off anywhere; files are written outside of it.
Guard: TypeAlias = Callable[[], AbstractContextManager[None]]
_STOPPING = (signal.SIGINT, signal.SIGTERM)


class StopAsked(KeyboardInterrupt):
    """Somebody asked for the end. The text is the name of the signal."""


class Signals:
    """While it is entered, Ctrl-C and SIGTERM raise `StopAsked`: at once within `guard`; elsewhere when that is entered
    next. A second one raises it wherever it comes: whoever asks twice does not want to wait."""

    def __init__(self) -> None:
        self.number: signal.Signals | None = None  # of the first one that came
        self._guarded = False
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> Signals:
        # Python takes handlers, and calls them, in the main thread alone.
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._take) for number in _STOPPING}
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)  # type: ignore[arg-type]

    @contextmanager
    def guard(self) -> Iterator[None]:
        """As of `Guard`."""
        self._guarded = True
        try:
            if self.number is not None:
                raise StopAsked(self.number.name)
            yield
        finally:
            self._guarded = False

    def _take(self, number: int, _frame: FrameType | None) -> None:
        second = self.number is not None
        self.number = self.number or signal.Signals(number)
        if self._guarded or second:
            raise StopAsked(self.number.name)
