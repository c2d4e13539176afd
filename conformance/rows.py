"""Rows of traces, written by the names of their columns."""

from __future__ import annotations

from scatterproof.spec.trace import ABSENT, Kind, Row, schema


def row_of(protocol: str, kind: Kind, **known: int) -> Row:
    """A row of this kind; what is not known is absent."""
    values = {"kind": int(kind), **known}
    return tuple(values.get(name, ABSENT) for name in schema(protocol).columns)
