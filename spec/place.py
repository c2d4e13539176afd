"""Reading a parsed TOML file value by value, each complaint naming the place and the mend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn, TypeVar

from scatterproof.spec.errors import BadInput

Closed = TypeVar("Closed", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file a value stands: ``file: entry``; all complaints, each a BadInput, begin with it."""

    text: str

    def __truediv__(self, part: str) -> Place:
        return Place(f"{self.text}: {part}")

    def refuse(self, fault: str, mend: str) -> NoReturn:
        """Raise BadInput: place, fault, and what to do about it."""
        raise BadInput(f"{self.text}: {fault}; {mend}.")

    def keys(self, table: Mapping[str, object], required: str, optional: str = "") -> None:
        """Refuse keys that are missing and keys that are unknown."""
        known = required.split() + optional.split()
        for key in table:
            if key not in known:
                self.refuse(f"unknown key {key!r}", f"remove it, or take one of {', '.join(known)}")
        for key in required.split():
            if key not in table:
                self.refuse(f"the key {key!r} is missing", "add it")

    def string(self, table: Mapping[str, object], key: str) -> str:
        """A text that is not empty."""
        value = table[key]
        if not isinstance(value, str) or not value.strip():
            self.refuse(f"{key!r} is not a text", f"write {key} as a text in quotes that is not empty")
        return value

    def strings(self, table: Mapping[str, object], key: str) -> tuple[str, ...]:
        """A list of different texts."""
        value = table.get(key, [])
        if not isinstance(value, list):
            self.refuse(f"{key!r} is not a list of texts", f'write {key} = ["...", "..."]')
        texts = [item for item in value if isinstance(item, str)]
        if len(texts) != len(value):
            self.refuse(f"{key!r} is not a list of texts", f'write {key} = ["...", "..."]')
        for text in texts:
            if texts.count(text) > 1:
                self.refuse(f"{key!r} names {text!r} twice", "name it once")
        return tuple(texts)

    def table(self, table: Mapping[str, object], key: str) -> dict[str, object]:
        """The table under a key, empty when the key is absent."""
        value = table.get(key, {})
        if not isinstance(value, dict):
            self.refuse(f"{key!r} is not a table", f"write it as [{key}]")
        return value

    def texts(self, table: Mapping[str, object], key: str) -> dict[str, str]:
        """A table of texts."""
        inner = self.table(table, key)
        return {name: (self / key).string(inner, name) for name in inner}

    def tables(self, table: Mapping[str, object], key: str) -> list[dict[str, object]]:
        """The array of tables under a key, empty when the key is absent."""
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.refuse(f"{key!r} is not a list of tables", f"write each as [[{key}]]")
        return value

    def member(self, vocabulary: type[Closed], word: str, key: str) -> Closed:
        """The member of a closed vocabulary that a word names."""
        if word not in {member.value for member in vocabulary}:
            self.refuse(f"unknown {key} {word!r}", f"take one of {', '.join(vocabulary)}")
        return vocabulary(word)
