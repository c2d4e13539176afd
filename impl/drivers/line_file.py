"""A file to which a process adds lines."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from scatterproof.impl.drivers.lines import write_whole
from scatterproof.spec.errors import CannotRun


class LineFile:
    """Lines, each with its end of line, wait in `waiting` until `write`, or the end of the context, hands them to the
    operating system. what: the file in words. Raises CannotRun when it cannot be written."""

    def __init__(self, path: Path, what: str) -> None:
        self.waiting: list[bytes] = []
        self._path, self._what = path, what
        try:
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise self._refusal(error) from None

    def _refusal(self, error: OSError) -> CannotRun:
        sentence = f"{self._path}: the {self._what} cannot be written: {error.strerror}"
        return CannotRun(f"{sentence}; check the folder and the disk")

    def write(self) -> None:
        if not self.waiting:
            return
        together = b"".join(self.waiting)
        self.waiting.clear()
        try:
            write_whole(self._file, together)
        except OSError as error:
            raise self._refusal(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what waits, unless an error ended the context."""
        try:
            if kind is None:
                self.write()
        finally:
            self._file.close()
