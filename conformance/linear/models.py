"""The sequential machines against which a history can be judged: a record each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby
from typing import TypeAlias

from scatterproof.conformance.linear.edn import Edn
from scatterproof.conformance.linear.jepsen import HistoryCall
from scatterproof.conformance.linear.search import CallBox, find_order
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import BadInput

# Given a state and a call that took effect, or may have: the states that it may lead to; None where it could not have
# ended like this. A call of unknown end may have been told anything.
Apply: TypeAlias = Callable[[Hashable, HistoryCall], tuple[Hashable, ...] | None]


class ModelState(Enum):
    UNKNOWN = "nobody knows what it holds"


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialModel:
    """A machine that carries out one call after another.

    name: as the command line has it.
    text: what it is, for people.
    calls: by name, what each call does.
    reads: calls that change nothing.
    refuses: by name, whether a call is refused in a state; the refusal of any other call says nothing.
    begin: the first state.
    apart: calls with different keys have nothing to do with each other.
    """

    name: str
    text: str
    calls: dict[str, Apply]
    reads: tuple[str, ...] = ()
    refuses: dict[str, Callable[[Hashable, Edn], bool]]
    begin: Hashable = None
    apart: bool = False


@dataclass(frozen=True, slots=True)
class HistoryVerdict:
    """Whether an order explains a history.

    known: how many calls have a known end.
    explained: how many of these the longest order has that was found.
    stuck: a call that nothing explains after that order, None where an order explains all. With `stuck`, and where keys
        are apart, the figures are of the calls with its key alone.
    """

    known: int
    explained: int
    stuck: HistoryCall | None


def as_state(model: SequentialModel, begin: Edn) -> SequentialModel:
    """The model with this first state. Raises BadInput for a value that can be no state."""
    return replace(model, begin=_one(begin))


def judge_history(
    calls: Sequence[HistoryCall], model: SequentialModel, place: str, *, refusals: bool = False
) -> HistoryVerdict:
    """Whether an order of the calls explains them all. Raises BadInput for a call that the model has not, and for too
    many orders.

    place: the file, for messages.
    refusals: a call failed because its condition did not hold; else a failed call says nothing, as in Jepsen.
    """
    for call in calls:
        if call.name not in model.calls:
            known = ", ".join(model.calls)
            raise BadInput(f"{place}: {call}: {model.name} has no such call; it has {known}; choose another model")

    def says_something(call: HistoryCall) -> bool:
        if call.outcome is Outcome.REFUSED:
            return refusals and call.name in model.refuses
        return call.outcome is Outcome.OK or call.name not in model.reads

    told = [call for call in calls if says_something(call)]
    if model.apart:
        told.sort(key=lambda call: (str(call.key), call.called))
    refused: BadInput | None = None
    parts = [list(part) for _, part in groupby(told, key=lambda call: str(call.key) if model.apart else "")]
    for part in sorted(parts, key=len):
        try:
            verdict = _judge_part(part, model)
        except BadInput as error:  # too many orders: where another part has none, that is enough
            refused = BadInput(f"{place}: {error}")
            continue
        if verdict.stuck is not None:
            return verdict
    if refused:
        raise refused
    ended = sum(call.outcome is not Outcome.UNKNOWN for call in told)
    return HistoryVerdict(ended, ended, None)


def _judge_part(part: Sequence[HistoryCall], model: SequentialModel) -> HistoryVerdict:
    found = find_order(
        [CallBox(call.client, call.called, call.returned) for call in part],
        model.begin,
        lambda state, number: _after(model, state, part[number]),
        {at for at, call in enumerate(part) if call.name in model.reads or call.outcome is Outcome.REFUSED},
    )
    ended = [call.outcome is not Outcome.UNKNOWN for call in part]
    stuck = None if found.stuck is None else part[found.stuck]
    return HistoryVerdict(sum(ended), sum(ended[number] for number in found.calls), stuck)


def _after(model: SequentialModel, state: Hashable, call: HistoryCall) -> Iterable[Hashable]:
    if call.outcome is Outcome.REFUSED:
        return (state,) if model.refuses[call.name](state, call.given) else ()
    return model.calls[call.name](state, call) or ()


def _read(state: Hashable, call: HistoryCall) -> tuple[Hashable] | None:
    return (state,) if state in (ModelState.UNKNOWN, call.told) else None


def _write(_: Hashable, call: HistoryCall) -> tuple[Hashable]:
    return (_one(call.given),)


def _cas(state: Hashable, call: HistoryCall) -> tuple[Hashable] | None:
    old, new = _pair(call)
    return (new,) if state in (ModelState.UNKNOWN, old) else None


def _pair(call: HistoryCall) -> tuple[Hashable, Hashable]:
    match call.given:
        case (old, new):
            return _one(old), _one(new)
    raise BadInput(f"{call}: needs two values; write [old new]")


def _one(value: Edn) -> Hashable:
    if isinstance(value, Hashable):
        return value
    raise BadInput(f"{value!r} is a map, where a single value is needed")


def _acquire(state: Hashable, _: HistoryCall) -> tuple[Hashable] | None:
    return None if state else (True,)


def _release(state: Hashable, _: HistoryCall) -> tuple[Hashable] | None:
    return (False,) if state else None


def _txn(state: Hashable, call: HistoryCall) -> tuple[Hashable] | None:
    assert isinstance(state, tuple)
    now = dict(state)
    given = call.given if call.told is None else call.told
    if not isinstance(given, tuple):
        raise BadInput(f"{call}: is no transaction; write [[:read :x nil] [:write :y 1]]")
    for step in given:
        match step:
            case ("r" | "read", key, value):
                # Nobody knows what a transaction of unknown end has read.
                if call.outcome is Outcome.OK and now.setdefault(key, value) != value:
                    return None
            case ("w" | "write", key, value):
                now[key] = value
            case _:
                raise BadInput(f"{call}: {step!r} is no step of a transaction; write [:read :x nil] or [:write :x 1]")
    return (tuple(sorted(now.items(), key=str)),)


def _get(state: Hashable, call: HistoryCall) -> tuple[Hashable] | None:
    return (state,) if state == call.told else None


def _append(state: Hashable, call: HistoryCall) -> tuple[Hashable]:
    return (f"{state}{call.given}",)


def _enqueue(state: Hashable, call: HistoryCall) -> tuple[Hashable]:
    assert isinstance(state, tuple)
    return ((*state, _one(call.given)),)


def _dequeue_first(state: Hashable, call: HistoryCall) -> tuple[Hashable] | None:
    """One of unknown end may have taken the first."""
    assert isinstance(state, tuple)
    return (state[1:],) if state and (call.outcome is Outcome.UNKNOWN or state[0] == call.told) else None


def _put_in(state: Hashable, call: HistoryCall) -> tuple[Hashable]:
    assert isinstance(state, tuple)
    return (tuple(sorted((*state, _one(call.given)), key=str)),)


def _take_out(state: Hashable, call: HistoryCall) -> tuple[Hashable, ...]:
    """One of unknown end may have taken any."""
    assert isinstance(state, tuple)
    wanted = set(state) if call.outcome is Outcome.UNKNOWN else {call.told} & set(state)
    places = sorted(state.index(one) for one in wanted)
    return tuple((*state[:at], *state[at + 1 :]) for at in places)


MODELS = (
    SequentialModel(
        name="register",
        text="one value: read, write, and cas [old new]",
        calls={"read": _read, "write": _write, "cas": _cas},
        reads=("read",),
        refuses={"cas": lambda state, given: isinstance(given, tuple) and state != given[0]},
        begin=ModelState.UNKNOWN,
    ),
    SequentialModel(
        name="registers",
        text="many values: txn [[:read :x nil] [:write :y 1]]",
        calls={"txn": _txn},
        refuses={},
        begin=(),
    ),
    SequentialModel(
        name="lock",
        text="acquire, release",
        calls={"acquire": _acquire, "release": _release},
        refuses={"acquire": lambda state, _: bool(state), "release": lambda state, _: not state},
        begin=False,
    ),
    SequentialModel(
        name="texts",
        text="a text for each :key: get, put, append",
        calls={"get": _get, "put": _write, "append": _append},
        reads=("get",),
        refuses={},
        begin="",
        apart=True,
    ),
    SequentialModel(
        name="fifo-queue",
        text="enqueue, dequeue: first in, first out",
        calls={"enqueue": _enqueue, "dequeue": _dequeue_first},
        refuses={"dequeue": lambda state, _: state == ()},
        begin=(),
    ),
    SequentialModel(
        name="queue",
        text="enqueue, dequeue, in any order",
        calls={"enqueue": _put_in, "dequeue": _take_out},
        refuses={"dequeue": lambda state, _: state == ()},
        begin=(),
    ),
)
