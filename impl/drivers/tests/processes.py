"""Nodes as real processes, for the tests of the drivers."""

from __future__ import annotations

import fcntl
import os
import selectors
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec

from scatterproof.spec.adapter import FromNode, Line
from scatterproof.spec.core import NodeConfig, Parameter, node_config
from scatterproof.spec.files import IMPORTED_FROM
from scatterproof.spec.topology import Link, Node, Role, Topology, route

PATIENCE_S = 20.0

Row: TypeAlias = dict[str, int | str]

# Two hosts, 0 and 1, at a switch, 2. Links: 0 from host 0, 1 to host 0, 2 from host 1, 3 to host 1.
STAR = Topology(
    (Node("left", Role.HOST), Node("right", Role.HOST), Node("middle", Role.SWITCH)),
    (Link(0, 2), Link(2, 0), Link(1, 2), Link(2, 1)),
)


def config(node: int, *, environment: str = "C", interval_ns: int = 1_000_000) -> NodeConfig:
    parameters: dict[str, Parameter] = {"environment": environment, "beacon_interval_ns": interval_ns}
    return node_config(node, STAR, route(STAR), "totalorder", parameters)


class NodeProcess:
    """A driver's process. `say` sends it lines, `hear` reads its lines. The log, if any, is a named pipe, so that a
    test can wait for a row instead of guessing when it is there."""

    def __init__(self, driver: str, log: Path | None = None) -> None:
        self.log_path = log
        self._log: int | None = None
        if log is not None:
            os.mkfifo(log)
            self._log = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
            if sys.platform == "linux":
                # Room for what a node logs while a slow machine runs the test: it waits when its pipe is full.
                fcntl.fcntl(self._log, fcntl.F_SETPIPE_SZ, 1 << 20)
        self._rest = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"scatterproof.impl.drivers.{driver}"],
            cwd=IMPORTED_FROM,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def say(self, line: Line) -> None:
        self.say_bytes(msgspec.json.encode(line) + b"\n")

    def say_bytes(self, text: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def hear(self) -> FromNode:
        assert self.process.stdout is not None
        line: FromNode = msgspec.json.decode(self.process.stdout.readline(), type=FromNode)
        return line

    def hang_up(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def end(self) -> tuple[int, str]:
        """Wait for the process; returns its exit code and what it said on stderr."""
        assert self.process.stderr is not None
        code = self.process.wait(PATIENCE_S)
        return code, self.process.stderr.read().decode()

    def rows_now(self) -> list[Row]:
        """The rows that are in the log by now and were not read yet."""
        assert self._log is not None
        rows: list[Row] = []
        while True:
            try:
                chunk = os.read(self._log, 1 << 16)
            except BlockingIOError:
                return rows
            *whole, self._rest = (self._rest + chunk).split(b"\n")
            rows += [msgspec.json.decode(line) for line in whole]
            if not chunk:
                return rows

    def log_file(self) -> int:
        assert self._log is not None
        return self._log

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        if self._log is not None:
            os.close(self._log)


def rows_until(nodes: Mapping[int, NodeProcess], rows: Mapping[int, list[Row]], enough: Callable[[], bool]) -> None:
    """Read the logs of all nodes into `rows` until `enough()`; TimeoutError when nothing comes any more."""
    with selectors.SelectSelector() as selector:
        for number, node in nodes.items():
            selector.register(node.log_file(), selectors.EVENT_READ, number)
        while not enough():
            ready = selector.select(PATIENCE_S)
            if not ready:
                raise TimeoutError(f"no row for {PATIENCE_S} s; have {[len(own) for own in rows.values()]}")
            for key, _ in ready:
                rows[key.data].extend(nodes[key.data].rows_now())
