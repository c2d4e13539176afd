"""A queue with leases: the runs that are drawn, and hand-written mutants of its rules, stores and answers."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace as replace_fields
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from msgspec.structs import replace

from scatterproof.conformance.case_files import spread
from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.workqueue.lease_episodes import KINDS, step
from scatterproof.fuzz.protocol import HandMutant, changed_rules
from scatterproof.fuzz.strategies import delays
from scatterproof.fuzz.workqueue.strategies import failures, faults
from scatterproof.impl.workqueue import LEASE_RULES, LeaseRules, LeaseStore, make_core
from scatterproof.impl.workqueue.lease_store import LeaseStorage, Message
from scatterproof.spec.schedule import Call, Schedule
from scatterproof.spec.topology import Role
from scatterproof.spec.workqueue.messages import Packet

GROUP = 1
"""The place of its rules among the groups of the plugin."""
_MAX_CLIENTS, _MAX_STEPS, _MAX_GAP_NS, _STEP = 4, 24, 40, 4
_LEASES_NS = (40, 90, 400)
LEFT_OUT = {
    **dict.fromkeys(
        ("is_seen", "is_held", "extended"),
        "a tie of two times of the store's clock shows nowhere: those that show are tried by hand",
    ),
    "key_of": "what it gives is compared alone, and moved by one it compares alike: other keys are tried by hand",
    "batch_of": "fewer may come than are there: that none comes, and all whoever asks for fewer, is tried by hand",
    "next_receipt": "that receipts differ is all that a clause says: `next_receipt/fixed` is tried by hand",
    "back": "what it gives is compared alone, and moved by one it compares alike: `back/at-the-end` is tried by hand",
    "is_good": "a clause says nothing of a late call where nobody else has the message: `is_good/any` is tried by hand",
}


@st.composite
def _runs(draw: DrawFn) -> Schedule:
    """The store's clock does not drift, as leases are measured by it."""
    network = served(draw(st.integers(2, _MAX_CLIENTS)))
    clients = network.clients()
    numbers = draw(st.binary(min_size=1 + _STEP * _MAX_STEPS, max_size=1 + _STEP * _MAX_STEPS))
    made: list[Call] = []
    now = 0
    for number in range(6 + numbers[0] % (_MAX_STEPS - 5)):
        kind, who, gap, more = numbers[1 + _STEP * number :][:_STEP]
        now += gap % _MAX_GAP_NS
        made += step(kind % KINDS if number > 1 else 0, now, clients[who % len(clients)], more, _LEASES_NS)
    calls = spread(sorted(made, key=lambda one: one.time_ns), draw(st.sampled_from([0, 6, 30])))
    return Schedule(
        protocol="workqueue",
        topology=network,
        delays=draw(delays(network)),
        submissions=(),
        calls=calls,
        parameters={
            "retry_ns": draw(st.sampled_from([20, 50])),
            "tries": draw(st.integers(1, 4)),
            "leased": 1,
            "window_ns": draw(st.sampled_from([100, 400, 10_000])),
            "by_group": draw(st.integers(0, 1)),
            "back_order": (0, 0, 1, 2)[numbers[0] // 32 % 4],
            "one_consumer": numbers[0] // 128,
            "batches": (0, 1, 2)[numbers[1] % 3],
            "most_tries": (0, 0, 1, 2)[numbers[1] // 3 % 4],
        },
        faults=draw(faults(len(network.links))),
        failures=draw(failures(clients, max(call.time_ns for call in calls))),
        seed=draw(st.integers(0, 255)),
    )


def drawn() -> SearchStrategy[Schedule]:
    return _runs()


def _rule(name: str, sentence: str, function: Callable[..., Any]) -> HandMutant:
    """name: the rule, and how the function in its place is wrong."""
    rules = replace_fields(LEASE_RULES, **{name.partition("/")[0]: function})
    return _mutant(name, sentence, lambda config: LeaseStore(config, rules), rules)


def _mutant(name: str, sentence: str, make: Callable[[Any], LeaseStore], rules: LeaseRules = LEASE_RULES) -> HandMutant:
    def make_node(config: Any) -> Any:
        leased = config.parameters.get("leased") == 1 and config.role is Role.HOST
        return make(config) if leased else make_core(config)

    return HandMutant(name, sentence, make_node, changed_rules(rules, LEASE_RULES), GROUP)


def _store(name: str, sentence: str, kind: type[LeaseStore]) -> HandMutant:
    return _mutant(name, sentence, lambda config: kind(config, LEASE_RULES))


class _Forgets(LeaseStore):
    """A restart ends all leases."""

    @property
    def kept(self) -> LeaseStorage:
        kept = deepcopy(self._all)
        for message in kept.messages.values():
            message.until_ns = 0
        return kept


class _KeepsDeleted(LeaseStore):
    """A deleted message comes back when its lease ends."""

    def _delete(self, asked: Packet, message: Message, now: int) -> None:
        return None


class _Refuses(LeaseStore):
    """Copies are refused."""

    def _put(self, asked: Packet, now: int) -> Packet:
        taken = self._all.taken
        answer = super()._put(asked, now)
        return answer if self._all.taken > taken else replace(answer, outcome=2)


class _KeepsTheLatest(LeaseStore):
    """A copy takes the place of the first, if that is there."""

    def _put(self, asked: Packet, now: int) -> Packet:
        taken = self._all.taken
        answer = super()._put(asked, now)
        key = self._rules.key_of(asked.group, asked.dedup, self._by_group)
        first = next((one for one in self._all.messages.values() if asked.dedup > 0 and one.key == key), None)
        if self._all.taken == taken and first is not None:
            del self._all.messages[first.sender, first.number, first.entry]
            first.sender, first.number, first.entry = asked.client, asked.operation, 1
            first.body = asked.payload
            self._all.messages[first.sender, first.number, first.entry] = first
        return answer


class _Shuffles(LeaseStore):
    """The messages of an answer come in the other order."""

    def _receive(self, asked: Packet, now: int) -> Packet:
        answer = super()._receive(asked, now)
        return replace(answer, handed=answer.handed[::-1])


class _Leaves(LeaseStore):
    """A client that cancels is no longer a consumer, and its leases last."""

    def _cancel(self, asked: Packet) -> Packet:
        before = {name: (one.until_ns, one.place) for name, one in self._all.messages.items()}
        answer = super()._cancel(asked)
        for name, (until_ns, place) in before.items():
            self._all.messages[name].until_ns, self._all.messages[name].place = until_ns, place
        return answer


class _Stays(LeaseStore):
    """Who cancels stays the one consumer."""

    def _cancel(self, asked: Packet) -> Packet:
        until_ns = self._all.until_ns
        answer = super()._cancel(asked)
        self._all.until_ns = until_ns
        return answer


class _TurnsBatches(LeaseStore):
    """The messages of a batch are put the other way round."""

    def _put(self, asked: Packet, now: int) -> Packet:
        answer = super()._put(asked, now)
        batch = [one for name, one in self._all.messages.items() if name[:2] == (asked.client, asked.operation)]
        for one, place in zip(batch, [one.place for one in reversed(batch)], strict=True):
            one.place = place
        return answer


class _PutsRefused(LeaseStore):
    """The second message of a batch is reported as refused, and put."""

    def _put(self, asked: Packet, now: int) -> Packet:
        answer = super()._put(asked, now)
        return replace(answer, carried=answer.carried & ~2) if answer.carried >= 0 else answer


class _Loses(LeaseStore):
    """A message that is given back is lost."""

    def _give_back(self, asked: Packet, message: Message, now: int) -> None:
        super()._delete(asked, message, now)


class _SetsAsideAtOnce(LeaseStore):
    """A message is set aside when it comes back for the last time, whoever holds what is ahead of it."""

    def _come_back(self, message: Message) -> None:
        super()._come_back(message)
        if self._rules.is_tried_out(message.tries, self._most_tries):
            self._set_aside([message])


class _TurnsAside(LeaseStore):
    """What is set aside together is turned round."""

    def _set_aside(self, messages: list[Message]) -> None:
        places = [one.place for one in reversed(messages) if not one.aside]
        for message, place in zip([one for one in messages if not one.aside], places, strict=True):
            message.place = place
        super()._set_aside(messages)


class _LosesAside(LeaseStore):
    """What is set aside is lost."""

    def _set_aside(self, messages: list[Message]) -> None:
        super()._set_aside(messages)
        for one in messages:
            del self._all.messages[one.sender, one.number, one.entry]


class _HidesBoth(LeaseStore):
    """What is set aside hides the rest of its group, and is hidden by it."""

    def _free(self, messages: list[Message], aside: bool, room: int, now: int) -> list[Message]:
        there = [one for one in self._all.messages.values() if one.group == messages[0].group]
        hidden = self._back_order == 0 and any(self._is_held(one, now) for one in there)
        return [] if hidden else super()._free(messages, aside, room, now)


class _Ignores(LeaseStore):
    """A message is not given back until its lease ends."""

    def _give_back(self, asked: Packet, message: Message, now: int) -> None:
        return None


class _AnotherBody(LeaseStore):
    """Each message is handed out with the body of the first that is handed out with it."""

    def _receive(self, asked: Packet, now: int) -> Packet:
        answer = super()._receive(asked, now)
        return replace(answer, handed=tuple(replace(one, payload=answer.handed[0].payload) for one in answer.handed))


class _PutsOnceRefused(LeaseStore):
    """Every put is carried out and refused."""

    def _put(self, asked: Packet, now: int) -> Packet:
        return replace(super()._put(asked, now), outcome=2, carried=-1)


MUTANTS: tuple[HandMutant, ...] = (
    _rule("is_seen/never", "No id is ever known.", lambda since_ns, now, window_ns, waiting: False),
    _rule("is_seen/always", "An id is known for ever.", lambda since_ns, now, window_ns, waiting: True),
    _rule(
        "is_seen/while-it-is-there",
        "An id is known as long as its message is there.",
        lambda since_ns, now, window_ns, waiting: waiting,
    ),
    _rule("is_held/never", "A message that was handed out is not hidden.", lambda until_ns, now: False),
    _rule("is_held/always", "No lease ever ends.", lambda until_ns, now: True),
    _rule("may_hand_out/first-is-free", "Only the first of a group hides the others.", lambda held: not held[0]),
    _rule("batch_of/none", "Nothing is ever handed out.", lambda room, there: 0),
    _rule("batch_of/all", "All of a group is handed out, however few are asked for.", lambda room, there: there),
    _rule("key_of/of-the-queue", "An id is one in the whole queue.", lambda group, dedup, by_group: (0, dedup)),
    _rule("key_of/of-the-group", "An id is one in each group.", lambda group, dedup, by_group: (group, dedup)),
    _rule("key_of/all", "All ids are one.", lambda group, dedup, by_group: (0, 0)),
    _rule("back/at-the-end", "What comes back comes behind the others.", lambda place, last, behind: last + 1),
    _rule("back/at-its-place", "What comes back never comes behind the others.", lambda place, last, behind: place),
    _rule("is_left/always", "Whoever asks is handed messages.", lambda is_own, held: True),
    _rule("is_left/own", "The first consumer stays the only one for ever.", lambda is_own, held: is_own),
    _rule("is_whole/always", "A batch is carried out in part, where it is to be whole.", lambda done: True),
    _rule("next_receipt/fixed", "All leases of a message have one receipt.", lambda receipt: 1),
    _rule("is_good/any", "Whoever ever received a message may go on.", lambda receipt, present, held: True),
    _rule("is_good/none", "No receipt is good.", lambda receipt, present, held: False),
    _rule("extended/not-at-all", "A lease is not extended.", lambda now, until_ns, lease_ns: until_ns),
    _rule("extended/for-ever", "A lease that is extended never ends.", lambda now, until_ns, lease_ns: 1 << 60),
    _store("lease-store/forgets-leases", "A restart ends all leases.", _Forgets),
    _store("lease-store/keeps-deleted", "A deleted message comes back when its lease ends.", _KeepsDeleted),
    _store("lease-store/refuses-copies", "Copies are refused.", _Refuses),
    _store("lease-store/keeps-the-latest", "A copy takes the place of the first, if that is there.", _KeepsTheLatest),
    _store("lease-store/last-first", "The messages of an answer come in the other order.", _Shuffles),
    _store("lease-store/leases-outlast-cancelling", "Leases of a consumer that cancels last.", _Leaves),
    _store("lease-store/stays-consumer", "Who cancels stays the one consumer.", _Stays),
    _store("lease-store/turns-batches", "The messages of a batch are put the other way round.", _TurnsBatches),
    _store("lease-store/puts-refused", "An entry of a batch is said to be refused, and is put.", _PutsRefused),
    _store("lease-store/loses-given-back", "A message that is given back is lost.", _Loses),
    _store("lease-store/sets-aside-at-once", "A message is set aside as it comes back last.", _SetsAsideAtOnce),
    _store("lease-store/turns-aside", "What is set aside together is turned round.", _TurnsAside),
    _store("lease-store/loses-aside", "What is set aside is lost.", _LosesAside),
    _store("lease-store/hides-both", "What is set aside hides the rest, and is hidden by it.", _HidesBoth),
    _store("lease-store/another-body", "All of an answer have the body of its first.", _AnotherBody),
    _store("lease-store/refuses-what-it-puts", "A put is carried out and refused.", _PutsOnceRefused),
    _store("lease-store/ignores-giving-back", "A message is not given back until its lease ends.", _Ignores),
)
