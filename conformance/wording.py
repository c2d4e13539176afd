"""What is wrong, in words: a violation's sentence names its clause, its row, and what is expected and found there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from string import Formatter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scatterproof.conformance.checks.online import Broken
from scatterproof.conformance.checks.step import Check
from scatterproof.spec.trace import Header, schema

# The places of a violation's fields.
CHECK, POSITION, CODE, _, _, WITNESS = range(len(Broken._fields))

# Violations of one check, of shape (fields of `Broken` + columns of the trace, violations): each has its row with it.
# Integers of any size where the type is object.
Told = npt.NDArray[Any]

# What a way's sentence names, and of a violation; all else is a column of its row.
_OF_VIOLATIONS = {"position": "position", "expected": "expected", "expected_node": "expected", "found": "found"}
_NODES = frozenset({"expected_node", "node", "sender", "receiver"})


def sentences(protocol: str, header: Header, check: Check, told: Told) -> list[str]:
    """One a violation, of five parts: clause, trace row, expected and found within the way's sentence, witness."""
    codes = told[CODE]
    if (codes != codes[0]).any():
        each = np.empty(len(codes), dtype=object)
        for code in set(codes.tolist()):
            own = codes == code
            each[own] = sentences(protocol, header, check, told[:, own])
        said: list[str] = each.tolist()
        return said
    pattern = _pattern(protocol, check.clause, check.ways[int(codes[0]) - 2])
    values: list[list[Any]] = [told[place].tolist() for place in pattern.places]
    nodes = [node.name for node in header.topology.nodes]
    for at in pattern.nodes:
        values[at] = _named(values[at], nodes)
    if pattern.links:
        links = [f"{nodes[link.source]}->{nodes[link.target]}" for link in header.topology.links]
        for at in pattern.links:
            values[at] = _named(values[at], links)
    worded = map(pattern.text.__mod__, zip(*values, strict=True))
    witnesses = told[WITNESS]
    if not (witnesses >= 0).any():
        return list(worded)
    return [
        f"{words} (see row {witness})" if witness >= 0 else words
        for words, witness in zip(worded, witnesses.tolist(), strict=True)
    ]


def _named(numbers: Sequence[int], names: Sequence[str]) -> list[str]:
    count = len(names)
    return [names[number] if 0 <= number < count else f"number {number}" for number in numbers]


class _Pattern(NamedTuple):
    """A way's sentence, taken apart once: a corpus may break a clause millions of times.

    text: with %s for each value.
    places: of these values in a violation and its row, one behind the other.
    nodes, links: which of the values are such.
    """

    text: str
    places: tuple[int, ...]
    nodes: tuple[int, ...]
    links: tuple[int, ...]


@cache
def _pattern(protocol: str, clause: str, way: str) -> _Pattern:
    own, columns = Broken._fields, schema(protocol).columns
    parsed = list(Formatter().parse(f"{clause}, row {{position}} at {{time_ns}} ns: {way}"))
    names = [name for _, name, _, _ in parsed if name]
    return _Pattern(
        text="".join(said.replace("%", "%%") + ("%s" if name else "") for said, name, _, _ in parsed),
        places=tuple(
            own.index(_OF_VIOLATIONS[name]) if name in _OF_VIOLATIONS else len(own) + columns.index(name)
            for name in names
        ),
        nodes=tuple(at for at, name in enumerate(names) if name in _NODES),
        links=tuple(at for at, name in enumerate(names) if name == "link"),
    )
