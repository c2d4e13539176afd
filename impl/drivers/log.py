"""The log of a node with real sockets: trace rows as in spec/trace_ndjson.py, without a header."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import msgspec

from scatterproof.spec.errors import CannotRun
from scatterproof.spec.topology import LinkId, NodeId


class NodeLog:
    """Rows of one node. `write` hands them to the operating system, so that a node that is killed after it sent a
    packet has logged it. Raises CannotRun when the file cannot be written."""

    def __init__(self, path: Path, node: NodeId) -> None:
        self._path = path
        self._node = node
        self._encode = msgspec.json.Encoder().encode
        self._rows: list[bytes] = []
        try:
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise self._refusal(error) from None

    def _refusal(self, error: OSError) -> CannotRun:
        return CannotRun(f"{self._path}: the log cannot be written: {error.strerror}; check the folder and the disk")

    def add(
        self, kind: str, time_ns: int, clock_ns: int, columns: Mapping[str, int | str], link: LinkId | None = None
    ) -> None:
        """Note one row; it is in the file after the next `write`."""
        row: dict[str, int | str] = {"kind": kind, "time_ns": time_ns, "clock_ns": clock_ns, "node": self._node}
        if link is not None:
            row["link"] = link
        self._rows.append(self._encode(row | dict(columns)))

    def write(self) -> None:
        if not self._rows:
            return
        rest = memoryview(b"\n".join(self._rows) + b"\n")
        self._rows.clear()
        try:
            while rest:
                rest = rest[self._file.write(rest) or 0 :]
        except OSError as error:
            raise self._refusal(error) from None

    def __enter__(self) -> NodeLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
