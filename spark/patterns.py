"""Users' regular expressions, over users' lines: searched by RE2, which comes with Arrow. Its time grows with the
length of the text, whatever the expression; Python's own may take for ever."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

Groups = dict[str, str]


class Pattern(msgspec.Struct, frozen=True):
    """groups: the names of its groups; it has no others."""

    text: str
    groups: tuple[str, ...]

    def search(self, lines: Sequence[bytes]) -> list[Groups | None]:
        """For each line, the text of every group where the pattern is first found; None where it is not found. Lines
        that are not UTF-8 are taken byte by byte."""
        found: list[Groups | None] = [None] * len(lines)
        texts = [at for at, line in enumerate(lines) if _is_utf8(line)]
        others = sorted(set(range(len(lines))).difference(texts)) if len(texts) < len(lines) else []
        for kind, places in ((pa.string(), texts), (pa.binary(), others)):
            for at, groups in zip(places, self._search(pa.array([lines[at] for at in places], kind)), strict=True):
                found[at] = groups
        return found

    def _search(self, lines: pa.Array) -> list[Groups | None]:
        if not self.groups:
            return [{} if found else None for found in pc.match_substring_regex(lines, self.text).to_pylist()]
        found = pc.extract_regex(lines, self.text).to_pylist()
        return [one and {name: _text(value) for name, value in one.items()} for one in found]


def pattern(text: str) -> Pattern:
    """The pattern of a text; ValueError, with the reason, for a text that is no regular expression of RE2."""
    try:
        kind = pc.extract_regex(pa.array([], pa.string()), text).type
    except pa.ArrowInvalid as error:
        raise ValueError(str(error).removeprefix("Invalid regular expression: ")) from None
    names = tuple(field.name for field in kind)
    if len(set(names)) < len(names):
        raise ValueError("two groups have the same name")
    return Pattern(text, names)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
