"""The part of YAML that our templates keep to, so that reading them takes no package: mappings and lists in blocks,
texts plain or in quotes, and literal blocks. What is outside it is refused."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TypeAlias

Yaml: TypeAlias = "str | dict[str, Yaml] | list[Yaml]"
_KEY = re.compile(r"([\w.-]+):(?: +(.*))?$")
_NOT_PLAIN = tuple("[]{}&*!|>'\"%@`,")  # what a plain text may not begin with


@dataclass(slots=True)
class _Lines:
    """The lines left, from `at` on; line numbers count from 1."""

    lines: list[str]
    at: int = 0

    def peek(self) -> tuple[int, str] | None:
        """Indentation and text of the next line that says something."""
        while self.at < len(self.lines) and not self.lines[self.at].split("#")[0].strip():
            self.at += 1
        if self.at == len(self.lines):
            return None
        line = self.lines[self.at]
        return len(line) - len(line.lstrip(" ")), line.strip()

    def refuse(self, what: str) -> ValueError:
        return ValueError(f"line {self.at + 1}: {what}: {self.lines[self.at]!r}")


def read(text: str) -> Yaml:
    """The document; every scalar is a text. ValueError, with the line, for what is not of our part of YAML."""
    lines = _Lines(text.splitlines())
    found = _block(lines, 0)
    if lines.peek() is not None:
        raise lines.refuse("indented otherwise than what it belongs to")
    return found


def _block(lines: _Lines, indent: int) -> Yaml:
    first = lines.peek()
    assert first is not None
    return _list(lines, indent) if first[1].startswith("- ") else _mapping(lines, indent)


def _mapping(lines: _Lines, indent: int) -> dict[str, Yaml]:
    found: dict[str, Yaml] = {}
    while (here := lines.peek()) is not None and here[0] == indent and not here[1].startswith("- "):
        match = _KEY.match(here[1])
        if match is None:
            raise lines.refuse("no key and value")
        if match[1] in found:
            raise lines.refuse("the key is there twice")
        found[match[1]] = _value(lines, indent, match[2])
    return found


def _list(lines: _Lines, indent: int) -> list[Yaml]:
    found: list[Yaml] = []
    while (here := lines.peek()) is not None and here[0] == indent and here[1].startswith("- "):
        rest = here[1][2:].strip()
        if _KEY.match(rest):
            # A mapping that begins behind the dash: its lines stand where the first key does.
            lines.lines[lines.at] = " " * (indent + 2) + rest
            found.append(_mapping(lines, indent + 2))
        else:
            found.append(_value(lines, indent, rest))
    return found


def _value(lines: _Lines, indent: int, said: str | None) -> Yaml:
    if said == "|":
        lines.at += 1
        return _literal(lines, indent)
    if said:
        scalar = _scalar(lines, said)
        lines.at += 1
        return scalar
    lines.at += 1
    inner = lines.peek()
    if inner is None or inner[0] <= indent:
        raise lines.refuse("the key before has no value") if inner else ValueError("the last key has no value")
    return _block(lines, inner[0])


def _literal(lines: _Lines, indent: int) -> str:
    taken: list[str] = []
    while lines.at < len(lines.lines):
        line = lines.lines[lines.at]
        if line.strip() and len(line) - len(line.lstrip(" ")) <= indent:
            break
        taken.append(line)
        lines.at += 1
    deep = min(len(line) - len(line.lstrip(" ")) for line in taken if line.strip())
    return "\n".join(line[deep:] for line in taken).rstrip() + "\n"


def _scalar(lines: _Lines, said: str) -> str:
    if said.startswith('"'):
        text: str = json.loads(said)
        return text
    # A colon or a hash would end the text; YAML 1.1 takes some words for other things than texts.
    if said.startswith(_NOT_PLAIN) or ": " in said or " #" in said or said.endswith(":"):
        raise lines.refuse("to be put in quotes")
    return said
