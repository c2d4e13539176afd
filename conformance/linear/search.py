"""The search, in the manner of Wing and Gong, for an order of calls that a machine explains. One of the calls that may
be next is carried out, and so on; nothing is tried twice from the same calls and the same state.

One call is ahead of another where it ended, and is an earlier call of the same client or returned strictly below the
time at which the other was called. A call of unknown end may be carried out at any moment from its beginning on, or
never.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from scatterproof.spec.errors import BadInput

State = TypeVar("State", bound=Hashable)
MOST = 1_000_000  # places: the calls carried out, and the state after them


class CallBox(NamedTuple):
    """One call.

    client: whose call it is.
    called, returned: its times, or rows; `returned` is None where the end is not known.
    """

    client: Hashable
    called: int
    returned: int | None


@dataclass(frozen=True, slots=True)
class FoundOrder:
    """calls: the numbers of the calls, in an order that explains all; where none does, in the longest that was found.
    stuck: None where an order explains all; else, of the calls that ended and are not in `calls`, the one that returned
        first.
    """

    calls: tuple[int, ...]
    stuck: int | None = None


class _Place(NamedTuple, Generic[State]):
    """done: the calls carried out, as bits.
    state: the state after them.
    last: the call carried out last.
    behind: the place that led here.
    """

    done: int
    state: State
    last: int
    behind: _Place[State] | None

    def order(self) -> tuple[int, ...]:
        found: list[int] = []
        place: _Place[State] | None = self
        while place is not None and place.behind is not None:
            found.append(place.last)
            place = place.behind
        return tuple(reversed(found))


def find_order(
    boxes: Sequence[CallBox],
    begin: State,
    step: Callable[[State, int], Iterable[State]],
    pure: Collection[int] = (),
) -> FoundOrder:
    """The order that explains the calls, or the longest found. Raises BadInput for a history with more places than can
    be tried.

    boxes: the calls, ordered by `called`.
    step: the states that a call, by number, may lead to from a state; none where it could not have answered like this.
    pure: the calls that change no state; they are carried out as soon as they may be.
    """
    needed = sum(1 << number for number, box in enumerate(boxes) if box.returned is not None)
    first: _Place[State] = _Place(0, begin, -1, None)
    best, tried, places = first, {(0, begin)}, [first]
    while places:
        place = places.pop()
        if place.done & needed == needed:
            return FoundOrder(place.order())
        if (place.done & needed).bit_count() > (best.done & needed).bit_count():
            best = place
        found: list[_Place[State]] = []
        for number in _next(boxes, place.done):
            after = [_Place(place.done | 1 << number, state, number, place) for state in step(place.state, number)]
            if after and number in pure:
                found = after
                break
            found += after
        # Last in, first out: calls that returned first are tried first, calls of unknown end last.
        found.sort(key=lambda one: (boxes[one.last].returned is None, boxes[one.last].returned or 0), reverse=True)
        for one in found:
            if (one.done, one.state) not in tried:
                tried.add((one.done, one.state))
                places.append(one)
        if len(tried) > MOST:
            raise BadInput(f"the history has {len(boxes)} calls and too many orders to try; give one with fewer")
    waiting = [(box.returned, number) for number, box in enumerate(boxes) if box.returned is not None]
    return FoundOrder(best.order(), min(one for one in waiting if not best.done >> one[1] & 1)[1])


def _next(boxes: Sequence[CallBox], done: int) -> list[int]:
    """The calls that may be carried out next: no call that was not carried out is ahead of them."""
    found: list[int] = []
    ended: int | None = None  # of the calls passed, the first known end
    busy: set[Hashable] = set()
    at = (~done & (done + 1)).bit_length() - 1
    while at < len(boxes):
        box = boxes[at]
        if ended is not None and ended < box.called:
            break
        if not done >> at & 1:
            if box.client not in busy:
                found.append(at)
            if box.returned is not None:
                busy.add(box.client)
                ended = box.returned if ended is None else min(ended, box.returned)
        at += 1
    return found
