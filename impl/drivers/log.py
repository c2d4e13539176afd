"""The log of a node with real sockets: trace rows as in spec/trace_ndjson.py, without a header."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from scatterproof.impl.drivers.line_file import LineFile
from scatterproof.spec.topology import LinkId, NodeId


class NodeLogWriter(LineFile):
    """The rows of one node. It writes after every event, so that a node that is killed after sending a packet has
    logged it."""

    def __init__(self, path: Path, node: NodeId) -> None:
        super().__init__(path, "log")
        self._node = node
        self._encode = msgspec.json.Encoder().encode

    def add(
        self, kind: str, time_ns: int, clock_ns: int, columns: Mapping[str, int | str], link: LinkId | None = None
    ) -> None:
        """Note one row; it is in the file after the next `write`."""
        row: dict[str, int | str] = {"kind": kind, "time_ns": time_ns, "clock_ns": clock_ns, "node": self._node}
        if link is not None:
            row["link"] = link
        self.waiting.append(self._encode(row | dict(columns)) + b"\n")
