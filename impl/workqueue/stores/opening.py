"""A store from its address.

sqlite:PATH                a file on this machine
postgresql://USER@HOST/DB  a server; as libpq has it, options too
memory:                    in this process alone
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from scatterproof.impl.workqueue.stores.access import Access, Factory
from scatterproof.impl.workqueue.stores.memory import MemoryStore
from scatterproof.spec.errors import BadInput

FORMS = "sqlite:PATH, postgresql://USER@HOST/DATABASE, or memory:"


def factory(address: str) -> Factory:
    """What makes accesses to the store; nothing is opened yet. BadInput for an address of another form."""
    kind, _, place = address.partition(":")
    if kind == "sqlite" and place:
        from scatterproof.impl.workqueue.stores.sqlite import sqlite_store

        return partial(sqlite_store, Path(place))
    if kind in ("postgresql", "postgres") and place.startswith("//"):
        return partial(_postgresql, address)
    if address == "memory:":
        store = MemoryStore()
        return lambda: store
    raise BadInput(f"store {address!r} is of no known form; give {FORMS}")


def is_there(address: str) -> bool:
    """False where the queue would be a new file."""
    kind, _, place = address.partition(":")
    return kind != "sqlite" or Path(place).exists()


def _postgresql(address: str) -> Access:
    # Late: its package is an extra.
    from scatterproof.impl.workqueue.stores.postgresql import postgresql_store

    return postgresql_store(address)
