"""Tokens that a protocol cannot spell, spelled: a one-to-one map of all texts to the tokens of a protocol.

A character that may not be there becomes `%` and two digits, and a text that looks like such an escape gets a `25` more
into it. So every token of the protocol is the spelling of just one text, and most texts are their own spelling.

Clauses: PS-TRANSLATE.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


class Escaping:
    """unsafe: characters that no token may have; alone: tokens that none may be, the empty one perhaps."""

    def __init__(self, unsafe: str, alone: Iterable[str] = ()) -> None:
        codes = {f"{ord(one):02X}": one for one in unsafe}
        self._chars = {one: f"%{code}" for code, one in codes.items()}
        escaped = f"%(?:25)*(?:{'|'.join(codes)})"
        self._spell = re.compile(f"[{re.escape(unsafe)}]|{escaped}")
        self._read = re.compile(escaped)
        self._alone = {one: "%" + ("".join(f"{ord(letter):02X}" for letter in one) or "-") for one in alone}
        self._from_alone = {code: one for one, code in self._alone.items()}
        words = "|".join(code[1:] for code in self._from_alone) or "(?!)"
        self._like_alone = re.compile(f"%(?:25)*(?:{words})")

    def spell(self, text: str) -> str:
        """The token."""
        if text in self._alone:
            return self._alone[text]
        if "%" not in text:
            return self._spell.sub(lambda found: self._chars[found[0]], text)
        if self._like_alone.fullmatch(text):
            return _deeper(text)
        return self._spell.sub(lambda found: self._chars.get(found[0]) or _deeper(found[0]), text)

    def read(self, token: str) -> str:
        """The text that this is the token of."""
        if "%" not in token:
            return token
        if self._like_alone.fullmatch(token):
            return self._from_alone[token] if token in self._from_alone else _shallower(token)
        return self._read.sub(lambda found: _read_one(found[0]), token)


def _deeper(escaped: str) -> str:
    return f"%25{escaped[1:]}"


def _shallower(escaped: str) -> str:
    return f"%{escaped[3:]}"


def _read_one(escaped: str) -> str:
    return chr(int(escaped[1:], 16)) if len(escaped) == 3 else _shallower(escaped)
