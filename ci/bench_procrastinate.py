"""The queue's messages through procrastinate, another queue on PostgreSQL: it carries out jobs with one lock one after
the other, like groups of one correlation."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
import time
from contextlib import suppress
from typing import Any


def why_not() -> str | None:
    """Why it cannot be measured here; None where it can."""
    found = importlib.util.find_spec("procrastinate") is not None
    return None if found else "there is no procrastinate; install it of PyPI into this environment"


def seconds(address: str, workers: int, correlations: int, messages: int, in_group: int, body: bytes) -> float:
    """Wall seconds from the first job deferred to the last one carried out; connecting is not counted. As many senders
    as workers, in one process."""
    return asyncio.run(_seconds(address, workers, correlations, messages, in_group, body.decode()))


async def _seconds(address: str, workers: int, correlations: int, messages: int, in_group: int, body: str) -> float:
    procrastinate: Any = importlib.import_module("procrastinate")
    logging.getLogger("procrastinate").setLevel(logging.ERROR)
    connector = procrastinate.PsycopgConnector(conninfo=address, min_size=1, max_size=2 * workers + 2)
    app, left, done = procrastinate.App(connector=connector), 0, asyncio.Event()

    @app.task(name="count")  # type: ignore[untyped-decorator]
    async def count(body: str) -> None:
        nonlocal left
        left -= 1
        if not left:
            done.set()

    async def send(first: int, some: int) -> None:
        for number in range(first, some, workers):
            await count.configure(lock=f"c{number // in_group % correlations}").defer_async(body=body)

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        working = asyncio.create_task(
            app.run_worker_async(
                concurrency=workers,
                install_signal_handlers=False,
                fetch_job_polling_interval=0.01,
                delete_jobs="successful",
            )
        )
        spent = 0.0
        for left in (2 * workers * in_group, messages):
            done.clear()
            start = time.monotonic()
            await asyncio.gather(*(send(first, left) for first in range(workers)), done.wait())
            spent = time.monotonic() - start
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
        return spent
