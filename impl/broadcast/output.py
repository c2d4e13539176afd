"""The output file (BC-IO-OUT): `b SEQ` and `d SENDER SEQ`, in their order."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from scatterproof.spec.broadcast.messages import Beginning, Delivery
from scatterproof.spec.errors import CannotRun

_FULL = 4_096  # lines that are written together


class Output:
    """Lines wait until there are many, until `write`, or for the end. Raises CannotRun when they cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: list[bytes] = []
        try:
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise self._refusal(error) from None

    def _refusal(self, error: OSError) -> CannotRun:
        return CannotRun(f"{self._path}: the output cannot be written: {error.strerror}; check the folder and the disk")

    @property
    def waits(self) -> bool:
        """Whether there are lines that are not written yet."""
        return bool(self._lines)

    def begin(self, beginning: Beginning) -> None:
        first = beginning.number
        self._lines += [b"b %d\n" % number for number in range(first, first + beginning.count)]

    def deliver(self, delivery: Delivery) -> None:
        self._lines.append(b"d %d %d\n" % (delivery.creator + 1, delivery.number))

    def write_if_many(self) -> None:
        if len(self._lines) >= _FULL:
            self.write()

    def write(self) -> None:
        if not self._lines:
            return
        rest = memoryview(b"".join(self._lines))
        self._lines.clear()
        try:
            while rest:
                rest = rest[self._file.write(rest) or 0 :]
        except OSError as error:
            raise self._refusal(error) from None

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what waits, unless writing is what went wrong."""
        try:
            if kind is None:
                self.write()
        finally:
            self._file.close()
