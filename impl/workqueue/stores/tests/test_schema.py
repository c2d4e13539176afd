"""The indexes and versions of the tables, on SQLite."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from scatterproof.impl.workqueue.stores import schema
from scatterproof.impl.workqueue.stores.opening import factory


def indexes(path: Path) -> dict[str, str]:
    with sqlite3.connect(path) as database:
        return dict(database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"))


def test_no_index_has_what_changes_with_every_message(tmp_path: Path) -> None:
    path = tmp_path / "queue.db"
    factory(f"sqlite:{path}")().close()
    found = indexes(path)
    assert "scatterproof_sending" in found
    assert not [name for name, text in found.items() if "used_ns" in text]


def test_tables_of_an_earlier_version_are_brought_to_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, now = tmp_path / "queue.db", tmp_path / "now.db"
    with monkeypatch.context() as earlier:
        earlier.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        earlier.setattr(schema, "VERSION", 1)
        factory(f"sqlite:{path}")().close()
    assert "used_ns" in indexes(path)["scatterproof_sending"]
    with sqlite3.connect(path) as database:
        database.execute(f"INSERT INTO scatterproof_groups VALUES (1, 0, 1, 'c', 's', {schema.READY}, 1, 3, 2, 0)")
        database.executemany("INSERT INTO scatterproof_messages VALUES (1, ?, ?, CAST('x' AS BLOB))", [(2, 4), (3, 0)])
    store = factory(f"sqlite:{path}")()
    factory(f"sqlite:{now}")().close()
    assert indexes(path) == indexes(now)
    waits = store.send_group(type=0, priority=1, correlation="d", server="s", bodies=[b"x"], last=False)
    group = store.next_group("r")
    assert group is not None
    read = [store.read_message(1, group.token), store.pop_and_read(1, group.token, 2)]
    assert [(message.message, message.retries) for message in read if message] == [(2, 5), (3, 1)]
    assert store.next_group("r") is None
    store.send_group(type=0, priority=1, correlation="d", server="s", bodies=[b"x"], last=True)
    after = store.next_group("r")
    assert after is not None
    assert after.group == waits
    store.close()
