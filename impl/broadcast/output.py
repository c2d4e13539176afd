"""The output file (BC-IO-OUT): `b SEQ` and `d SENDER SEQ`, in their order."""

from __future__ import annotations

from pathlib import Path

from scatterproof.impl.drivers.line_file import LineFile
from scatterproof.spec.broadcast.messages import Beginning, Delivery

_FULL = 4_096  # lines that are written together


class Output(LineFile):
    def __init__(self, path: Path) -> None:
        super().__init__(path, "output")

    def begin(self, beginning: Beginning) -> None:
        first = beginning.number
        self.waiting += [b"b %d\n" % number for number in range(first, first + beginning.count)]

    def deliver(self, delivery: Delivery) -> None:
        self.waiting.append(b"d %d %d\n" % (delivery.creator + 1, delivery.number))

    def write_if_many(self) -> None:
        if len(self.waiting) >= _FULL:
            self.write()
