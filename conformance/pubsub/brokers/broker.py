"""A broker under test, as a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

# Given filters and topics, each as text: which filter was sent a message of which topic, as pairs of their numbers.
Ask: TypeAlias = Callable[[Sequence[str], Sequence[str]], set[tuple[int, int]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """name: as the command line has it.
    text: what it is, for people.
    grammar: of its filters, by name.
    marked: whether topics whose first token begins with the grammar's mark may be published; a broker may refuse that.
    spaces: whether tokens may have spaces; those of NATS may not, as is documented.
    why_not: why it cannot be driven here, with what installs it; None where it can.
    serve: its server, in a folder, until the context ends.
    """

    name: str
    text: str
    grammar: str
    marked: bool = True
    spaces: bool = True
    why_not: Callable[[], str | None]
    serve: Callable[[Path], AbstractContextManager[Ask]]
