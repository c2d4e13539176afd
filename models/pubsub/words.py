"""The topics and filters of a run as the models read them: which filter matches which topic, and which other filter
it covers, by the rules that the claims prove (PS-MATCH, PS-GRAMMAR, PS-COVER)."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache

from scatterproof.models.pubsub.rules import MANY, ONE, UP_TO_ONE, is_kept_back, is_uncovered, may_pass, may_stay, takes

Tokens = tuple[str, ...]
Places = frozenset[int]


@dataclass(frozen=True, slots=True)
class WordStep:
    """What one step of a filter stands for.

    count: of tokens.
    text: the text that it takes.
    whole: False where it takes all tokens that begin with the text.
    """

    count: int
    text: str = ""
    whole: bool = False


_ANY = WordStep(ONE)
_REST = WordStep(MANY)


def tokens_of(grammar: str, topic: str) -> Tokens:
    if grammar == "mqtt":
        return tuple(topic.split("/"))
    return tuple(topic.split(".")) if topic else ()


@cache
def steps_of(grammar: str, filter_: str) -> tuple[WordStep, ...]:
    """The steps of a filter that the grammar allows."""
    steps: list[WordStep] = []
    for token in tokens_of(grammar, filter_):
        steps += _steps(grammar, token)
    return tuple(steps)


_ALONE: dict[str, dict[str, tuple[WordStep, ...]]] = {
    "document": {">": (_REST,), "[*]": (WordStep(UP_TO_ONE),)},
    "mqtt": {"+": (_ANY,), "#": (_REST,)},
    "nats": {"*": (_ANY,), ">": (_ANY, _REST)},
    "amqp": {"*": (_ANY,), "#": (_REST,)},
}


def _steps(grammar: str, token: str) -> tuple[WordStep, ...]:
    if token in _ALONE[grammar]:
        return _ALONE[grammar][token]
    if grammar == "document" and token.endswith(">"):
        return (*_steps(grammar, token.removesuffix(">")), _REST)
    if grammar == "document" and token.endswith("*"):
        return (WordStep(ONE, token.removesuffix("*")),)
    return (WordStep(ONE, token, whole=True),)


def matches(grammar: str, filter_: str, topic: str) -> bool:
    steps, places = steps_of(grammar, filter_), _begun(steps_of(grammar, filter_))
    for number, token in enumerate(tokens_of(grammar, topic)):
        places = _after(grammar, steps, places, token, first=number == 0)
    return len(steps) in places


@cache
def covers(grammar: str, wide: str, narrow: str) -> bool:
    """Whether the one matches all that the other matches: by all places that the tried tokens lead to (PS-COVER)."""
    one, other = steps_of(grammar, wide), steps_of(grammar, narrow)
    texts = {"", *(step.text for step in (*one, *other))}
    tried = texts | {text + chr(1 + max(map(ord, "".join(texts)), default=0)) for text in texts}
    if grammar in ("document", "nats"):
        tried.discard("")  # no token is empty
    begun = (_begun(other), _begun(one))
    if grammar == "amqp" and is_uncovered(len(other) in begun[0], len(one) in begun[1]):
        return False  # of a topic without tokens
    seen, left = set(), [(*begun, True)]
    while left:
        narrower, wider, first = left.pop()
        for token in tried:
            after = (
                _after(grammar, other, narrower, token, first=first),
                _after(grammar, one, wider, token, first=first),
            )
            if is_uncovered(len(other) in after[0], len(one) in after[1]):
                return False
            if after not in seen:
                seen.add(after)
                left.append((*after, False))
    return True


def _begun(steps: Sequence[WordStep]) -> Places:
    return _passed(steps, {0})


def _after(grammar: str, steps: Sequence[WordStep], places: Places, token: str, *, first: bool) -> Places:
    """Where a filter is after one more token."""
    wild = bool(steps) and not steps[0].whole
    if grammar == "mqtt" and first and is_kept_back(token.startswith("$"), wild):
        return frozenset()
    taken = set()
    for place in places - {len(steps)}:
        step = steps[place]
        if takes(token == step.text, token.startswith(step.text), step.whole):
            taken.add(place if may_stay(step.count) else place + 1)
    return _passed(steps, taken)


def _passed(steps: Sequence[WordStep], places: Set[int]) -> Places:
    found = set(places)
    for place, step in enumerate(steps):
        if place in found and may_pass(step.count):
            found.add(place + 1)
    return frozenset(found)
