"""The record of a broker whose filters are tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from scatterproof.conformance.adapters.needs import Needs

# Takes filters and topics as texts; returns pairs (filter, topic), by index from 0, where the filter got the message.
Ask: TypeAlias = Callable[[Sequence[str], Sequence[str]], set[tuple[int, int]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A broker.

    name: on the command line.
    text: what it is, for people.
    grammar: the name of its filters' grammar.
    marked: whether it takes topics whose first token begins with the grammar's mark; a broker may refuse them.
    spaces: whether tokens may have spaces; NATS documents that its own may not.
    why_not: returns why it cannot run here, with what installs it; None where it can.
    needs: what installs it, and its client.
    serve: runs its server in a folder until the context ends.
    """

    name: str
    text: str
    grammar: str
    marked: bool = True
    spaces: bool = True
    why_not: Callable[[], str | None]
    needs: Needs
    serve: Callable[[Path], AbstractContextManager[Ask]]
