"""Turns one event of a user's file into a trace row, or refuses it with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, DecimalException
from typing import cast

from scatterproof.conformance.checks.rows import row_rules
from scatterproof.conformance.network.contract import MessageRecorder
from scatterproof.conformance.protocol import load
from scatterproof.spark.importing.quarantine import Flaw
from scatterproof.spark.mapping import ISO, UNITS
from scatterproof.spark.mapping import Mapping as UserMapping
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.trace import ABSENT, Domain, Header, Kind, Row, digest_of, schema

Raw = str | int | float | bool | None
Event = Mapping[str, Raw]

_PLACES = ("kind", "node", "link")
_TIMES = ("time_ns", "clock_ns")
_AT_LINKS = (Kind.SENT, Kind.ARRIVED, Kind.LOST)
# Failures change what is expected of all that a node does.
_FAILURES = (Kind.CRASHED, Kind.RESTARTED, Kind.PAUSED, Kind.RESUMED)
# The host that submits, begins or delivers a message is one end of it, whether the event says so or not.
_OWN_END = {"sender": (Kind.SUBMITTED, Kind.BEGUN), "receiver": (Kind.DELIVERED,)}
_CODED = (Domain.PACKET, Domain.CALL, Domain.OUTCOME)
_SECOND_NS = UNITS["s"]


class _Refused(Exception):
    """Its arguments: the reason, and the same without values."""


class Rows:
    """Makes the rows of one run. Where the source lacks them, it counts what a recorder counts: the packets on a link
    as they are sent, and messages as they are submitted."""

    def __init__(self, mapping: UserMapping, header: Header, *, clock_is_time: bool = False) -> None:
        """clock_is_time: a row without clock_ns has its time there, as nodes write their logs by their own clocks."""
        names, topology = schema(header.protocol), header.topology
        self._mapping = mapping
        self._columns = names.columns
        self._kind_names = {code: name for name, code in names.kinds.items()}
        self._codes = {domain: frozenset(names.codes(domain).values()) for domain in _CODED}
        self._words = {
            Domain.PACKET: mapping.packets,
            Domain.CALL: mapping.calls,
            Domain.OUTCOME: mapping.outcomes,
        }
        self._clock_is_time = clock_is_time
        self._nodes = len(topology.nodes)
        self._names = {node.name: number for number, node in enumerate(topology.nodes)} | mapping.nodes
        self._ends = [(link.source, link.target) for link in topology.links]
        self._links = {ends: link for link, ends in enumerate(self._ends)}
        self._ends_of = [column for column in names.naming(Domain.NODE) if column != "node"]
        self._coded = {column: names.domains[column] for column in names.naming(*_CODED)}
        self._own = [column for column in names.columns if column not in (*self._ends_of, *_PLACES, *self._coded)]
        self._rules = row_rules(header.protocol, topology)
        self._sent: dict[LinkId, int] = defaultdict(int)
        self._called: dict[NodeId, int] = defaultdict(int)
        self._recorder = load(header.protocol).recorder()
        self._tail_at = names.index("sender")
        self._ended = False

    def index(self, column: str) -> int:
        return self._columns.index(column)

    def make(self, event: Event, node: NodeId | None = None) -> Row | Flaw:
        """The event as a row, or why it is none. node: where it happened, for an event that does not say so itself."""
        given = {**self._mapping.constants, **{name: value for name, value in event.items() if value not in (None, "")}}
        kind: int | None = None
        try:
            node = self._node(given, "node") if "node" in given else node
            kind = self._kind(given)
            if self._ended:
                raise _Refused("it comes after the row 'ended'")
            return self._row(given, node, kind)
        except _Refused as refused:
            reason, *short = refused.args
            known = None if kind is None or kind in _FAILURES else self._kind_names[kind]
            return Flaw(reason, node if kind != Kind.ENDED else None, known, short[0] if short else reason)

    def _row(self, given: Mapping[str, Raw], node: NodeId | None, kind: int) -> Row:
        ended = kind == Kind.ENDED
        if node is None and not ended:
            raise _Refused("it does not say at which node it happened")
        if "time_ns" not in given:
            raise _Refused("it has no time_ns")
        row = dict.fromkeys(self._columns, ABSENT)
        row["kind"], row["node"] = int(kind), ABSENT if node is None else node
        for column in self._own:
            if column in given:
                row[column] = self._number(column, given[column])
        for column in self._ends_of:
            if column in given:
                row[column] = self._node(given, column)
            elif kind in _OWN_END.get(column, ()):
                row[column] = row["node"]
        for column, domain in self._coded.items():
            if column in given:
                row[column] = self._code(column, domain, given[column])
        row["link"] = self._link(given, row["node"], kind)
        if "payload" in given:
            row["digest"] = digest_of(str(given["payload"]).encode("utf-8", "surrogateescape"))
        if self._clock_is_time and "clock_ns" not in given and not ended:
            row["clock_ns"] = row["time_ns"]
        flaw = self._rules.flaw(tuple(row.values()))
        if flaw is not None:
            raise _Refused(f"it has {flaw}", "it names what is not there")
        self._count(given, row, kind)
        self._ended = ended
        return tuple(row[column] for column in self._columns)

    def _count(self, given: Mapping[str, Raw], row: dict[str, int], kind: int) -> None:
        """Fill in what a recorder counts."""
        link = row["link"]
        if kind == Kind.SENT:
            if "link_seq" not in given:
                row["link_seq"] = self._sent[link]
            self._sent[link] = row["link_seq"] + 1
        elif kind == Kind.CALLED and "operation" not in given:
            self._called[row["node"]] += 1
            row["operation"] = self._called[row["node"]]
        elif kind == Kind.RETURNED and "operation" not in given:
            row["operation"] = self._called[row["node"]]
        elif kind == Kind.SUBMITTED and "number" not in given:
            digest = row["digest"]
            tail = cast("MessageRecorder", self._recorder).submission(row["node"], [(row["receiver"], b"")])[0]
            row |= dict(zip(self._columns[self._tail_at :], tail, strict=True))
            row["digest"] = digest

    def _kind(self, given: Mapping[str, Raw]) -> int:
        word = given.get("kind")
        code = self._mapping.kinds.get(str(word))
        if code is None and str(word).isdecimal():
            code = int(str(word))
        if code not in self._kind_names:
            raise _Refused(f"kind is {word!r}; the kinds are {', '.join(self._kind_names.values())}", "unknown kind")
        return code

    def _code(self, column: str, domain: Domain, value: Raw) -> int:
        words = self._words[domain]
        code = words.get(str(value))
        if code is None:
            code = self._number(column, value)
        if code not in (ABSENT, *self._codes[domain]):
            raise _Refused(f"{column} is {value!r}; the {domain}s are {', '.join(words)}", f"unknown {domain}")
        return code

    def _node(self, given: Mapping[str, Raw], column: str) -> NodeId:
        value = given[column]
        found = self._names.get(str(value))
        if found is None:
            try:
                found = int(str(value))
            except ValueError:
                raise _Refused(f"{column} is {value!r}, which names no node", f"{column} names no node") from None
        least = 0 if column == "node" else ABSENT
        if column == "node" and found == ABSENT and str(given.get("kind")) in ("ended", str(int(Kind.ENDED))):
            return found
        if not least <= found < self._nodes:
            raise _Refused(f"{column} is {found}; nodes are 0 to {self._nodes - 1}", f"{column} is no node")
        return found

    def _link(self, given: Mapping[str, Raw], node: NodeId, kind: int) -> LinkId:
        link = ABSENT
        value = given.get("link")
        if "to" in given or "from" in given:
            source = self._node(given, "from") if "from" in given else node
            target = self._node(given, "to") if "to" in given else node
            link = self._between(source, target)
        elif isinstance(value, str) and "->" in value:
            source, target = (self._node({"link": end.strip()}, "link") for end in value.split("->", 1))
            link = self._between(source, target)
        elif value is not None:
            link = self._number("link", value)
        if kind in _AT_LINKS:
            if not 0 <= link < len(self._ends):
                raise _Refused(f"link is {link}; links are 0 to {len(self._ends) - 1}", "no link, or an unknown one")
            end, what = (1, "ingress") if kind == Kind.ARRIVED else (0, "egress")
            if self._ends[link][end] != node:
                raise _Refused(f"link {link} is no {what} link of its node", f"the link is no {what} link of its node")
        return link

    def _between(self, source: NodeId, target: NodeId) -> LinkId:
        link = self._links.get((source, target))
        if link is None:
            raise _Refused(f"there is no link from node {source} to node {target}", "no such link")
        return link

    def _number(self, column: str, value: Raw) -> int:
        unit = self._mapping.units.get(column)
        try:
            if unit == ISO:
                number = _nanoseconds(str(value))
            elif unit is not None:
                number = int(Decimal(str(value)) * UNITS[unit])
            elif isinstance(value, float):
                raise ValueError
            else:
                number = int(value) if isinstance(value, int) else int(str(value), 0)
        except (ValueError, DecimalException, OverflowError):
            raise _Refused(f"{column} is {value!r}; give a whole number", f"{column} is no number") from None
        if isinstance(value, bool) or not -(1 << 63) <= number < 1 << 63:
            raise _Refused(f"{column} is {value!r}; give a whole number of 64 bits", f"{column} is no number")
        return number


def _nanoseconds(text: str) -> int:
    """Since 1970, of an ISO 8601 time with up to nine digits behind the second; UTC where it names no zone."""
    head, dot, rest = text.strip().replace(",", ".").partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))] if dot else ""
    moment = datetime.fromisoformat(head + rest[len(digits) :])
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    fraction = int(digits[:9].ljust(9, "0")) if digits else 0
    return (since.days * 86_400 + since.seconds) * _SECOND_NS + fraction
