"""Drives Redis as a queue, in drawn runs: streams with a consumer group, and lists. A group is a stream, or a list.

The server writes each command to its file before it answers, and is killed now and then. A stream's entry that a
consumer has held for longer than the lease is claimed ahead of new ones. Giving an entry back claims it as idle for
that long.
"""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.serving import LOOPBACK, Served, program
from scatterproof.conformance.workqueue.products.embedded import Library, Move, Step, drawn, playing
from scatterproof.conformance.workqueue.products.history import vocabulary
from scatterproof.conformance.workqueue.products.polled import GROUPS
from scatterproof.conformance.workqueue.products.redis_server import NEEDS as REDIS
from scatterproof.conformance.workqueue.products.redis_server import redis_server
from scatterproof.spec.topology import NodeId

ALWAYS = ("--save", "", "--appendonly", "yes", "--appendfsync", "always")
WORKERS = "workers"


class Redis(Library):
    module = "redis"

    def __init__(self, served: Served, name: str, lease_s: float) -> None:
        self._served, self._name, self._is_begun = served, name, False
        super().__init__(Path(), lease_s)

    def open_all(self) -> dict[int, Any]:
        if self._is_begun:
            self._served.kill()
            self._served.begin()
        client = self.imported.Redis(LOOPBACK, self._served.port, decode_responses=True)
        self.opened.append(client)
        self.queues = dict.fromkeys(GROUPS, client)
        if not self._is_begun:
            self.prepare(client)
        self._is_begun = True
        return self.queues

    def prepare(self, client: Any) -> None:
        pass

    def open(self, group: int) -> Any:
        raise NotImplementedError

    def key(self, group: int) -> str:
        return f"{self._name}-{group}"


class Streams(Redis):
    has_leases = True

    def prepare(self, client: Any) -> None:
        for group in GROUPS:
            client.xgroup_create(self.key(group), WORKERS, id="0", mkstream=True)

    @property
    def _idle_ms(self) -> int:
        return int(self.lease_s * 1000)

    def put(self, group: int, body: str) -> None:
        self.queues[group].xadd(self.key(group), {"body": body})

    def take(self, group: int, node: NodeId) -> tuple[str, Any] | None:
        client, key = self.queues[group], self.key(group)
        found = client.xautoclaim(key, WORKERS, f"c{node}", self._idle_ms, "0-0", count=1)[1]
        if not found:
            read = client.xreadgroup(WORKERS, f"c{node}", {key: ">"}, count=1)
            found = read[0][1] if read else []
        return (found[0][1]["body"], (found[0][0], node)) if found else None

    def delete(self, group: int, handle: Any) -> bool:
        return bool(self.queues[group].xack(self.key(group), WORKERS, handle[0]))

    def give_back(self, group: int, handle: Any) -> bool:
        return self._claim(group, handle, self._idle_ms)

    def extend(self, group: int, handle: Any) -> bool:
        return self._claim(group, handle, 0)

    def _claim(self, group: int, handle: Any, idle_ms: int) -> bool:
        name, node = handle
        client = self.queues[group]
        return bool(client.xclaim(self.key(group), WORKERS, f"c{node}", 0, [name], idle=idle_ms, justid=True))


class Lists(Redis):
    """Taking a message moves it to the consumer's own list."""

    def put(self, group: int, body: str) -> None:
        self.queues[group].rpush(self.key(group), body)

    def take(self, group: int, node: NodeId) -> tuple[str, Any] | None:
        hand = f"{self.key(group)}-{node}"
        body = self.queues[group].lmove(self.key(group), hand, "LEFT", "RIGHT")
        return None if body is None else (body, (hand, body))

    def delete(self, group: int, handle: Any) -> bool:
        return bool(self.queues[group].lrem(handle[0], 1, handle[1]))

    def give_back(self, group: int, handle: Any) -> bool:
        return bool(self.queues[group].lmove(handle[0], self.key(group), "RIGHT", "LEFT") == handle[1])


@dataclass(frozen=True, slots=True)
class QueueKind:
    name: str
    text: str
    library: type[Redis]

    @contextmanager
    def serve(self, folder: Path) -> Iterator[Play]:
        told = subprocess.run([program("redis-server") or "", "--version"], capture_output=True, text=True, check=False)
        version = next(word for word in told.stdout.split() if word.startswith("v=")).removeprefix("v=")
        with redis_server(folder, ALWAYS) as served:
            yield playing(lambda name, seconds: self.library(served, name, seconds), f"Redis {version}")


KINDS = (
    QueueKind("redis-streams", "streams of Redis with a consumer group", Streams),
    QueueKind("redis-lists", "lists of Redis", Lists),
)


NEEDS = REDIS + Needs(pypi=("redis",))


def why_not() -> str | None:
    lacking = [] if program("redis-server") else ["redis-server"]
    lacking += [] if importlib.util.find_spec("redis") else ["redis"]
    return NEEDS.why_not(lacking)


def product(kind: QueueKind) -> Product:
    return Product(
        name=kind.name,
        text=kind.text,
        profile=Path(__file__).with_name(f"{kind.name}.toml"),
        why_not=why_not,
        needs=NEEDS,
        serve=kind.serve,
        # No mistake is known. Anybody may acknowledge an entry, so late calls are not refused.
        steps=lambda seed, quiet: drawn(seed, kind.library.has_leases, is_fenced=False),
        errors=("redis.RedisError",),
        vocabulary=vocabulary(Move, Step),
    )


PRODUCTS = tuple(map(product, KINDS))
