"""Brokers that run: one, or several appliances in a row, each with a client of its own."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from scatterproof.conformance.pubsub.brokers.known import Command
from scatterproof.conformance.serving import LOOPBACK, START_S, Served, free_ports
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.topology import NodeId


class Running(Protocol):
    """Brokers of a run. port: theirs; of several, one a client."""

    @property
    def port(self) -> int | Sequence[int]: ...

    def kill(self, node: NodeId) -> Collection[NodeId] | None:
        """Kill the broker of this client, and start it again; returns which clients were at it, None for all."""

    def end(self) -> None: ...


class One:
    """One broker for all clients."""

    def __init__(self, name: str, command: Command, folder: Path) -> None:
        (self.port,) = free_ports(1)
        self._served = Served(name, command(self.port, folder), self.port, folder)

    def kill(self, node: NodeId) -> None:
        self._served.restart(kill=True)

    def end(self) -> None:
        self._served.end()


class Row:
    """Three appliances in a row, client 1 at the first. Each dials the one behind it."""

    def __init__(self, name: str, command: Command, folder: Path) -> None:
        ports = free_ports(6)
        self.port, links = ports[:3], ports[3:]
        self._served: list[Served] = []
        self._told = [folder / str(number) / f"{name}.stderr" for number in (1, 2, 3)]
        with ExitStack() as opened:
            opened.callback(self.end)
            for number, port in enumerate(self.port):
                own = self._told[number].parent
                own.mkdir()
                told = ["--id", _name(number), "--listen-neighbours", f"{LOOPBACK}:{links[number]}"]
                told += ["--neighbour", f"{LOOPBACK}:{links[number + 1]}"] if number < 2 else []
                self._served.append(Served(name, [*command(port, own), *told], port, own))
            self._wait_for_links()
            opened.pop_all()

    def _wait_for_links(self) -> None:
        """A subscription is answered when all appliances know of it that are linked."""
        until = time.monotonic() + START_S
        while not all(self._is_linked(one, other) for pair in ((0, 1), (1, 2)) for one, other in (pair, pair[::-1])):
            if time.monotonic() > until:
                raise CannotRun(f"the appliances are not linked after {START_S:.0f} s; see {self._told[0]}")
            time.sleep(0.02)

    def _is_linked(self, one: int, other: int) -> bool:
        said = [line for line in self._told[one].read_text().splitlines() if line.endswith(f" {_name(other)}")]
        return bool(said) and said[-1].startswith("linked to ")

    def kill(self, node: NodeId) -> Collection[NodeId]:
        self._served[node - 1].restart(kill=True)
        self._wait_for_links()
        return (node,)

    def end(self) -> None:
        for one in self._served:
            one.end()


def _name(number: int) -> str:
    return f"appliance-{number + 1}"
