"""One group through one worker (figure 5 of the source; Q-ONCE, Q-RETRY, Q-POISON)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Event
from types import TracebackType

from scatterproof.impl.workqueue.handling import Context, Counters, Handler
from scatterproof.impl.workqueue.stores.access import (
    Access,
    GroupMessage,
    LockedGroup,
    OutcomeUnknown,
    Refused,
    Taken,
    Unavailable,
    refused,
)


@dataclass(frozen=True, slots=True)
class Policy:
    """retry_ms: how long a worker waits before it tries again, where the handler does not say; the same where the store
        cannot be reached.
    tries: after how many a message is set aside; 0 for never, so that it blocks its correlation, as the source has it.
    """

    retry_ms: float = 1000.0
    tries: int = 0


class Death:
    """As a context, takes what a handler raises: it ends the worker, not the receiver. Interrupts go through."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __enter__(self) -> Death:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if isinstance(error, Exception):
            self.error = self.error or error
            return True
        return False


class Work:
    """Takes a group that is held to its end, or gives it back. server: under which it is held. stopping: set when the
    worker is to end; it then does so after the message in hand. may_go_on: whether it may take another group."""

    def __init__(
        self,
        access: Access,
        handler: Handler,
        policy: Policy,
        counters: Counters,
        server: str,
        stopping: Event,
        may_go_on: Callable[[], bool],
    ) -> None:
        self._access, self._handler, self._policy = access, handler, policy
        self._counters, self._server, self._stopping, self._may_go_on = counters, server, stopping, may_go_on
        self._following: Taken | None = None
        self._has_begun = False  # the message that was read last

    def group(self, group: LockedGroup, first: GroupMessage | None) -> tuple[Exception | None, Taken | None]:
        """What a handler raised, or None; and what was taken next, None where nothing was asked for. first: its first
        message, which was read; None where all were dequeued. Whatever happens, the lock is not kept: the group is
        removed, or given back, or is not ours any more."""
        context, death = Context(group.group_retries, self._policy.retry_ms), Death()
        finished, is_ours = False, True
        self._following, self._has_begun = None, False
        with death:
            self._handler.start_group(group, context)
        try:
            finished = death.error is None and (first is None or self._messages(group, first, context, death))
        except Refused:
            self._counters.add("refused")
            is_ours = False
        except (Unavailable, OutcomeUnknown):
            self._counters.add("store_errors")
        with death:
            self._handler.end_group(group)
        if death.error is not None:
            self._counters.add("died")
        if is_ours and finished and self._insist(partial(self._finish, group)):
            self._counters.add("groups_finished")
        elif is_ours and not finished:
            if death.error is not None:
                self._stopping.wait(context.sleep_before_retry_ms / 1000)
            unread = not self._has_begun
            self._insist(partial(self._access.release_group, group.group, group.token, unread=unread))
        return death.error, self._following

    def _finish(self, group: LockedGroup) -> None:
        """Remove the group, and take the next one where that may be. Raises Refused as `pop_group` does."""
        if not self._may_go_on():
            self._access.pop_group(group.group, group.token)
            return
        self._following = self._access.take(self._server, (group.group, group.token))
        if not self._following.finished:
            raise refused("take", group.group, group.token)

    def _messages(self, group: LockedGroup, first: GroupMessage, context: Context, death: Death) -> bool:
        """Process message after message, until a handler raises; whether all are done."""
        tries = self._policy.tries
        message: GroupMessage | None = first
        while not self._stopping.is_set() and death.error is None:
            message = message or self._access.read_message(group.group, group.token)
            if message is None:
                return True
            tried, message = message, None
            if tries and tried.retries > tries:
                self._set_aside(group, tried, "its worker died, or was stopped, in the last of them")
                continue
            context.retries, context.sleep_before_retry_ms = tried.retries, self._policy.retry_ms
            is_done, self._has_begun = False, True
            with death:
                is_done = self._handler.process(tried, group, context)
            if is_done:
                message, is_last = self._dequeue(group, tried)
                self._has_begun = False
                if is_last:
                    return True
                continue
            self._counters.add("failed")
            if tries and tried.retries >= tries:
                error = death.error
                why = "the handler returned false" if error is None else f"{type(error).__name__}: {error}"
                self._set_aside(group, tried, why)
            elif death.error is None:
                self._stopping.wait(context.sleep_before_retry_ms / 1000)
        return False

    def _dequeue(self, group: LockedGroup, message: GroupMessage) -> tuple[GroupMessage | None, bool]:
        """Take the message off the queue; the next one, and whether there is none. One that will not be processed is
        not read: that would count as a try."""
        if self._stopping.is_set():
            self._access.pop_message(group.group, group.token, message.message)
            following, is_last = None, False
        else:
            following = self._access.pop_and_read(group.group, group.token, message.message)
            is_last = following is None
        self._counters.add("processed")
        return following, is_last

    def _set_aside(self, group: LockedGroup, message: GroupMessage, why: str) -> None:
        reason = f"given up after {self._policy.tries} tries: {why}"
        self._access.set_aside_message(group.group, group.token, message.message, reason)
        self._counters.add("set_aside")

    def _insist(self, call: Callable[[], None]) -> bool:
        """Make the call until the store has done it, or refuses it, or until the worker is to end: one try more then,
        and what is not given back is released at the next start, or by cleaning."""
        while True:
            last = self._stopping.is_set()
            try:
                call()
                return True
            except Refused:
                self._counters.add("refused")
                return False
            except (Unavailable, OutcomeUnknown):
                self._counters.add("store_errors")
                if last:
                    return False
                self._stopping.wait(self._policy.retry_ms / 1000)
