"""Hand-written mutants of the queue: literal rules of the source document, rules wrong in other ways that no single
change makes, and stores and clients that spoil what right rules decided."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace as replace_fields
from typing import Any

from msgspec.structs import replace

from scatterproof.fuzz.protocol import HandMutant, changed_rules
from scatterproof.impl.workqueue import RULES, Rules, Store, make_core
from scatterproof.impl.workqueue.literal_rules import LITERAL
from scatterproof.impl.workqueue.storage import Storage, StoredGroup
from scatterproof.spec.core import NodeConfig, Outcome
from scatterproof.spec.topology import Role
from scatterproof.spec.workqueue.messages import CallName, Packet

Change = Callable[[Packet], Packet]


def _by_rules(name: str, sentence: str, rules: Rules) -> HandMutant:
    return HandMutant(name, sentence, lambda config: make_core(config, rules), changed_rules(rules, RULES))


def _rule(name: str, sentence: str, function: Callable[..., Any]) -> HandMutant:
    """name: the rule, and how the function in its place is wrong."""
    return _by_rules(name, sentence, replace_fields(RULES, **{name.partition("/")[0]: function}))


def _store(name: str, sentence: str, kind: type[Store]) -> HandMutant:
    """Another store."""

    def make_node(config: NodeConfig) -> Any:
        return kind(config, RULES) if config.role is Role.HOST else make_core(config)

    return HandMutant(name, sentence, make_node)


def _answers(name: str, sentence: str, call: CallName, change: Change) -> HandMutant:
    """Answers that say ok to this call are changed, also when they are repeated."""

    class Changed(Store):
        def _carry_out(self, asked: Packet, now: int) -> Packet:
            answer = super()._carry_out(asked, now)
            return change(answer) if answer.call == call and answer.outcome == Outcome.OK else answer

    return _store(name, sentence, Changed)


class _Forgetful(Store):
    """Its disk is empty after a restart."""

    @property
    def kept(self) -> Storage:
        return Storage()


class _Late(Store):
    """It stores what a call did when the next one comes."""

    _stored = Storage()

    def _carry_out(self, asked: Packet, now: int) -> Packet:
        self._stored = deepcopy(self._all)
        return super()._carry_out(asked, now)

    @property
    def kept(self) -> Storage:
        return self._stored


class _ForgetsAnswers(Store):
    """What it answered is not on its disk."""

    @property
    def kept(self) -> Storage:
        return replace_fields(self._all, answered={})


class _Hoarding(Store):
    """It never removes a finished group."""

    def _pop_group(self, asked: Packet, group: StoredGroup) -> Packet:
        before = deepcopy(group)
        answer = super()._pop_group(asked, group)
        self._all.groups.setdefault(group.number, before)
        return answer


class _Shows(Store):
    """It shows an open group when its second message is sent."""

    def _send_message(self, asked: Packet, group: StoredGroup) -> Packet:
        answer = super()._send_message(asked, group)
        if group.last == 2:
            return replace(super()._close_group(asked, group), message=group.last, payload=b"")
        return answer


class _Swaps(Store):
    """It reads the last message first."""

    def _read_message(self, asked: Packet, group: StoredGroup) -> Packet:
        answer = super()._read_message(asked, group)
        last = max(group.messages, default=0)
        if answer.message < 1 or last == answer.message:
            return answer
        return replace(answer, message=last, payload=group.messages[last].body)


class _Cancels(Store):
    """A cancelled group is closed instead."""

    def _flush_group(self, asked: Packet, group: StoredGroup) -> Packet:
        return super()._close_group(asked, group)


class _Takes(Store):
    """It takes messages of a group that is closed."""

    def _carry_out(self, asked: Packet, now: int) -> Packet:
        group = self._all.groups.get(asked.group)
        if asked.call == CallName.SEND_MESSAGE and group is not None:
            return self._send_anyway(asked, group)
        return super()._carry_out(asked, now)

    def _send_anyway(self, asked: Packet, group: StoredGroup) -> Packet:
        lock, group.lock = group.lock, group.lock.SEND
        answer = super()._send_message(asked, group)
        group.lock = lock
        return answer


class _KeepsPopped(Store):
    """It says that a message was popped, and keeps it."""

    def _pop_message(self, asked: Packet, group: StoredGroup) -> Packet:
        before = dict(group.messages)
        answer = super()._pop_message(asked, group)
        group.messages = before
        return answer


class _CleansAll(Store):
    """Cleaning removes groups that are closed, too."""

    def _clean(self, asked: Packet, now: int) -> Packet:
        ready = [group.number for group in self._all.groups.values() if not group.lock]
        answer = super()._clean(asked, now)
        for number in ready if asked.senders_before > 0 else ():
            del self._all.groups[number]
        return replace(answer, removed=answer.removed + len(ready))


class _CleansHalf(Store):
    """Cleaning says that it removed groups, and lets their senders go on."""

    def _clean(self, asked: Packet, now: int) -> Packet:
        before = dict(self._all.groups)
        answer = super()._clean(asked, now)
        self._all.groups = before
        return answer


def _place(standing: Any) -> int:
    return int(standing.place)


def _received(receiving: bool, own: bool) -> bool:
    return receiving


MUTANTS: tuple[HandMutant, ...] = (
    *(_by_rules(f"literal/{name}", f"The document's own rule: {name}.", rules) for name, rules in LITERAL.items()),
    _rule("is_ready/always", "A send-locked group is handed out.", lambda send_locked: True),
    _rule(
        "is_listed/always", "A correlation is looked at while a group of it is at work.", lambda receive_locked: True
    ),
    _rule("is_listed/never", "Nothing is ever handed out.", lambda receive_locked: False),
    _rule("is_complete/never", "Nothing that waits for the last group goes on.", lambda waits, last_came: not waits),
    _rule("rank/lowest-first", "The lowest priority comes first.", lambda priority, place: (-priority, place)),
    _rule("rank/last-first", "Of one priority the last comes first.", lambda priority, place: (priority, -place)),
    _rule("head_of/last", "Of a correlation the last group comes first.", lambda groups: max(groups, key=_place)),
    _rule("is_dead/never", "Nobody is ever taken for dead.", lambda heard_ns, before_ns: False),
    _rule("is_dead/always", "Everybody is always taken for dead.", lambda heard_ns, before_ns: True),
    _rule(
        "sets_aside/at-once", "A message that was tried once is set aside.", lambda tries, most: most > 0 and tries > 0
    ),
    _rule("is_freed/all", "A start releases the receive locks of all servers.", _received),
    _rule("next_token/fixed", "All locks have one token.", lambda token: 1),
    _rule("next_token/falls", "Tokens fall.", lambda token: token - 1),
    _store("store/forgets", "The store's disk is empty after a crash.", _Forgetful),
    _store("store/stores-late", "The store answers before it has stored.", _Late),
    _store("store/forgets-answers", "What was answered is not stored.", _ForgetsAnswers),
    _store("store/hoards", "A finished group stays.", _Hoarding),
    _store("store/shows-parts", "A group can be seen before it is closed.", _Shows),
    _store("store/last-first", "The last message is read first.", _Swaps),
    _store("store/closes-cancelled", "A cancelled group is closed.", _Cancels),
    _store("store/takes-late-messages", "A closed group takes messages.", _Takes),
    _store("store/keeps-popped", "A popped message stays.", _KeepsPopped),
    _store("store/cleans-closed", "Cleaning removes closed groups.", _CleansAll),
    _store("store/cleans-in-words", "Cleaning removes nothing, and says that it did.", _CleansHalf),
    _answers("answer/other-body", "Bodies are changed.", CallName.READ_MESSAGE, lambda one: replace(one, payload=b"?")),
    _answers(
        "answer/other-priority",
        "A worker is told another priority.",
        CallName.NEXT_GROUP,
        lambda one: replace(one, priority=one.priority + 1),
    ),
    _answers(
        "answer/first-try",
        "Each try is said to be the first.",
        CallName.READ_MESSAGE,
        lambda one: replace(one, retries=1),
    ),
    _answers(
        "answer/one-group", "All groups get the number 1.", CallName.OPEN_GROUP, lambda one: replace(one, group=1)
    ),
    _answers(
        "answer/refuses",
        "Pops are said to be refused.",
        CallName.POP_MESSAGE,
        lambda one: replace(one, outcome=int(Outcome.REFUSED)),
    ),
)
