"""What a protocol tells `models.trace_validation` of a trace that TLC is to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A run in TLA+. module: the one that reads it. configuration: its .cfg. text: the run, an expression. times: what
    each rank stands for. reasons: what a row must keep that is no clause, in words. rules: the modules that the rules
    which the configuration names are in. positions: of each row that it reads, its position in the trace; empty where
    it reads them all."""

    module: str
    configuration: str
    text: str
    times: Mapping[int, int]
    reasons: Mapping[str, str]
    rules: tuple[str, ...] = ("Rules",)
    positions: tuple[int, ...] = ()
