"""EDN, as far as histories need it: https://github.com/edn-format/edn. Vectors, lists and sets are read as tuples, and
tags are passed over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias, Union

from scatterproof.spec.errors import BadInput

Edn: TypeAlias = Union[bool, int, float, str, tuple["Edn", ...], Mapping["Edn", "Edn"], None]  # noqa: UP007


class Keyword(str):
    """`:read` is Keyword("read"), and equal to the text "read"."""

    __slots__ = ()


class Symbol(str):
    __slots__ = ()


_TOKEN = re.compile(
    r"""(?P<space>[\s,]+|;[^\n]*|\#_(?=[\s(\[{"]))|(?P<open>\#?\{|[\[(])|(?P<close>[\])}])"""
    r"""|(?P<text>"(?:[^"\\]|\\.)*")|(?P<tag>\#[A-Za-z][^\s,()\[\]{}"]*)|(?P<atom>[^\s,()\[\]{}";]+)"""
)
_CLOSES = {"{": "}", "#{": "}", "[": "]", "(": ")"}
_NAMED: dict[str, Edn] = {"nil": None, "true": True, "false": False}


def read(text: str, place: str) -> Iterator[tuple[int, Edn]]:
    """The values of a text, each with its line; of an outermost vector or list, its values. place: the file, for
    messages. Raises BadInput for a text that is no EDN."""
    tokens = _tokens(text, place)
    around: tuple[int, str] | None = None
    for line, kind, word in tokens:
        if around is None and word in ("[", "("):
            around = line, word
        elif around is not None and kind == "close":
            _match(around, line, word, place)
            around = None
        else:
            yield line, _value(line, kind, word, tokens, place)
    if around is not None:
        raise _never_closed(around, place)


def read_one(text: str, place: str) -> Edn:
    """The one value of a text. Raises BadInput for none, and for several."""
    tokens = _tokens(text, place)
    found = [_value(*token, tokens, place) for token in tokens]
    if len(found) != 1:
        raise BadInput(f"{place}: {text!r} is not one value of EDN; write one")
    return found[0]


def _tokens(text: str, place: str) -> Iterator[tuple[int, str, str]]:
    at, line = 0, 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise BadInput(f"{place}: line {line}: {text[at : at + 20]!r} is not EDN; mend it")
        if found.lastgroup not in ("space", "tag"):
            yield line, str(found.lastgroup), found.group()
        line += found.group().count("\n")
        at = found.end()


def _value(line: int, kind: str, word: str, tokens: Iterator[tuple[int, str, str]], place: str) -> Edn:
    if kind == "text":
        try:
            text: str = json.loads(word, strict=False)
        except ValueError:
            raise BadInput(f"{place}: line {line}: {word} is no text of EDN; mend what follows a backslash") from None
        return text
    if kind == "atom":
        return _atom(word)
    if kind == "close":
        raise BadInput(f"{place}: line {line}: {word!r} closes nothing; remove it")
    found: list[Edn] = []
    for other, part, inner in tokens:
        if part == "close":
            _match((line, word), other, inner, place)
            break
        found.append(_value(other, part, inner, tokens, place))
    else:
        raise _never_closed((line, word), place)
    if word != "{":
        return tuple(found)
    if len(found) % 2:
        raise BadInput(f"{place}: line {line}: a map has a key without a value; give one")
    return dict(zip(found[::2], found[1::2], strict=True))


def _match(opened: tuple[int, str], line: int, word: str, place: str) -> None:
    if word != _CLOSES[opened[1]]:
        raise BadInput(f"{place}: line {line}: {word!r} closes the {opened[1]!r} of line {opened[0]}; mend one of them")


def _never_closed(opened: tuple[int, str], place: str) -> BadInput:
    return BadInput(f"{place}: line {opened[0]}: {opened[1]!r} is never closed; the file may have been cut short")


def _atom(word: str) -> Edn:
    if word.startswith(":"):
        return Keyword(word[1:])
    if word in _NAMED:
        return _NAMED[word]
    for number in (int, float):
        try:
            return number(word.rstrip("NM"))
        except ValueError:
            continue
    return Symbol(word)


def written(value: Edn) -> str:
    if isinstance(value, Keyword):
        return f":{value}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{written(key)} {written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + " ".join(map(written, value)) + "]"
    return "nil" if value is None else json.dumps(value, ensure_ascii=False)
