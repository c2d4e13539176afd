"""A worker of procrastinate. It writes `ready` to stdout, and then the body of each job that it begins. The next line
of stdin decides how the job ends: it fails on `fail`, else it is done. Arguments: the database's address, and after how
many seconds a worker counts as stalled."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys

TASK, READY = "work", "ready"
POLL_S, BEATS = 0.1, 6


async def job(body: str) -> None:
    print(body, flush=True)
    line = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    if not line:
        os._exit(0)
    if line.strip() == "fail":
        raise RuntimeError(f"{body} was to fail")


def main(address: str, stalled_s: float) -> None:
    procrastinate = importlib.import_module("procrastinate")
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=address))
    # A job that fails is tried again at once, without limit.
    app.task(name=TASK, retry=True)(job)
    with app.open():
        print(READY, flush=True)
        app.run_worker(
            fetch_job_polling_interval=POLL_S,
            update_heartbeat_interval=stalled_s / BEATS,
            stalled_worker_timeout=stalled_s,
        )


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
