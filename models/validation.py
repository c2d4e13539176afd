"""What a protocol tells `scatterproof.models.trace_validation` of a trace that TLC is to read, and how it writes values
in TLA+."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A run in TLA+.

    module: the one that reads it.
    configuration: its .cfg.
    text: the run, an expression.
    times: the time that each rank stands for.
    reasons: by operator, what a row must keep that is no clause, in words.
    rules: the modules with the rules that the configuration names.
    positions: of each row that it reads, its position in the trace; empty where it reads them all.
    """

    module: str
    configuration: str
    text: str
    times: Mapping[int, int]
    reasons: Mapping[str, str]
    rules: tuple[str, ...] = ("Rules",)
    positions: tuple[int, ...] = ()


def tla_set(identities: Iterable[int]) -> str:
    """The set of nodes or links in TLA+, where they count from 1."""
    return f"{{{', '.join(str(identity + 1) for identity in identities)}}}"


def tla_sequence(values: Iterable[str]) -> str:
    return f"<<{', '.join(values)}>>"


def tla_record(fields: Mapping[str, object]) -> str:
    """A record in TLA+; its values are numbers, or in TLA+ already."""
    return "[" + ", ".join(f"{name} |-> {value}" for name, value in fields.items()) + "]"


def tla_truth(value: bool) -> str:
    return "TRUE" if value else "FALSE"
