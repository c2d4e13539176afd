"""The cache engine: what must outlive the appliance, in a file of SQLite.

What the core wrote down is stored in one synced transaction; only then the driver sends anything that says so. One
process at a time has the file.

Clauses: PS-PERSISTED, PS-QOS-GD, PS-RETAIN.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from scatterproof.impl.pubsub.running.ledger import Change, Kept, KeptLink, KeptSession
from scatterproof.impl.pubsub.translation.messages import Message
from scatterproof.spec.errors import BadInput, CannotRun

_VERSION = 3
_SCHEMA = """
CREATE TABLE appliance (version INTEGER NOT NULL, incarnation TEXT NOT NULL);
CREATE TABLE messages (number INTEGER PRIMARY KEY, topic TEXT NOT NULL, payload BLOB NOT NULL, level INTEGER NOT NULL,
  retain INTEGER NOT NULL, reply TEXT NOT NULL, made_ns INTEGER NOT NULL, origin TEXT NOT NULL);
CREATE TABLE passed (origin TEXT PRIMARY KEY, made_ns INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE configuration (one INTEGER PRIMARY KEY CHECK (one = 1), contents TEXT NOT NULL);
CREATE TABLE sessions (name TEXT PRIMARY KEY, user TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE subscriptions (session TEXT, filter TEXT, shared TEXT, level INTEGER NOT NULL, hides INTEGER NOT NULL,
  PRIMARY KEY (session, filter, shared)) WITHOUT ROWID;
CREATE TABLE waiting (session TEXT, place INTEGER, level INTEGER NOT NULL, packet INTEGER NOT NULL,
  released INTEGER NOT NULL, retained INTEGER NOT NULL, shared TEXT NOT NULL, message INTEGER NOT NULL,
  PRIMARY KEY (session, place)) WITHOUT ROWID;
CREATE TABLE received (session TEXT, packet INTEGER, PRIMARY KEY (session, packet)) WITHOUT ROWID;
CREATE TABLE retained (topic TEXT PRIMARY KEY, payload BLOB NOT NULL, level INTEGER NOT NULL, made_ns INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE links (peer TEXT PRIMARY KEY, incarnation TEXT NOT NULL, taken INTEGER NOT NULL,
  sent INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE wants (peer TEXT, filter TEXT, shared TEXT, PRIMARY KEY (peer, filter, shared)) WITHOUT ROWID;
CREATE TABLE unheard (peer TEXT, serial INTEGER, plain INTEGER NOT NULL, shared TEXT NOT NULL, message INTEGER NOT NULL,
  PRIMARY KEY (peer, serial)) WITHOUT ROWID;
"""
_OF_SESSION = ("subscriptions", "waiting", "received")
_STATEMENTS: dict[str, tuple[str, ...]] = {
    "put_message": ("INSERT INTO messages VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",),
    "drop_message": ("DELETE FROM messages WHERE number = ?1",),
    "put_session": ("INSERT INTO sessions VALUES (?1, ?2)",),
    "drop_session": (
        "DELETE FROM sessions WHERE name = ?1",
        *(f"DELETE FROM {table} WHERE session = ?1" for table in _OF_SESSION),
    ),
    "put_subscription": ("INSERT OR REPLACE INTO subscriptions VALUES (?1, ?2, ?3, ?4, ?5)",),
    "drop_subscription": ("DELETE FROM subscriptions WHERE session = ?1 AND filter = ?2 AND shared = ?3",),
    "put_waiting": ("INSERT INTO waiting VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7)",),
    "drop_waiting": ("DELETE FROM waiting WHERE session = ?1 AND place = ?2",),
    "sent": ("UPDATE waiting SET packet = ?3 WHERE session = ?1 AND place = ?2",),
    "released": ("UPDATE waiting SET released = 1 WHERE session = ?1 AND place = ?2",),
    "put_received": ("INSERT OR IGNORE INTO received VALUES (?1, ?2)",),
    "drop_received": ("DELETE FROM received WHERE session = ?1 AND packet = ?2",),
    "put_retained": ("INSERT OR REPLACE INTO retained VALUES (?1, ?2, ?3, ?4)",),
    "drop_retained": ("DELETE FROM retained WHERE topic = ?1",),
    "put_configuration": ("INSERT OR REPLACE INTO configuration VALUES (1, ?1)",),
    "put_link": (
        "INSERT INTO links (peer, incarnation, taken) VALUES (?1, ?2, ?3)"
        " ON CONFLICT (peer) DO UPDATE SET incarnation = ?2, taken = ?3",
    ),
    "put_passed": ("INSERT OR REPLACE INTO passed VALUES (?1, ?2)",),
    "put_want": ("INSERT OR IGNORE INTO wants VALUES (?1, ?2, ?3)",),
    "drop_want": ("DELETE FROM wants WHERE peer = ?1 AND filter = ?2 AND shared = ?3",),
    "put_unheard": ("INSERT INTO unheard VALUES (?1, ?2, ?3, ?4, ?5)",),
    "put_sent": ("UPDATE links SET sent = ?2 WHERE peer = ?1",),
    "drop_unheard": ("DELETE FROM unheard WHERE peer = ?1 AND serial = ?2",),
}


class StoreTaken(CannotRun):
    """Another process has the file open."""


class Store:
    """An open store. Raises BadInput for a file of another kind or version, StoreTaken where another process has it,
    CannotRun where it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._database = sqlite3.connect(path, isolation_level=None, timeout=0)
            for pragma in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL"):
                self._database.execute(f"PRAGMA {pragma}")
            self._database.execute("BEGIN IMMEDIATE")
            if not self._database.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in _SCHEMA.split(";\n"):
                    self._database.execute(statement)
                made = "INSERT INTO appliance VALUES (?, ?)"
                self._database.execute(made, (_VERSION, secrets.token_hex(8)))
            self._database.execute("COMMIT")
            found = self._database.execute("SELECT version, incarnation FROM appliance").fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                raise BadInput(f"{path} is a database of something else; name another file") from None
            if "locked" in str(error):
                raise StoreTaken(f"{path} cannot be opened: another process has it open") from None
            raise CannotRun(f"{path} cannot be opened: {error}") from None
        except sqlite3.DatabaseError:
            raise BadInput(f"{path} is no database of an appliance; name another file") from None
        if found is None or found[0] != _VERSION:
            raise BadInput(f"{path} was made by another version of the appliance; name another file")
        self._incarnation = str(found[1])

    def load(self) -> Kept:
        kept = Kept(self._incarnation)
        rows = self._database.execute
        for number, topic, payload, level, retain, reply, made_ns, origin in rows("SELECT * FROM messages"):
            kept.messages[number] = Message(topic, payload, level, bool(retain), reply, made_ns, origin)
        kept.passed = dict(rows("SELECT * FROM passed").fetchall())
        kept.sessions = {name: KeptSession(user) for name, user in rows("SELECT name, user FROM sessions")}
        kept.configuration = next((text for (text,) in rows("SELECT contents FROM configuration")), None)
        for session, filter_, shared, level, hides in rows("SELECT * FROM subscriptions"):
            kept.sessions[session].subscribed.append((filter_, shared, level, bool(hides)))
        for session, place, level, packet, released, retained, shared, message in rows("SELECT * FROM waiting"):
            one = place, level, packet, bool(released), bool(retained), shared, message
            kept.sessions[session].waiting.append(one)
        for session, packet in rows("SELECT * FROM received"):
            kept.sessions[session].received.add(packet)
        for topic, payload, level, made_ns in rows("SELECT * FROM retained"):
            kept.retained.append(Message(topic, payload, level, True, "", made_ns))
        for peer, incarnation, taken, sent in rows("SELECT * FROM links"):
            kept.links[peer] = KeptLink(incarnation, taken, sent)
        for peer, filter_, shared in rows("SELECT * FROM wants"):
            kept.links[peer].wants.append((filter_, shared))
        for peer, serial, plain, shared, message in rows("SELECT * FROM unheard ORDER BY peer, serial"):
            kept.links[peer].unheard.append((serial, bool(plain), shared, message))
        return kept

    def apply(self, changes: Iterable[Change]) -> None:
        """Store all changes or none. Raises CannotRun where the disk does not take them."""
        execute = self._database.execute
        try:
            execute("BEGIN")
            for name, values in changes:
                for statement in _STATEMENTS[name]:
                    execute(statement, values)
            execute("COMMIT")
        except sqlite3.Error as error:
            raise CannotRun(f"{self._path} cannot be written: {error}") from None

    def close(self) -> None:
        self._database.close()
