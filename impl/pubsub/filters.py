"""Topics and filters of four grammars: the document's, MQTT's, NATS's and AMQP's, all read into steps.

A topic is a tuple of tokens, a filter a tuple of steps; spec/pubsub/RULES.md says what each grammar has. What a grammar
does not allow is refused in one sentence.

Clauses: PS-TOPIC, PS-MATCH, PS-GRAMMAR.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import msgspec

from scatterproof.impl.pubsub.match_rules import Count
from scatterproof.spec.errors import BadInput

Topic: TypeAlias = tuple[str, ...]
_NOT_IN_SUBJECTS = " \t\r\n\0"  # of NATS: its protocol is lines of words


class Step(msgspec.Struct, frozen=True, gc=False):
    """A part of a filter. It takes the token `text`, or where `whole` is False any that begins with it."""

    count: Count
    text: str = ""
    whole: bool = False

    @property
    def is_wild(self) -> bool:
        return not self.whole


Filter: TypeAlias = tuple[Step, ...]
ANY_ONE, ANY_OR_NONE, ANY_NUMBER = Step(Count.ONE), Step(Count.UP_TO_ONE), Step(Count.MANY)


class GrammarName(StrEnum):
    DOCUMENT = "document"
    MQTT = "mqtt"
    NATS = "nats"
    AMQP = "amqp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """separator: between tokens.
    empty_tokens, empty_topics: whether there are such.
    mark: topics whose first token begins with it are not for filters that begin with a wildcard; empty for none.
    read: the steps of an element of a filter, by whether it is the last one; ValueError says what is wrong with it.
    reserved: characters that no token of a topic has; and alone: tokens that no topic has.
    """

    separator: str
    read: Callable[[str, bool], Filter]
    empty_tokens: bool = False
    empty_topics: bool = False
    mark: str = ""
    reserved: str = ""
    alone: frozenset[str] = frozenset()

    def topic(self, text: str) -> Topic:
        """BadInput for what is no topic."""
        tokens = self._split(text, "topic")
        for token in tokens:
            odd = next((letter for letter in token if letter in self.reserved), None)
            if odd is not None or token in self.alone:
                raise BadInput(f"topic {text!r}: {odd or token!r} is for filters; leave it out of topics")
        return tokens

    def filter(self, text: str) -> Filter:
        """BadInput for what is no filter."""
        elements = self._split(text, "filter")
        steps: list[Step] = []
        for number, element in enumerate(elements, 1):
            try:
                steps += self.read(element, number == len(elements))
            except ValueError as error:
                raise BadInput(f"filter {text!r}: {error}") from None
        return tuple(steps)

    def text(self, topic: Topic) -> str:
        return self.separator.join(topic)

    def _split(self, text: str, what: str) -> Topic:
        if not text:
            if self.empty_topics:
                return ()
            raise BadInput(f"the {what} is empty; give it at least one token")
        tokens = tuple(text.split(self.separator))
        if not self.empty_tokens and "" in tokens:
            raise BadInput(f"{what} {text!r} has an empty token; give each one a character at least")
        return tokens


def _read_document(element: str, last: bool) -> Filter:
    """`T4>` is `T4.>`: the document's fifth example is printed so."""
    if element == "[*]":
        if not last:
            raise ValueError("[*] stands for one token or none at the end; put it there")
        return (ANY_OR_NONE,)
    before, many, behind = element.partition(">")
    if many and (behind or not last):
        raise ValueError("> stands for the rest of the topic; put it at the end")
    rest = (ANY_NUMBER,) if many else ()
    if not before:
        return rest
    text, star, more = before.partition("*")
    if more or any(letter in text for letter in "[]"):
        raise ValueError(f"{before!r} is no token, no beginning of one with * behind it, and not *, [*] or >")
    return (Step(Count.ONE, text, whole=not star), *rest)


def _read_mqtt(element: str, last: bool) -> Filter:
    if element == "#" and last:
        return (ANY_NUMBER,)
    if element == "+":
        return (ANY_ONE,)
    if "#" in element or "+" in element:
        raise ValueError(f"{element!r} is no level; + and # are levels of their own, and # is the last one")
    return (Step(Count.ONE, element, whole=True),)


def _read_nats(element: str, last: bool) -> Filter:
    """A wildcard is a token of its own; in others the same characters are as any."""
    if any(letter in _NOT_IN_SUBJECTS for letter in element):
        raise ValueError(f"{element!r} has a space in it, or the end of a line; leave that out")
    if element == ">":
        if not last:
            raise ValueError("> stands for the rest of the subject; put it at the end")
        return (ANY_ONE, ANY_NUMBER)
    return (ANY_ONE,) if element == "*" else (Step(Count.ONE, element, whole=True),)


def _read_amqp(element: str, last: bool) -> Filter:
    if element in ("*", "#"):
        return (ANY_ONE,) if element == "*" else (ANY_NUMBER,)
    return (Step(Count.ONE, element, whole=True),)


GRAMMARS: dict[str, Grammar] = {
    GrammarName.DOCUMENT: Grammar(separator=".", read=_read_document, reserved="*>[]"),
    GrammarName.MQTT: Grammar(separator="/", read=_read_mqtt, empty_tokens=True, mark="$", reserved="+#\0"),
    GrammarName.NATS: Grammar(separator=".", read=_read_nats, reserved=_NOT_IN_SUBJECTS, alone=frozenset("*>")),
    GrammarName.AMQP: Grammar(separator=".", read=_read_amqp, empty_tokens=True, empty_topics=True),
}
