"""Traces as newline-delimited JSON: the header on the first line, then one object a row, absent columns left out."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes, write_atomically
from scatterproof.spec.trace import ABSENT, VERSION, Header, Row, Trace, TraceSchema, schema

_INT64 = range(-(1 << 63), 1 << 63)


def write(path: Path, trace: Trace) -> None:
    write_atomically(path, encode(trace))


def read(path: Path) -> Trace:
    """Read a whole trace. Raises BadInput naming file and line."""
    return decode(read_bytes(path, "trace"), str(path))


def encode(trace: Trace) -> bytes:
    names = schema(trace.header.protocol)
    lines = [msgspec.json.encode(trace.header), *(encode_row(row, names) for row in trace.rows)]
    return b"\n".join(lines) + b"\n"


def encode_row(row: Row, names: TraceSchema) -> bytes:
    kind = names.kind(row[names.index("kind")])
    columns = zip(names.columns, row, strict=True)
    shown = {name: value for name, value in columns if value != ABSENT and name != "kind"}
    return msgspec.json.encode({"kind": kind, **shown})


def decode(content: bytes, name: str) -> Trace:
    lines = content.splitlines()
    if not lines:
        raise BadInput(f"{name}: empty; the first line of a trace is its header")
    header = decode_header(lines[0], name)
    names = schema(header.protocol)
    rows = [
        decode_row(line, names, f"{name}: line {number}") for number, line in enumerate(lines[1:], 2) if line.strip()
    ]
    return Trace(header, rows)


def decode_header(line: bytes, name: str) -> Header:
    try:
        header = msgspec.json.decode(line, type=Header)
    except msgspec.DecodeError as error:
        raise BadInput(f"{name}: line 1 is not a trace header: {error}") from None
    if header.trace != VERSION:
        raise BadInput(f"{name}: trace version {header.trace}, this version reads {VERSION}; record it again")
    return header


def decode_row(line: bytes, names: TraceSchema, place: str) -> Row:
    """One row. Columns that this schema does not know are passed over; they are the recorder's own."""
    try:
        found = msgspec.json.decode(line, type=dict[str, int | str | float | bool | None])
    except msgspec.DecodeError as error:
        raise BadInput(f"{place} is not a JSON object: {error}") from None
    if line.count(b":") > len(found) and (twice := _given_twice(line)) is not None:
        raise BadInput(f"{place} has column {twice} twice; keep one of them")
    kind = found.get("kind")
    if not isinstance(kind, str) or kind not in names.kinds:
        raise BadInput(f"{place} has kind {kind!r}; the kinds are {', '.join(names.kinds)}")
    found["kind"] = names.kinds[kind]
    values: list[int] = []
    for column in names.columns:
        value = found.get(column, ABSENT)
        if not isinstance(value, int) or isinstance(value, bool) or value not in _INT64:
            raise BadInput(f"{place}: {column} is {value!r}; give a whole number of 64 bits")
        values.append(value)
    return tuple(values)


def _given_twice(line: bytes) -> str | None:
    """The first name that the object has twice. Slow, and so asked only where there are more colons than names."""
    pairs: list[tuple[str, object]] = json.loads(line, object_pairs_hook=list)
    names = [name for name, _ in pairs]
    return next((name for at, name in enumerate(names) if name in names[:at]), None)
