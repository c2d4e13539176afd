"""Checks in plain Python, caught where they reach outside of arrays and tables, as they are not in machine code."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from types import CodeType
from typing import Any, TypeVar

from scatterproof.conformance.checks.source import plain_source, units
from scatterproof.conformance.checks.tables import PlainTable
from scatterproof.conformance.judge import all_checks
from scatterproof.conformance.protocol import load
from scatterproof.spec.trace import Header, Row

Value = TypeVar("Value")


class Strict(list[Value]):
    """A list that nobody may read from its end, as arrays in machine code cannot be."""

    def __getitem__(self, at: Any) -> Any:
        assert 0 <= at < len(self), f"{at} is outside of {len(self)}"
        return super().__getitem__(at)

    def __setitem__(self, at: Any, value: Any) -> None:
        assert 0 <= at < len(self), f"{at} is outside of {len(self)}"
        super().__setitem__(at, value)


class StrictTable(PlainTable):
    """A table of which nobody may read the slot -1, that of a key that is not there."""

    def __init__(self) -> None:
        super().__init__()
        self.keys, self.fields = Strict(self.keys), Strict(self.fields)


@cache
def _source(protocol: str) -> CodeType:
    plugin = load(protocol)
    text = plain_source(all_checks(plugin), plugin.columns)
    text, lists = re.subn(r"= (\[-?\d+\](?: \* .+)?)$", r"= Strict(\1)", text, flags=re.MULTILINE)
    assert lists
    assert "PlainTable()" in text
    return compile(text.replace("PlainTable()", "StrictTable()"), "<strict checks>", "exec")


def strict_monitor(header: Header) -> Callable[[int, Row], None]:
    """What observes the rows of a run by all checks and premises, whether they apply or not; AssertionError where one
    reaches outside."""
    plugin = load(header.protocol)
    checks = all_checks(plugin)
    namespace: dict[str, Any] = {"Strict": Strict, "StrictTable": StrictTable}
    exec(_source(header.protocol), namespace)
    around = {
        name: value if isinstance(value, int) else Strict(value.tolist())
        for name, value in plugin.surroundings(header).items()
    }
    observe: Callable[[int, Row], None]
    observe, _ = namespace["make"]([unit.step for unit in units(checks)], around, [0] * len(checks), [])
    return observe
