"""A mapping: a TOML file that says how a user's files become trace rows. All of it is optional but what a kind of
source needs: NDJSON traces need none.

    header = "header.json"         # or a table [header] with the fields of a trace header: topology, parameters, order,
                                   # complete (by kind: "all", or names of nodes), iut, notes
    ended = ["clean", "quiescent"] # how the recorded runs ended; nothing where that is not known
    [columns]                      # trace column = the user's name of it
    [constants]                    # trace column = its value in every row
    [units]                        # column of times = "ns", "us", "ms", "s" or "iso8601"
    [kinds]                        # the user's word = event kind
    [packets]                      # the user's word = kind of packet
    [calls]                        # the user's word = call
    [outcomes]                     # the user's word = "ok", "refused" or "unknown"
    [nodes]                        # node = its other names: words, "address", "address:port"
    [files]
    node = 'log-(?P<node>.+)'      # a folder is one run, and this finds in a file's name whose log it is
    json = true                    # each line of a log is a JSON object
    [[line]]                       # a line of a log, by the first pattern that is found in it
    pattern = '(?P<time_ns>\\d+) got (?P<number>\\d+)'
    constants = { kind = "delivered" }
    [[ignore]]
    pattern = '^DEBUG'             # lines that are of no event

Beside trace columns, patterns and columns may give `to` and `from`, the node at the other end of the link, and
`payload`, the text that `digest` is made of. Patterns are RE2's (https://github.com/google/re2/wiki/Syntax): groups
have names, and there is no looking around.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from collections.abc import Mapping as Table
from pathlib import Path
from typing import Any

import msgspec

from scatterproof.spark.patterns import Pattern, pattern
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes
from scatterproof.spec.place import Place
from scatterproof.spec.trace import CLEAN, QUIESCENT, Header, TraceSchema, schema

UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
ISO = "iso8601"
HELPERS = ("to", "from", "payload")
_ENDS = {"clean": CLEAN, "quiescent": QUIESCENT}


class LogLine(msgspec.Struct, frozen=True):
    """A kind of log line. ignored: it is of no event."""

    pattern: Pattern
    constants: dict[str, str | int]
    ignored: bool = False


class Mapping(msgspec.Struct, frozen=True, kw_only=True):
    """The file, read and checked.

    header: without run; None where the sources bring their own.
    node: finds the node in a file's name; a folder is one run then.
    ended: the flags of the last row, None for no such row.
    """

    protocol: str
    header: Header | None = None
    ended: int | None = None
    columns: dict[str, str] = {}
    constants: dict[str, str | int] = {}
    units: dict[str, str] = {}
    kinds: dict[str, int] = {}
    packets: dict[str, int] = {}
    calls: dict[str, int] = {}
    outcomes: dict[str, int] = {}
    nodes: dict[str, int] = {}
    node: Pattern | None = None
    json: bool = False
    lines: tuple[LogLine, ...] = ()


def no_mapping(protocol: str) -> Mapping:
    names = schema(protocol)
    return Mapping(
        protocol=protocol, kinds=names.kinds, packets=names.packets, calls=names.calls, outcomes=names.outcomes
    )


def read_mapping(path: Path, protocol: str) -> Mapping:
    """The mapping in the file. BadInput, one sentence with file, key and what to write instead, where it is
    malformed."""
    try:
        table = tomllib.loads(read_bytes(path, "mapping").decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: not TOML: {error}") from None
    place, names = Place(str(path)), schema(protocol)
    place.keys(table, "", "header ended columns constants units kinds packets calls outcomes nodes files line ignore")
    header = _header(table, place, path, protocol)
    files = place.table(table, "files")
    (place / "files").keys(files, "", "node json")
    columns = place.texts(table, "columns")
    _refuse_unknown(columns, names, place / "columns")
    constants = _constants(place.table(table, "constants"), names, place / "constants")
    return Mapping(
        protocol=protocol,
        header=header,
        ended=_ended(table, place),
        columns=columns,
        constants=constants,
        units=_units(place.texts(table, "units"), names, place / "units"),
        kinds=names.kinds | _words(place.texts(table, "kinds"), names.kinds, place / "kinds"),
        packets=names.packets | _words(place.texts(table, "packets"), names.packets, place / "packets"),
        calls=names.calls | _words(place.texts(table, "calls"), names.calls, place / "calls"),
        outcomes=names.outcomes | _words(place.texts(table, "outcomes"), names.outcomes, place / "outcomes"),
        nodes=_nodes(place, table, header),
        node=_file_pattern(files, place / "files"),
        json=files.get("json") is True,
        lines=(*_lines(place, table, "ignore", names), *_lines(place, table, "line", names)),
    )


def _header(table: dict[str, object], place: Place, path: Path, protocol: str) -> Header | None:
    given = table.get("header")
    if given is None:
        return None
    if isinstance(given, str):
        source = path.parent / given
        first, *_ = read_bytes(source, "header").splitlines() or [b""]
        try:
            given = msgspec.json.decode(first if source.suffix == ".ndjson" else source.read_bytes())
        except msgspec.DecodeError as error:
            raise BadInput(f"{source}: not JSON: {error}") from None
        place = Place(str(source))
    if not isinstance(given, dict):
        place.refuse("'header' is neither a table nor the name of a file", 'write header = "header.json"')
    fields: dict[str, Any] = {"protocol": protocol, "parameters": {}, "order": "node", **given, "run": 0}
    fields["complete"] = _complete(fields, place / "header")
    try:
        header = msgspec.convert(fields, Header)
    except msgspec.ValidationError as error:
        raise BadInput(f"{place.text}: header: {error}; give the fields of a trace header") from None
    if header.protocol != protocol:
        raise BadInput(f"{place.text}: header: is of protocol {header.protocol!r}, not of {protocol}; choose that one")
    return header


def _complete(fields: dict[str, Any], place: Place) -> dict[str, list[int]]:
    """By kind, the numbers of the nodes; "all" and names are taken, too."""
    topology = fields.get("topology")
    given_nodes = topology.get("nodes", []) if isinstance(topology, dict) else []
    names = [node.get("name") if isinstance(node, dict) else None for node in given_nodes]
    given = fields.get("complete", {})
    if not isinstance(given, dict):
        place.refuse("'complete' is not a table", 'write complete = { delivered = "all" }')
    found: dict[str, list[int]] = {}
    for kind, nodes in given.items():
        if nodes == "all":
            found[kind] = list(range(len(names)))
            continue
        listed = nodes if isinstance(nodes, list) else [nodes]
        for node in listed:
            if node not in names and node not in range(len(names)):
                place.refuse(f"complete: {kind}: there is no node {node!r}", "take names from topology, or 'all'")
        found[kind] = [node if isinstance(node, int) else names.index(node) for node in listed]
    return found


def _ended(table: dict[str, object], place: Place) -> int | None:
    if "ended" not in table:
        return None
    words = place.strings(table, "ended")
    for word in words:
        if word not in _ENDS:
            place.refuse(f"ended: unknown word {word!r}", f"take some of {', '.join(_ENDS)}, or none: []")
    return sum(_ENDS[word] for word in words)


def _refuse_unknown(columns: Iterable[str], names: TraceSchema, place: Place) -> None:
    for column in columns:
        if column not in (*names.columns, *HELPERS, "run"):
            place.refuse(f"{column!r} is no trace column", f"take one of {', '.join((*names.columns, *HELPERS))}")


def _constants(given: dict[str, object], names: TraceSchema, place: Place) -> dict[str, str | int]:
    _refuse_unknown(given, names, place)
    found: dict[str, str | int] = {}
    for column, value in given.items():
        if not isinstance(value, str | int) or isinstance(value, bool):
            place.refuse(f"{column!r} is neither a text nor a whole number", "write it as one of these")
        found[column] = value
    return found


def _units(given: dict[str, str], names: TraceSchema, place: Place) -> dict[str, str]:
    _refuse_unknown(given, names, place)
    for column, unit in given.items():
        if unit not in (*UNITS, ISO):
            place.refuse(f"{column}: unknown unit {unit!r}", f"take one of {', '.join((*UNITS, ISO))}")
    return given


def _words(given: dict[str, str], known: Table[str, int], place: Place) -> dict[str, int]:
    for word, meaning in given.items():
        if meaning not in known:
            place.refuse(f"{word!r} stands for unknown {meaning!r}", f"take one of {', '.join(known)}")
    return {word: known[meaning] for word, meaning in given.items()}


def _nodes(place: Place, table: dict[str, object], header: Header | None) -> dict[str, int]:
    """Every name of a node, by itself and from the list of its others."""
    own = {node.name: number for number, node in enumerate(header.topology.nodes)} if header else {}
    found = dict(own)
    given = place.table(table, "nodes")
    for name in given:
        if name not in own:
            (place / "nodes").refuse(f"there is no node {name!r}", f"the header has {', '.join(own) or 'none'}")
        for other in (place / "nodes").strings(given, name):
            if found.get(other, own[name]) != own[name]:
                (place / "nodes").refuse(f"{other!r} names two nodes", "give each node names of its own")
            found[other] = own[name]
    return found


def _file_pattern(files: dict[str, object], place: Place) -> Pattern | None:
    if "node" not in files:
        return None
    found = _pattern(place.string(files, "node"), place)
    if "node" not in found.groups:
        place.refuse("'node' has no group named node", "write (?P<node>...) where the name of the node stands")
    return found


def _lines(place: Place, table: dict[str, object], key: str, names: TraceSchema) -> list[LogLine]:
    found: list[LogLine] = []
    for number, entry in enumerate(place.tables(table, key), 1):
        where = place / f"{key} {number}"
        where.keys(entry, "pattern", "constants" if key == "line" else "")
        known = _pattern(where.string(entry, "pattern"), where)
        _refuse_unknown(known.groups, names, where)
        found.append(LogLine(known, _constants(where.table(entry, "constants"), names, where), key == "ignore"))
    return found


def _pattern(text: str, place: Place) -> Pattern:
    try:
        return pattern(text)
    except ValueError as error:
        hint = "write it for RE2, with (?P<name>...) or (?:...) for every group and without looking around"
        place.refuse(f"{text!r} is no regular expression: {error}", hint)
