"""Faults for real: senders and workers of a real store as processes, what happens to them, and what the checks of the
queue say of the calls that they journaled.

    python -m scatterproof.commands.workqueue.tests.faults SCENARIO FAULTS [SEED]

plays rounds of a scenario until it had that many faults; SCENARIO is one of those below, or `all`. A round is short,
since a call whose outcome is unknown weakens what can be said of those that come after it.
Exit codes: 0 all held, 1 something did not.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from random import Random
from threading import Event

import psycopg

from scatterproof.commands.workqueue.tests import clients
from scatterproof.commands.workqueue.tests.clients import LIMIT_S, Client, Lost, Place, finish
from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.impl.workqueue.stores.access import Refused
from scatterproof.impl.workqueue.stores.sql import SqlStore
from scatterproof.impl.workqueue.stores.tests.cluster import Cluster, cluster
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.trace import ABSENT, CLEAN, Header, Kind, Order, Row, Trace, schema
from scatterproof.spec.workqueue.messages import CallName

NAMES = schema("workqueue")
ALL = (1 << 63) - 1
QUIET_S = 5.0  # when nothing is handed out for so long, nothing will be
DISK_MB = 64  # a new server takes 28
HOUR_NS = 3_600_000_000_000
MODULE = "scatterproof.commands.workqueue.tests.clients"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What happens to whom.

    faults: names of methods of `Round`, one drawn for each fault.
    servers: the server id of each worker.
    most_s: how long a client works before something happens.
    jumps: whether the store's clock does.
    pages: as of `Place`.
    disk_mb: of the server's disk, which can be full; 0 for the machine's.
    """

    on_postgresql: bool
    faults: tuple[str, ...]
    servers: tuple[int, ...] = (1, 2, 3)
    senders: int = 2
    most_s: float = 0.06
    jumps: bool = False
    pages: int = 0
    disk_mb: int = 0


SCENARIOS = {
    "sqlite-killed": Scenario(on_postgresql=False, faults=("kill",)),
    "sqlite-one-id": Scenario(on_postgresql=False, faults=("kill",), servers=(1, 1, 2)),
    "sqlite-full": Scenario(on_postgresql=False, faults=("kill",), pages=16),
    "sqlite-clock": Scenario(on_postgresql=False, faults=("kill", "jump"), jumps=True),
    "postgresql-killed": Scenario(on_postgresql=True, faults=("kill",)),
    "postgresql-one-id": Scenario(on_postgresql=True, faults=("kill",), servers=(1, 1, 2)),
    "postgresql-cut": Scenario(on_postgresql=True, faults=("cut", "cut", "terminate", "kill")),
    "postgresql-clock": Scenario(on_postgresql=True, faults=("kill", "jump"), jumps=True),
    "postgresql-server": Scenario(on_postgresql=True, faults=("kill_server", "kill_backend", "kill"), most_s=0.25),
    "postgresql-full": Scenario(on_postgresql=True, faults=("fill", "fill", "kill"), disk_mb=DISK_MB),
}


@dataclass(slots=True)
class _Slot:
    """A client of the run: its node, what it does, its processes' journals, and the process that runs now."""

    node: int
    does: Callable[..., None]
    server: int
    paths: list[Path] = field(default_factory=list)
    process: ForkServerProcess | None = None


class Round:
    """One run of a scenario on a store of its own."""

    def __init__(self, scenario: Scenario, place: Place, server: Cluster | None, folder: Path, seed: int) -> None:
        self._place, self._server, self._folder = place, server, folder
        self._draw, self._most_s = Random(seed), scenario.most_s
        does = [(clients.send, 1)] * scenario.senders + [(clients.work, server) for server in scenario.servers]
        self._slots = [_Slot(node, what, server) for node, (what, server) in enumerate(does, 1)]
        self._rows: list[Row] = []
        last = len(does) + 1
        self._topology = served(last)
        self._own = folder / f"{last}.1"
        self._client = Client(Place(address=place.address, ahead=place.ahead), self._own, last, 0)
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["__main__", MODULE])

    def play(self, scenario: Scenario, faults: int) -> Trace:
        """Let that many faults happen; end all clients; then take all that is left. CannotRun where it never ends."""
        for slot in self._slots:
            self._start(slot)
        try:
            for _ in range(faults):
                self._until_all_work()
                Event().wait(self._draw.uniform(0.0, self._most_s))
                getattr(self, self._draw.choice(scenario.faults))()
                if self._draw.random() < 0.3:
                    self._clean()
        finally:
            for slot in self._slots:
                self._end(slot)
        self._drain()
        self._client.access.close()
        return self._trace()

    def kill(self) -> None:
        """Kill a client with SIGKILL; it begins anew."""
        slot = self._draw.choice(self._slots)
        self._end(slot)
        self._befell(Kind.RESTARTED, slot.node)
        self._start(slot)

    def cut(self) -> None:
        """Cut the connection of a client, in the middle of a call or not."""
        slot = self._draw.choice(self._slots)
        if slot.process is not None and slot.process.pid:
            os.kill(slot.process.pid, clients.CUT)

    def terminate(self) -> None:
        """End a connection, from the server's side."""
        with self._watching() as watching:
            watching.execute(f"SELECT pg_terminate_backend(pid) {_OTHERS} ORDER BY random() LIMIT 1")

    def kill_backend(self) -> None:
        """Kill -9 of one process of the server, which ends all others and recovers."""
        with self._watching() as watching:
            found = watching.execute(f"SELECT pid {_OTHERS} ORDER BY random() LIMIT 1").fetchone()
            if found is not None:
                self._befell(Kind.CRASHED, 0)
                os.kill(found[0], 9)
                with suppress(psycopg.Error):  # the server ends this connection, too, when it has seen it
                    while watching.execute("SELECT 1"):
                        pass
        self._client.wait()
        if found is not None:
            self._befell(Kind.RESTARTED, 0)

    def kill_server(self) -> None:
        """Kill all processes of the server with SIGKILL, and start it again."""
        assert self._server is not None
        self._befell(Kind.CRASHED, 0)
        self._server.kill()
        self._befell(Kind.RESTARTED, 0)
        self._server.start()
        self._client.wait()

    def fill(self) -> None:
        """No room on the server's disk for a while. It ends where it cannot write its log, and is started again."""
        assert self._server is not None
        assert self._server.disk is not None
        self._server.disk.fill()
        Event().wait(self._draw.uniform(0.0, 8 * self._most_s))
        self._server.disk.free()
        self._client.wait(self._start_again)

    def _start_again(self) -> None:
        assert self._server is not None
        if self._server.has_ended:
            self._befell(Kind.CRASHED, 0)
            self._befell(Kind.RESTARTED, 0)
            self._server.start()

    def jump(self) -> None:
        """The store's clock goes an hour ahead or back, for all."""
        assert self._place.ahead is not None
        new = self._place.ahead.with_suffix(".new")
        new.write_text(str(self._draw.randint(-HOUR_NS, HOUR_NS)))
        new.replace(self._place.ahead)

    def _clean(self) -> None:
        """Take for dead who was silent for a little while."""
        self._client.wait()
        with suppress(Lost, CannotRun):
            now = self._client.access.now_ns()
            self._client.call(CallName.CLEAN, senders_before=now - 50_000_000, receivers_before=now - 100_000_000)

    def _watching(self) -> psycopg.Connection[tuple[int]]:
        until = time.monotonic() + LIMIT_S
        while True:
            try:
                return psycopg.connect(self._place.address, autocommit=True)
            except psycopg.OperationalError:  # it recovers still
                if time.monotonic() > until:
                    raise
                Event().wait(0.01)

    def _start(self, slot: _Slot) -> None:
        operation = sum(row[NAMES.index("kind")] == Kind.CALLED for row in rows_in(slot.paths))
        slot.paths.append(self._folder / f"{slot.node}.{len(slot.paths) + 1}")
        given = (self._place, slot.paths[-1], slot.node, operation, slot.server)
        slot.process = self._context.Process(target=slot.does, args=given, daemon=True)
        slot.process.start()

    def _until_all_work(self) -> None:
        """Wait until each client has its journal."""
        until = time.monotonic() + LIMIT_S
        while not all(slot.paths[-1].exists() for slot in self._slots):
            if time.monotonic() > until:
                raise CannotRun(f"after {LIMIT_S:.0f} s a client has not begun yet")
            Event().wait(0.001)

    def _end(self, slot: _Slot) -> None:
        if slot.process is not None:
            slot.process.kill()
            slot.process.join()
            slot.process = None
            self._befell(Kind.CRASHED, slot.node)

    def _befell(self, kind: Kind, node: int) -> None:
        told = {"time_ns": time.monotonic_ns(), "node": node, "kind": int(kind)}
        self._rows.append(tuple(told.get(name, ABSENT) for name in NAMES.columns))

    def _drain(self) -> None:
        """Process all that is left. What a killed client asked for last may be done after it is gone, so that locks are
        released more than once; and a server that recovers may end a connection after it has answered on it."""
        until = time.monotonic() + QUIET_S
        while self._client.answer(self._client.access.contents).messages and time.monotonic() < until:
            Event().wait(0.01)
            self._client.insist(CallName.CLEAN, senders_before=ALL, receivers_before=ALL)
            while (taken := self._client.insist(CallName.NEXT_GROUP, server=9))["group"]:
                until = time.monotonic() + QUIET_S
                try:
                    finish(self._client, taken)
                except (Refused, Lost):
                    break

    def _trace(self) -> Trace:
        """The rows of all processes in the order of their times; of one moment, what is called first: by the boxes it
        may have been."""
        rows = [*self._rows, *rows_in([self._own, *(path for slot in self._slots for path in slot.paths)])]
        kind = NAMES.index("kind")
        rows.sort(key=lambda row: (row[0], row[kind] == Kind.RETURNED))
        ended = {"time_ns": rows[-1][0], "kind": int(Kind.ENDED), "flags": CLEAN}
        rows.append(tuple(ended.get(name, ABSENT) for name in NAMES.columns))
        everybody = tuple(range(len(self._topology.nodes)))
        kinds = ("called", "returned", "crashed", "restarted")
        return Trace(
            Header(
                protocol="workqueue",
                topology=self._topology,
                parameters={},
                complete=dict.fromkeys(kinds, everybody),
                order=Order.LINK,
            ),
            rows,
        )


_OTHERS = "FROM pg_stat_activity WHERE application_name = 'scatterproof queue' AND backend_type = 'client backend'"


def rows_in(paths: Sequence[Path]) -> list[Row]:
    """The whole lines of journals; that of a process that is just killed may end with half of one."""
    found: list[Row] = []
    for path in paths:
        if path.exists():
            found += [tuple(map(int, line.split())) for line in path.read_bytes().split(b"\n")[:-1]]
    return found


@dataclass(frozen=True, slots=True)
class Played:
    """A round that is over, and what the checks said of it. faults: with the clients that were ended last."""

    trace: Trace
    results: tuple[ClauseResult, ...]
    faults: int

    def wrongs(self) -> Iterator[str]:
        """What is wrong with the run, one sentence each."""
        for result in self.results:
            if result.verdict is Verdict.FAIL:
                yield from (each.sentence for each in result.violations)
        yield from lost(self.trace)


def lost(trace: Trace) -> Iterator[str]:
    """Messages whose group was closed, and that nobody was ever handed. The checks do not say so of a run in which a
    next_group came to no known end: the group may be with its caller."""
    sent: dict[int, set[int]] = {}
    read: dict[int, set[int]] = {}
    closed: set[int] = set()
    for row in trace.rows:
        told = dict(zip(NAMES.columns, row, strict=True))
        if told["kind"] != Kind.RETURNED or told["outcome"] != Outcome.OK:
            continue
        if told["call"] == NAMES.calls["close_group"]:
            closed.add(told["group"])
        for name, found in (("send_message", sent), ("read_message", read)):
            if told["call"] == NAMES.calls[name]:
                found.setdefault(told["group"], set()).add(told["message"])
    for group in sorted(closed):
        missing = sent[group] - read.get(group, set())
        if missing:
            yield f"Q-DURABLE: messages {sorted(missing)} of group {group} were never handed out"


def play(
    name: str,
    folder: Path,
    faults: int,
    seed: int,
    server: Cluster | None = None,
    damage: Callable[[SqlStore, int], None] | None = None,
) -> Played:
    """One round. folder: empty; for journals and files."""
    scenario, journals = SCENARIOS[name], folder / "journals"
    journals.mkdir(parents=True)
    ahead = folder / "ahead" if scenario.jumps else None
    if ahead is not None:
        ahead.write_text("0")
    address = f"sqlite:{folder / 'queue.db'}" if server is None else server.queue()
    place = Place(address=address, ahead=ahead, pages=scenario.pages, damage=damage)
    # Late, as each process under test imports this module where it is the program.
    from scatterproof.conformance.judge import judge

    trace = Round(scenario, place, server, journals, seed).play(scenario, faults)
    return Played(trace, tuple(judge(trace)), faults + scenario.senders + len(scenario.servers))


def campaign(name: str, faults: int, seed: int, each: int = 12) -> Iterator[Played]:
    """Rounds, each of `each` faults and one for every client in the end, until there were enough."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        server = opened.enter_context(cluster(SCENARIOS[name].disk_mb)) if SCENARIOS[name].on_postgresql else None
        while faults > 0:
            found = play(name, folder / str(seed), each, seed, server)
            yield found
            faults -= found.faults
            seed += 1


def main(arguments: Sequence[str]) -> int:
    name, faults, *rest = arguments
    chosen = list(SCENARIOS) if name == "all" else [name]
    wrong, begun = 0, time.monotonic()
    for each in chosen:
        happened, rows, stake = 0, 0, Counter[str]()
        for found in campaign(each, int(faults) // len(chosen), int(rest[0]) if rest else 1):
            happened, rows = happened + found.faults, rows + len(found.trace.rows)
            for result in found.results:
                stake[result.clause] += result.held
            for said in found.wrongs():
                wrong += 1
                print(f"{each}: {said}", flush=True)
        told = ", ".join(f"{clause} {count:,}" for clause, count in stake.items() if count)
        print(f"{each}: {happened} faults, {rows:,} rows; at stake {told}", flush=True)
    print(f"{wrong} things that must not be, in {time.monotonic() - begun:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
