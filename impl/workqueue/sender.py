"""Sending groups of messages (Q-SENDER).

    sender = Sender(factory("sqlite:queue.db"))
    sender.begin_group(type=1, priority=1, correlation="timesheet of Ann")
    sender.send(b"...")
    sender.end_group()

One sender is for one thread at a time, and for group after group.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from scatterproof.impl.workqueue.stores.access import Factory, Opened, OutcomeUnknown, Refused, Unavailable
from scatterproof.spec.errors import BadInput


class Sender:
    """Puts groups into a store. server: under which its groups are locked; a receiver on the same machine may have the
    same. encode: what makes bytes of a body that is none; without it other bodies are refused. Bytes are stored as they
    are.

    `Refused` from a call means that the group is gone: it was cleaned away as a dead sender's. `Unavailable` means
    that nothing was done, and the call may be made again. After `OutcomeUnknown` from `send` the group can only be
    cancelled, since the message may be in it or not; from `end_group` it means that the group may be in the queue,
    whole, or may be left to cleaning."""

    def __init__(
        self, factory: Factory, server: str | None = None, encode: Callable[[Any], bytes] | None = None
    ) -> None:
        self._access = factory()
        self._server = socket.gethostname() if server is None else server
        self._encode = encode
        self._open: Opened | None = None
        self._in_doubt = False

    @property
    def number(self) -> int | None:
        """Of the group that is open."""
        return None if self._open is None else self._open.group

    def begin_group(self, type: int, priority: int, correlation: str, last: bool | None = None) -> int:
        """The number of a new group, locked for sending; its place in the queue is taken. Raises BadInput while a group
        is open, and for what no group may have.

        priority: 1 is the highest.
        last: True for the last group of its correlation; False for one that is processed only when the last one, begun
            after it, was ended (Q-CORR-LAST); None for one that waits for nothing."""
        self._absent()
        self._in_doubt = False
        self._open = self._access.open_group(
            type=type, priority=priority, correlation=correlation, server=self._server, last=last
        )
        return self._open.group

    def send(self, body: Any) -> int:
        """Add a message to the group; its id, from 1. It is durable when this returns, and visible after end_group."""
        opened, data = self._present("send"), self._bytes(body)
        if self._in_doubt:
            raise BadInput("it is not known whether the last message was stored: cancel the group, and begin anew")
        with self._ending():
            try:
                return self._access.send_message(opened.group, opened.token, data)
            except OutcomeUnknown:
                self._in_doubt = True
                raise

    def end_group(self) -> None:
        """Make the group's messages visible, all at once. A group without messages goes."""
        opened = self._present("end_group")
        if self._in_doubt:
            raise BadInput("it is not known whether the last message was stored: cancel the group, and begin anew")
        with self._ending():
            try:
                self._access.close_group(opened.group, opened.token)
            except OutcomeUnknown:
                self._open = None
                raise
        self._open = None

    def cancel_group(self) -> None:
        """Remove the group with all its messages."""
        opened = self._present("cancel_group")
        with self._ending():
            self._access.flush_group(opened.group, opened.token)
        self._open = None

    def send_group(
        self, type: int, priority: int, correlation: str, bodies: Iterable[Any], last: bool | None = None
    ) -> int:
        """Send a whole group in one step; its number. It is durable and visible when this returns; where that raises
        OutcomeUnknown it is there whole, or not at all. last: as of `begin_group`. BadInput while a group is open, and
        for no bodies."""
        self._absent()
        whole = [self._bytes(body) for body in bodies]
        return self._access.send_group(
            type=type, priority=priority, correlation=correlation, server=self._server, bodies=whole, last=last
        )

    @contextmanager
    def group(
        self, type: int, priority: int, correlation: str, last: bool | None = None
    ) -> Iterator[Callable[[Any], int]]:
        """A group as a context, with `send`: ended where the block ends, cancelled where it raises. last: as of
        `begin_group`."""
        self.begin_group(type, priority, correlation, last)
        whole = False
        try:
            yield self.send
            whole = True
        finally:
            if not whole and self._open is not None:
                # What the block raised is to be heard; the group is left to cleaning.
                with suppress(Refused, Unavailable, OutcomeUnknown):
                    self.cancel_group()
                self._open = None
        if self._open is not None:
            self.end_group()

    def close(self) -> None:
        """Give up the connection. A group that is still open is left to cleaning."""
        self._access.close()

    def _absent(self) -> None:
        if self._open is not None:
            raise BadInput(f"group {self._open.group} is still open: end or cancel it before another one is begun")

    def _present(self, call: str) -> Opened:
        if self._open is None:
            raise BadInput(f"{call}: no group is open; begin one first")
        return self._open

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """A refused call ends the group: it is not this sender's any more."""
        try:
            yield
        except Refused:
            self._open = None
            raise

    def _bytes(self, body: Any) -> bytes:
        if isinstance(body, bytes | bytearray | memoryview):
            return bytes(body)
        if self._encode is None:
            raise BadInput(f"a body is of type {body.__class__.__name__}; give bytes, or give the sender an encoder")
        return self._encode(body)
