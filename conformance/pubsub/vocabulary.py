"""The topics and filters of a run as the judge reads them: which topics and which filters a filter matches and covers.

Each filter matches by a regular expression, and covers by a comparison place by place. The reference does neither this
way, so that each side can find the other's mistakes.

Clauses: PS-TOPIC, PS-MATCH, PS-GRAMMAR, PS-COVER.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import numpy as np
import numpy.typing as npt

from scatterproof.conformance.checks.surroundings import array
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.parameters import Parameters

_DOCUMENT = re.compile(r"(?P<text>[^*>\[\]]*)(?P<star>\*?)(?P<rest>>?)|(?P<one>\[\*\])")


@dataclass(frozen=True, slots=True)
class Part:
    """One place of a filter: it takes the token `text`, or with `wild` any token that begins with it."""

    text: str = ""
    wild: bool = False

    def takes_all_of(self, other: Part) -> bool:
        return other.text.startswith(self.text) if self.wild else not other.wild and other.text == self.text


@dataclass(frozen=True, slots=True)
class Pattern:
    """A filter.

    parts: its places.
    most: how many tokens may follow these; None for any number.
    regular: a regular expression for topics with a separator in front of each token.
    """

    parts: tuple[Part, ...]
    most: int | None
    regular: str


_ANY, _END = Part(wild=True), 0


def _document(text: str) -> Pattern:
    parts: list[Part] = []
    regular = ""
    elements = text.split(".")
    for number, element in enumerate(elements, 1):
        found = _DOCUMENT.fullmatch(element)
        if not element or found is None or (number < len(elements) and (found["one"] or found["rest"])):
            raise BadInput(f"filter {text!r}: {element!r} means nothing there; spec/pubsub/RULES.md says what does")
        if found["one"]:
            return Pattern(tuple(parts), 1, rf"{regular}(\.[^.]+)?")
        if found["text"] or found["star"]:
            parts.append(Part(found["text"], wild=bool(found["star"])))
            rest = ("[^.]*" if found["text"] else "[^.]+") if found["star"] else ""
            regular += rf"\.{re.escape(found['text'])}{rest}"
        if found["rest"]:
            return Pattern(tuple(parts), None, rf"{regular}(\.[^.]+)*")
    return Pattern(tuple(parts), _END, regular)


def _mqtt(text: str) -> Pattern:
    *levels, last = text.split("/")
    if not text or any("#" in level or ("+" in level and level != "+") for level in levels) or _odd(last):
        raise BadInput(f"filter {text!r} is none of MQTT: + and # are levels of their own, and # is the last one")
    many = last == "#"
    parts = [_ANY if level == "+" else Part(level) for level in (levels if many else [*levels, last])]
    regular = "".join("/[^/]*" if part.wild else f"/{re.escape(part.text)}" for part in parts)
    return Pattern(tuple(parts), None if many else _END, f"{regular}(/[^/]*)*" if many else regular)


def _odd(last: str) -> bool:
    return len(last) > 1 and ("#" in last or "+" in last)


def _nats(text: str) -> Pattern:
    *tokens, last = text.split(".")
    if "" in (*tokens, last) or ">" in tokens or re.search(r"[ \t\r\n\0]", text):
        raise BadInput(f"filter {text!r} is none of NATS: no token is empty or has a space, and > is the last one")
    many = last == ">"
    parts = [_ANY if token in ("*", ">") else Part(token) for token in (*tokens, last)]
    regular = "".join(r"\.[^.]+" if part.wild else rf"\.{re.escape(part.text)}" for part in parts)
    return Pattern(tuple(parts), None if many else _END, rf"{regular}(\.[^.]+)*" if many else regular)


def _amqp(text: str) -> Pattern:
    """Without places, as `#` may stand anywhere: `covers` compares words."""
    words = text.split(".") if text else []
    wild = {"*": r"\.[^.]*", "#": r"(\.[^.]*)*"}
    return Pattern((), None, "".join(wild.get(word, rf"\.{re.escape(word)}") for word in words))


_READ: dict[str, Callable[[str], Pattern]] = {"document": _document, "mqtt": _mqtt, "nats": _nats, "amqp": _amqp}


class Vocabulary:
    """Topics and filters, by index from 0. Raises BadInput for a text that is no topic or filter of the grammar."""

    def __init__(self, grammar: str, topics: Sequence[str], filters: Sequence[str]) -> None:
        self._grammar, self._topics, self._filters = grammar, tuple(topics), tuple(filters)
        for text in topics:
            if _is_no_topic(grammar, text):
                raise BadInput(f"topic {text!r} is none of grammar {grammar}; spec/pubsub/RULES.md says what is")
        self._patterns = [_READ[grammar](text) for text in filters]
        self._regular = [re.compile(pattern.regular) for pattern in self._patterns]

    def matches(self, filter_: int, topic: int) -> bool:
        text = self._topics[topic]
        if self._grammar == "mqtt" and text.startswith("$") and self._filters[filter_][0] in "+#":
            return False
        separator = "/" if self._grammar == "mqtt" else "."
        told = "" if not text else separator + text
        return self._regular[filter_].fullmatch(told) is not None

    def covers(self, wide: int, narrow: int) -> bool:
        """Whether the first filter surely matches every topic that the second one matches."""
        if self._grammar == "amqp":
            texts = (self._filters[wide], self._filters[narrow])
            return any(_takes_all_words(*(_wild_first(text, way) for text in texts)) for way in (1, -1))
        one, other = self._patterns[wide], self._patterns[narrow]
        if self._grammar == "mqtt" and self._filters[wide][0] in "+#" and self._filters[narrow].startswith("$"):
            return False
        if one.most is not None and (other.most is None or len(other.parts) + other.most > len(one.parts) + one.most):
            return False
        if len(other.parts) < len(one.parts):
            # A filter that is only a tail takes a token nevertheless: every topic has one.
            return one.parts == (_ANY,) and self._grammar != "nats"
        return all(mine.takes_all_of(its) for mine, its in zip(one.parts, other.parts, strict=False))


def _wild_first(text: str, way: int) -> tuple[str, ...]:
    """The filter's words, with each run of wildcards sorted: all `*`, then one `#` if it has any. Their order makes no
    difference to what matches. way: 1, or -1 to read from the end."""
    found: list[str] = []
    for is_wild, run in groupby(text.split(".")[::way] if text else (), lambda word: word in ("*", "#")):
        told = [*run]
        found += [*(word for word in told if word == "*"), *["#"][: "#" in told]] if is_wild else told
    return tuple(found)


def _takes_all_words(wide: Sequence[str], narrow: Sequence[str]) -> bool:
    """Whether `wide` covers `narrow`, word by word: its `#` takes any number of words of the narrow filter."""
    if not wide or not narrow:
        return not narrow and all(word == "#" for word in wide)
    if wide[0] == "#":
        return _takes_all_words(wide[1:], narrow) or _takes_all_words(wide, narrow[1:])
    fits = narrow[0] != "#" and wide[0] in ("*", narrow[0])
    return fits and _takes_all_words(wide[1:], narrow[1:])


def _is_no_topic(grammar: str, text: str) -> bool:
    if grammar == "mqtt":
        return not text or any(letter in text for letter in "+#\0")
    if grammar == "amqp":
        return False
    tokens = text.split(".")
    odd = "*>[]" if grammar == "document" else " \t\r\n\0"
    return "" in tokens or any(letter in text for letter in odd) or bool({"*", ">"} & set(tokens))


@cache
def _arrays(grammar: str, topics: str, filters: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    lines, rows = topics.split("\n"), filters.split("\n")
    words = Vocabulary(grammar, lines, rows)
    matches = [words.matches(one, topic) for one in range(len(rows)) for topic in range(len(lines))]
    covers = [words.covers(one, other) for one in range(len(rows)) for other in range(len(rows))]
    return array(matches), array(covers)


def counts(given: Mapping[str, Parameter]) -> dict[str, int]:
    """The numbers of topics and filters. Raises BadInput for a text that is none."""
    chosen = Parameters("pubsub", given)
    topics, filters = str(chosen["topics"]), str(chosen["filters"])
    _arrays(str(chosen["grammar"]), topics, filters)
    return {"topic_count": topics.count("\n") + 1, "filter_count": filters.count("\n") + 1}


def arrays(given: Mapping[str, Parameter]) -> dict[str, int | npt.NDArray[np.int64]]:
    """filter_matches[(filter - 1) * topic_count + topic - 1], filter_covers[(wide - 1) * filter_count + narrow - 1]."""
    chosen = Parameters("pubsub", given)
    matches, covers = _arrays(str(chosen["grammar"]), str(chosen["topics"]), str(chosen["filters"]))
    return {"filter_matches": matches, "filter_covers": covers}
