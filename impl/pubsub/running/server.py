"""Drives an appliance on asyncio: sockets, time, signals and the store. It decides only when things are done.

What one turn of the loop brings is carried out, then stored in one transaction, and only then written to sockets.

Clauses: PS-PERSISTED, PS-FLOW.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from scatterproof.impl.pubsub.channels.queue import Marks
from scatterproof.impl.pubsub.running import mqtt_connection, nats_session
from scatterproof.impl.pubsub.running.configuring import Configuring
from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.latency import told as statistics
from scatterproof.impl.pubsub.running.neighbour import Neighbour, Say
from scatterproof.impl.pubsub.running.provisioning import Managed
from scatterproof.impl.pubsub.running.store import Store
from scatterproof.impl.pubsub.running.table import Treatment
from scatterproof.impl.pubsub.translation.nats_codec import MAX_PAYLOAD
from scatterproof.impl.pubsub.ways import Way, Ways
from scatterproof.spec.errors import CannotRun, ScatterproofError

Address: TypeAlias = tuple[str, int]
_TICK_S, _STOP_S = 0.5, 2.0
_AGAIN_S, _REFUSED_S = 0.25, 5.0  # until a neighbour is dialled again


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """name: of the appliance, another one for each.
    mqtt, nats, native: where it listens, None for not at all; port 0 for any that is free. Neighbours come to `native`.
    neighbours: those that it dials, each with its addresses.
    store: the cache engine's file; without one, nothing outlives the process.
    configuration: the file of entitlements, read again at SIGHUP.
    managed: by management nodes instead.
    max_payload: bytes.
    statistics_s: seconds between publications of its counts, 0 for never.
    all_paths: whether messages take all paths at once.
    keep_alive_s: for how many seconds a neighbour may be silent, 0 for ever.
    """

    name: str
    mqtt: Address | None = None
    nats: Address | None = None
    native: Address | None = None
    neighbours: tuple[tuple[Address, ...], ...] = ()
    store: Path | None = None
    configuration: Path | None = None
    managed: Managed | None = None
    max_payload: int = MAX_PAYLOAD
    marks: Marks = field(default_factory=Marks)
    treatment: Treatment = field(default_factory=Treatment)
    statistics_s: float = 0.0
    all_paths: bool = False
    keep_alive_s: float = 10.0


class _End(Protocol):
    """What reads a connection: a client, or a neighbour."""

    def receive(self, data: bytes) -> None: ...
    def tick(self) -> None: ...
    def lost(self) -> None: ...


class _Wire(asyncio.Protocol):
    """A connection. is_link: to a neighbour."""

    def __init__(self, server: Server, make: Callable[[_Wire], _End], *, is_link: bool = False) -> None:
        self._server, self._make, self.is_link = server, make, is_link
        self.transport: asyncio.Transport | None = None
        self.outbox = server.core.outbox()
        self.outbox.wire = self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        room = self._server.core.flow.marks.room
        # So that `resume_writing` comes whenever the outbox found no more room.
        transport.set_write_buffer_limits(high=room - 1, low=room // 4)
        self.transport = transport
        self._server.take_time()
        self.end = self._make(self)
        self._server.opened(self)

    def data_received(self, data: bytes) -> None:
        self._server.take_time()
        self.end.receive(data)
        self._server.flush_soon()

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        self._server.take_time()
        self.end.lost()
        self._server.closed(self)

    def resume_writing(self) -> None:
        assert self.transport is not None
        self.outbox.waiting = self.transport.get_write_buffer_size()
        self.outbox.pump()
        self._server.flush_soon()

    def send(self) -> None:
        """Send what the outbox has, and what waits, as far as the other end takes it."""
        box = self.outbox
        while True:
            data = box.parts[0] if len(box.parts) == 1 else b"".join(box.parts)
            box.parts.clear()
            box.size = 0
            if self.transport is None:
                return
            if data:
                self.transport.write(data)
            box.waiting = self.transport.get_write_buffer_size()
            if box.is_abandoned:
                self.transport.abort()
            elif box.closing is not None:
                self.transport.close()
            box.pump()
            if not box.parts:
                return


class Server:
    """say: shows a line to a person.
    known: the names of neighbours, by the address that was dialled.
    listening: the address of each port that is open, by what it is for.
    """

    def __init__(self, settings: Settings, say: Say) -> None:
        self._settings, self.say = settings, say
        self._store = Store(settings.store) if settings.store is not None else None
        kept = self._store.load() if self._store is not None else None
        incarnation = kept.incarnation if kept is not None else secrets.token_hex(8)
        self.core = Core(
            settings.name, kept, incarnation, settings.marks, settings.treatment, all_paths=settings.all_paths
        )
        most = settings.max_payload + (1 << 17)
        self._clients = mqtt_connection.Clients(self.core, kept, most)
        self.known: dict[object, str] = {}
        self.listening: dict[str, Address] = {}
        self._wires: set[_Wire] = set()
        self._tick_s = min(_TICK_S, settings.statistics_s or _TICK_S)
        self._patience = math.ceil(settings.keep_alive_s / self._tick_s) or None
        self._held = False
        self._flushing = False
        self._numbers = 0
        self._failed: ScatterproofError | None = None
        self._stop: asyncio.Event | None = None
        try:
            self.configuring = Configuring(self.core, settings.configuration, settings.managed, say, self._turn)
            self.configuring.begin(kept.configuration if kept is not None else None)
        except ScatterproofError:
            self.close()
            raise

    def close(self) -> None:
        """Store what was written down, and close the store."""
        if self._store is not None:
            if self._failed is None:
                self._keep()
            self._store.close()

    def _keep(self) -> None:
        """End the turn, and store what was written down. Raises CannotRun where the store fails."""
        self.core.end_turn()
        if self.core.ledger.changes and self._store is not None:
            self._store.apply(self.core.ledger.changes)
            self.core.ledger.changes.clear()

    # ---------------------------------------------------------------- wires

    def take_time(self) -> None:
        self.core.now_ns, self.core.steady_ns = time.time_ns(), time.monotonic_ns()

    def _turn(self) -> None:
        self.take_time()
        self.flush_soon()

    def opened(self, wire: _Wire) -> None:
        self._wires.add(wire)
        if self._held and not wire.is_link and wire.transport is not None:
            wire.transport.pause_reading()
        self.flush_soon()

    def closed(self, wire: _Wire) -> None:
        self._wires.discard(wire)
        self.flush_soon()

    def _hold(self) -> None:
        """Stop reading from clients while a neighbour has too much to acknowledge, as nothing guaranteed is dropped."""
        marks = self.core.flow.marks
        held = any(link.is_full(marks.high, marks.low) for link in self.core.links.values())
        if held != self._held:
            self._held = held
            self.core.counts["times that publishers waited"] += held
            for one in self._wires:
                if not one.is_link and one.transport is not None:
                    one.transport.pause_reading() if held else one.transport.resume_reading()

    def flush_soon(self) -> None:
        if not self._flushing:
            self._flushing = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        core = self.core
        try:
            self._keep()
        except CannotRun as error:
            self._fail(error)
            return  # nothing is sent that was not stored
        self._hold()
        dirty = list(core.flow.dirty)
        core.flow.dirty.clear()
        for box in dirty:
            assert isinstance(box.wire, _Wire)
            box.wire.send()

    def _fail(self, error: ScatterproofError) -> None:
        self._failed = error
        assert self._stop is not None
        self._stop.set()

    # ---------------------------------------------------------------- running

    async def run(self, ready: Callable[[], None]) -> None:
        """Run until SIGTERM or SIGINT. ready: called when it listens. Raises CannotRun where a port is taken, or the
        store fails."""
        loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop.set)
        loop.add_signal_handler(signal.SIGHUP, self.configuring.again)
        servers: list[asyncio.Server] = []
        tasks: list[asyncio.Task[None]] = []
        try:
            for name, address, make, is_link in (
                ("mqtt", self._settings.mqtt, self._mqtt, False),
                ("nats", self._settings.nats, self._nats, False),
                ("neighbours", self._settings.native, self._accepted, True),
            ):
                if address is not None:
                    servers.append(await self._listen(name, address, make, is_link=is_link))
            for addresses in self._settings.neighbours:
                ways = Ways("{}:{}".format(*one) for one in addresses)
                for one, way in zip(addresses, ways.all, strict=True):
                    tasks.append(asyncio.create_task(self._dial(one, (ways, way) if len(addresses) > 1 else None)))
            if self.configuring.follower is not None:
                tasks.append(asyncio.create_task(self.configuring.follower.follow()))
            tasks.append(asyncio.create_task(self._ticking()))
            ready()
            await self._stop.wait()
        finally:
            for task in tasks:
                task.cancel()
            for server in servers:
                server.close()
            if self._failed is None:
                await self._close_all()
            self.close()
        if self._failed is not None:
            raise self._failed

    async def _listen(
        self, name: str, address: Address, make: Callable[[_Wire], _End], *, is_link: bool
    ) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_server(lambda: _Wire(self, make, is_link=is_link), *address, backlog=1024)
        except OSError as error:
            why = error.strerror or str(error)
            raise CannotRun("port {}:{} cannot be listened at: {}; choose another".format(*address, why)) from None
        self.listening[name] = server.sockets[0].getsockname()[:2]
        return server

    def _mqtt(self, wire: _Wire) -> _End:
        return mqtt_connection.Connection(self._clients, wire.outbox)

    def _nats(self, wire: _Wire) -> _End:
        self._numbers += 1
        return nats_session.NatsConnection(self.core, wire.outbox, self._numbers, self._settings.max_payload)

    def _accepted(self, wire: _Wire) -> _End:
        return Neighbour(self.core, wire.outbox, self.known, self.say, None, self._patience)

    async def _dial(self, address: Address, of: tuple[Ways, Way] | None) -> None:
        loop = asyncio.get_running_loop()
        while True:
            link = self.core.links.get(self.known.get(address, ""))
            seconds = _AGAIN_S
            if of is not None or link is None or link.outbox is None:
                gone = loop.create_future()
                made: list[Neighbour] = []

                def make(wire: _Wire, made: list[Neighbour] = made) -> _End:
                    made.append(Neighbour(self.core, wire.outbox, self.known, self.say, address, self._patience, of))
                    return made[0]

                wire = _Dialled(self, make, gone)
                try:
                    await loop.create_connection(lambda wire=wire: wire, *address)  # type: ignore[misc]
                    await gone
                except OSError:
                    pass  # the neighbour is not there yet
                if made and made[0].refused:
                    seconds = _REFUSED_S
            await asyncio.sleep(seconds)

    async def _ticking(self) -> None:
        told = time.monotonic()
        while True:
            await asyncio.sleep(self._tick_s)
            self.take_time()
            if self._settings.statistics_s and time.monotonic() - told >= self._settings.statistics_s:
                told, core = time.monotonic(), self.core
                there = (link.peer for link in core.links.values() if link.outbox is not None)
                core.publish(statistics(core.name, core.counts, core.latencies, there))
            for wire in list(self._wires):
                wire.end.tick()
            self.flush_soon()

    async def _close_all(self) -> None:
        """Close all connections, clients' first, so that what this causes still goes to neighbours."""
        self._flush()
        for links in (False, True):
            for wire in list(self._wires):
                if wire.is_link is links and wire.transport is not None:
                    wire.transport.close()
            limit = time.monotonic() + _STOP_S
            while any(wire.is_link is links for wire in self._wires) and time.monotonic() < limit:
                await asyncio.sleep(0.01)
            self._flush()
        for wire in list(self._wires):
            if wire.transport is not None:
                wire.transport.abort()
        await asyncio.sleep(0)


class _Dialled(_Wire):
    """gone: set when the connection has ended."""

    def __init__(self, server: Server, make: Callable[[_Wire], _End], gone: asyncio.Future[None]) -> None:
        super().__init__(server, make, is_link=True)
        self._gone = gone

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        if not self._gone.done():
            self._gone.set_result(None)
