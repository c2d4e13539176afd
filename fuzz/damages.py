"""Damaged traces: what is done to a trace, in words that a reader can read and that stay when the drawing changes.

A damage is a list of edits such as `set 3 digest 7; delete 5`, done one after another; `EDITS` says what each does.
`scatterproof.fuzz.damage_search` finds those that are worth keeping, in `fuzz/<protocol>/damages.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random

import msgspec

from scatterproof.spec import trace_ndjson
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes, write_atomically
from scatterproof.spec.topology import Link, Node, Role, Topology
from scatterproof.spec.trace import ABSENT, Header, Kind, Row, Trace, rows_of_packet, schema

TRACES = Path(__file__).resolve().parents[1] / "conformance" / "traces"
_END = 1 << 63
_RAISED, _IDLE = 50, 20
_EXTREMES = (-_END, -1, 0, 1, _END - 1)


def trace_files(name: str) -> list[Path]:
    return sorted(TRACES.glob(f"{name}/*/*.ndjson"))


@cache
def labelled(name: str) -> Mapping[str, Trace]:
    """The labelled traces of a protocol, by their names."""
    return {path.stem: trace_ndjson.read(path) for path in trace_files(name)}


def kept_file(name: str) -> Path:
    return Path(__file__).parent / name / "damages.toml"


def kept_damages(name: str) -> dict[str, tuple[str, ...]]:
    """What is done to each labelled trace, by its name. Raises BadInput for an invalid file."""
    path = kept_file(name)
    if not path.is_file():
        return {}
    try:
        return msgspec.toml.decode(read_bytes(path, "damages"), type=dict[str, tuple[str, ...]])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}") from None


def write_kept(name: str, all_of: Mapping[str, Sequence[str]]) -> None:
    """Write the file."""
    lines = ["# Made by scatterproof/fuzz/damage_search.py; scatterproof/fuzz/damages.py says what the edits do.", ""]
    for base in sorted(all_of):
        lines += [f'"{base}" = [', *(f'    "{how}",' for how in sorted(set(all_of[base]))), "]"]
    write_atomically(kept_file(name), "\n".join([*lines, ""]).encode())


def kept(name: str) -> Iterator[tuple[str, Trace]]:
    """The damaged traces that are kept, with a title each. Raises BadInput where an edit cannot be done any more."""
    for base, all_of in kept_damages(name).items():
        for title in (f"{base}: {how}" for how in all_of):
            yield title, titled(name, title, kept_file(name))


def titled(name: str, title: str, path: Path) -> Trace:
    """The labelled trace that the title names, with the edits behind its name, as in `PS-ORDER.second: delete 8`.
    Raises BadInput where there is none any more; the title is in the file of this path."""
    base, _, how = title.partition(": ")
    try:
        return damaged(labelled(name)[base], how)
    except (LookupError, ValueError) as error:
        raise BadInput(f"{path}: {title}: {error!r}; take it out") from None


def damaged(trace: Trace, how: str) -> Trace:
    """A copy of the trace with the edits done. Raises LookupError or ValueError for one that cannot be done."""
    names = schema(trace.header.protocol).columns
    header, rows = trace.header, list(trace.rows)
    for edit in filter(None, how.split("; ")):
        word, *given = edit.split(" ")
        if word == "renumber":
            header, rows = _renumbered(header, rows)
        elif word == "parameter":
            value: str | int = int(given[1]) if given[1].lstrip("-").isdigit() else given[1]
            header = msgspec.structs.replace(header, parameters={**header.parameters, given[0]: value})
        elif word == "take":
            rows.insert(int(given[0]), labelled(header.protocol)[given[1]].rows[int(given[2])])
        else:
            rows = EDITS[word](rows, names, given)
    return Trace(header, rows)


Rows = list[Row]


def _with(row: Row, place: int, value: int) -> Row:
    return (*row[:place], max(-_END, min(_END - 1, value)), *row[place + 1 :])


def _set(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """set ROW COLUMN VALUE."""
    at = int(given[0])
    rows[at] = _with(rows[at], names.index(given[1]), int(given[2]))
    return rows


def _set_packet(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """set-packet ROW COLUMN VALUE: wherever the packet of the row is."""
    for at in rows_of_packet(names, rows, int(given[0])):
        rows[at] = _with(rows[at], names.index(given[1]), int(given[2]))
    return rows


def _rename(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """rename COLUMN OLD NEW: in all rows."""
    place, old, new = names.index(given[0]), int(given[1]), int(given[2])
    return [_with(row, place, new) if row[place] == old else row for row in rows]


def _shift(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """shift ROW COLUMN BY: in this row and those after it."""
    at, place, by = int(given[0]), names.index(given[1]), int(given[2])
    return [_with(row, place, row[place] + by) if n >= at and row[place] >= 0 else row for n, row in enumerate(rows)]


def _exchange(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """exchange ROW ROW COLUMN: two rows have each other's value."""
    one, other, place = int(given[0]), int(given[1]), names.index(given[2])
    first, second = rows[one][place], rows[other][place]
    rows[one], rows[other] = _with(rows[one], place, second), _with(rows[other], place, first)
    return rows


def _turn(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """turn ROW COLUMN COLUMN: two columns have each other's value."""
    at, one, other = int(given[0]), names.index(given[1]), names.index(given[2])
    rows[at] = _with(_with(rows[at], one, rows[at][other]), other, rows[at][one])
    return rows


def _delete(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """delete ROW."""
    del rows[int(given[0])]
    return rows


def _without(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """without ROW COLUMN: all rows of the same node go that have the row's value there."""
    at, place, node = int(given[0]), names.index(given[1]), names.index("node")
    like = rows[at]
    return [row for row in rows if (row[place], row[node]) != (like[place], like[node])]


def _double(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """double ROW TO."""
    rows.insert(int(given[1]), rows[int(given[0])])
    return rows


def _again(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """again FROM TO AT COLUMN NEW: the rows from FROM up to TO once more, ahead of row AT, with a new value."""
    first, last, at, place, new = int(given[0]), int(given[1]), int(given[2]), names.index(given[3]), int(given[4])
    return [*rows[:at], *(_with(row, place, new) if row[place] >= 0 else row for row in rows[first:last]), *rows[at:]]


def _move(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """move ROW TO."""
    rows.insert(int(given[1]), rows.pop(int(given[0])))
    return rows


def _tighten(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """tighten: times become 0, 1, 2, ... in their order, so that they are no greater than numbers of other things."""
    at = names.index("time_ns")
    ranks = {time_ns: rank for rank, time_ns in enumerate(sorted({row[at] for row in rows}))}
    return [_with(row, at, ranks[row[at]]) for row in rows]


def _cut(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """cut ROW: what comes from it on is gone, but for the end."""
    ends = [row for row in rows[-1:] if row[names.index("kind")] == Kind.ENDED]
    return [*rows[: min(int(given[0]), len(rows) - len(ends))], *ends]


def _like(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """like ROW OTHER: the row says what the other does, but for where it stands and the number of its call."""
    at, own = int(given[0]), ("time_ns", "clock_ns", "node", "kind", "link", "link_seq", "operation")
    pairs = zip(names, rows[at], rows[int(given[1])], strict=True)
    rows[at] = tuple(mine if name in own else other for name, mine, other in pairs)
    return rows


def _number(rows: Rows, names: Sequence[str], given: Sequence[str]) -> Rows:
    """number: times do not fall, and calls are numbered as they are made; calls within a call, and returns from none,
    are gone."""
    time_ns, node, kind, link, operation = map(names.index, ("time_ns", "node", "kind", "link", "operation"))
    now, made, going_on, found = -_END, dict[int, int](), set[int](), Rows()
    for row in rows:
        now, who = max(now, row[time_ns]), row[node]
        if row[kind] == Kind.CALLED:
            if who in going_on:
                continue
            made[who] = made.get(who, 0) + 1
            going_on.add(who)
        elif row[kind] == Kind.RETURNED and who not in going_on:
            continue
        elif row[kind] == Kind.RETURNED or (row[kind] == Kind.CRASHED and row[link] == ABSENT):
            going_on.discard(who)
        is_of_call = row[kind] in (Kind.CALLED, Kind.RETURNED)
        found.append(_with(_with(row, time_ns, now), operation, made[who] if is_of_call else row[operation]))
    return found


EDITS: dict[str, Callable[[Rows, Sequence[str], Sequence[str]], Rows]] = {
    "set": _set,
    "set-packet": _set_packet,
    "rename": _rename,
    "shift": _shift,
    "exchange": _exchange,
    "turn": _turn,
    "delete": _delete,
    "without": _without,
    "double": _double,
    "again": _again,
    "move": _move,
    "tighten": _tighten,
    "cut": _cut,
    "like": _like,
    "number": _number,
}


def renumbered(trace: Trace) -> Trace:
    """The same run with nodes and links numbered from the other end. Most labelled traces are about host, link and row
    0, so a judge that confuses them with one another would not show it."""
    return Trace(*_renumbered(trace.header, trace.rows))


def renamed(trace: Trace, columns: Sequence[str]) -> Trace:
    """The same run with other numbers in these columns, where a number that is not 0 or below is a name: in each they
    are raised alike; and with more clients, that do nothing. Most labelled traces are about three clients, group 1,
    message 1 and so on."""
    header = trace.header
    names = schema(trace.header.protocol).columns
    more = [_RAISED * (1 + columns.index(name)) if name in columns else 0 for name in names]
    rows = [tuple(v + by if 0 < v < _END - by else v for v, by in zip(row, more, strict=True)) for row in trace.rows]
    topology = header.topology
    if topology.clients():
        host, idle = topology.hosts()[0], range(len(topology.nodes), len(topology.nodes) + _IDLE)
        links = [link for node in idle for link in (Link(node, host), Link(host, node))]
        clients = tuple(Node(f"idle{node}", Role.CLIENT) for node in idle)
        topology = Topology((*topology.nodes, *clients), (*topology.links, *links))
        complete = {kind: (*nodes, *idle) for kind, nodes in header.complete.items()}
        header = msgspec.structs.replace(header, topology=topology, complete=complete)
    return Trace(header, rows)


def _renumbered(header: Header, old: Sequence[Row]) -> tuple[Header, Rows]:
    names = schema(header.protocol)
    nodes, links = len(header.topology.nodes), len(header.topology.links)
    other = dict.fromkeys(("node", "sender", "receiver"), nodes - 1) | {"link": links - 1}
    last = [other.get(name, -1) for name in names.columns]
    rows = [tuple(end - v if 0 <= v <= end else v for v, end in zip(row, last, strict=True)) for row in old]
    topology = msgspec.structs.replace(
        header.topology,
        nodes=header.topology.nodes[::-1],
        links=tuple(
            msgspec.structs.replace(link, source=nodes - 1 - link.source, target=nodes - 1 - link.target)
            for link in reversed(header.topology.links)
        ),
    )
    complete = {kind: tuple(nodes - 1 - node for node in of) for kind, of in header.complete.items()}
    return msgspec.structs.replace(header, topology=topology, complete=complete), rows


def draw_edit(trace: Trace, draw: Random) -> str:
    """One edit that can be done to the trace; empty for a trace without rows. Of calls it leaves, more often than not,
    what a premise lets through."""
    names, rows = schema(trace.header.protocol).columns, trace.rows
    if not rows:
        return ""
    how, kind = _draw_edit(trace, names, draw), names.index("kind")
    return f"{how}; number" if draw.random() < 0.7 and any(row[kind] == Kind.CALLED for row in rows) else how


def _draw_edit(trace: Trace, names: Sequence[str], draw: Random) -> str:
    rows = trace.rows
    at, other = draw.randrange(len(rows)), draw.randrange(len(rows))
    said = [name for name, value in zip(names, rows[at], strict=True) if value != ABSENT and name != "kind"]
    column = draw.choice(said or ["time_ns"])
    place = names.index(column)
    own = rows[at][place]
    match draw.choice(_WAYS):
        case "set":
            if draw.random() < 0.1:
                column = draw.choice([name for name in names if name != "kind"])
                place, own = names.index(column), rows[at][names.index(column)]
            word = "set-packet" if rows[at][names.index("link_seq")] >= 0 and draw.random() < 0.5 else "set"
            return f"{word} {at} {column} {_value(rows, place, own, draw)}"
        case "rename":
            return f"rename {column} {own} {_value(rows, place, own, draw)}"
        case "shift":
            by = draw.choice((-10, -1, 1, 10, rows[at][0] - rows[other][0], own, -own))
            return f"shift {at} {column} {by}"
        case "exchange":
            return f"exchange {at} {other} {column}"
        case "turn":
            return f"turn {at} {column} {draw.choice(said)}"
        case "without":
            return f"without {at} {column}"
        case "again":
            last = min(len(rows), at + draw.randint(1, 6))
            return f"again {at} {last} {draw.randint(last, len(rows))} {column} {_value(rows, place, own, draw)}"
        case "take":
            everything = labelled(trace.header.protocol)
            title = draw.choice([one for one in everything if _is_alike(everything[one], trace)] or list(everything))
            return f"take {other} {title} {draw.randrange(len(everything[title].rows))}"
        case "like":
            alike = [n for n, row in enumerate(rows) if _what(names, row) == _what(names, rows[at])]
            return f"like {at} {draw.choice(alike)}"
        case "parameter":
            return _parameter(trace, draw)
        case "tie":
            return f"set {at} time_ns {rows[at - 1][names.index('time_ns')]}"
        case "doubt" if "outcome" in said:
            return f"set {at} outcome {int(Outcome.UNKNOWN)}"
        case "doubt" | "tighten":
            return "tighten"
        case "delete" | "cut" as word:
            return f"{word} {at}"
        case word:
            return f"{word} {at} {other}"


_WAYS = (
    *["set"] * 7, *["take"] * 3, *["move"] * 2, *["double"] * 2, *["delete"] * 2, *["again"] * 3, *["exchange"] * 2,
    *["tie"] * 2, *["doubt"] * 2, *["like"] * 2, *["rename"] * 2, "tighten", "shift", "turn", "without", "cut",
    "parameter",
)  # fmt: skip


def _is_alike(one: Trace, other: Trace) -> bool:
    """Whether both have a row of the same call; where there are no calls, of the same kind."""
    names = schema(one.header.protocol).columns
    own, others = ({_what(names, row)[-1] for row in trace.rows} - {ABSENT} for trace in (one, other))
    return not own.isdisjoint(others)


def _what(names: Sequence[str], row: Row) -> list[int]:
    """The row's kind, and its call where the protocol has calls."""
    return [row[names.index(name)] for name in ("kind", "call") if name in names]


def _value(rows: Sequence[Row], place: int, own: int, draw: Random) -> int:
    other = draw.choice(rows)
    near = (own - 1, own + 1, other[place], draw.choice(rows)[place], other[place] + draw.choice((-1, 1)))
    return max(-_END, min(_END - 1, draw.choice((*near, *near, draw.choice(_EXTREMES), draw.choice(other)))))


def _parameter(trace: Trace, draw: Random) -> str:
    """A parameter as another labelled trace has it."""
    others = draw.choice(list(labelled(trace.header.protocol).values())).header.parameters
    free = [name for name in others if " " not in str(others[name]) and "\n" not in str(others[name])]
    if not free:
        return "renumber"
    name = draw.choice(free)
    value = others[name]
    if isinstance(value, int) and draw.random() < 0.3:
        value += draw.choice((-1, 1))
    return f"parameter {name} {value}"
